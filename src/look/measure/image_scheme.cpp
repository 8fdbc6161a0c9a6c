#include "look/measure/image_news.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "knowledge/facts/images.hpp"

namespace cudamatrix::measure {
namespace {

using Tags = std::vector<std::string>;
using ReleaseOfTag = std::optional<std::string>;

bool is_version_of_two(std::string_view text) {
    const auto version = Version::parse(text);
    return version && version->size() == 2 && version->suffix().empty() && version->text() == text;
}

// nvidia/cuda: 13.0.2-cudnn-devel-ubuntu24.04.

ReleaseOfTag cuda_release(std::string_view tag, const Facts&) {
    const auto parts = lookup::cuda_tag(tag);
    return parts ? ReleaseOfTag(parts->cuda) : std::nullopt;
}

Tags cuda_tags(const Row& row) {
    Tags out;
    if (row.text("status") == "deleted") return out;
    for (const auto os : row.list("os")) {
        for (const auto flavour : row.list("flavours"))
            out.push_back(
                lookup::CudaTag{std::string(row.text("cuda")), std::string(flavour), std::string(os)}.text());
    }
    return out;
}

// The image that was built last on top of the others tells most: with cuDNN, then devel.
bool says_more(const lookup::CudaTag& a, const lookup::CudaTag& b) {
    const auto weight = [](const lookup::CudaTag& tag) {
        return std::pair(tag.has_cudnn(), tag.kind() == "devel");
    };
    return weight(a) > weight(b);
}

// Distributions of which there are the same flavours are one row.
std::vector<ImageGroup> cuda_groups(const std::string& release, const Tags& tags) {
    std::map<std::string, std::vector<lookup::CudaTag>> by_os;
    for (const auto& tag : tags) {
        const auto parts = *lookup::cuda_tag(tag);
        by_os[parts.os].push_back(parts);
    }
    std::vector<std::pair<std::set<std::string>, ImageGroup>> made;
    for (const auto& [os, images] : by_os) {
        std::set<std::string> flavours;
        for (const auto& image : images)
            flavours.insert(image.flavour);
        auto group = std::ranges::find_if(made, [&](const auto& each) { return each.first == flavours; });
        if (group == made.end()) {
            const auto best = std::ranges::max_element(
                images, [](const auto& a, const auto& b) { return says_more(b, a); });
            made.push_back({flavours, {release, {}, best->text()}});
            group = std::prev(made.end());
        }
        for (const auto& image : images)
            group->second.tags.push_back(image.text());
    }
    std::vector<ImageGroup> out;
    for (auto& each : made)
        out.push_back(std::move(each.second));
    return out;
}

// pytorch/pytorch: 2.6.0-cuda12.4-cudnn9-devel.

ReleaseOfTag pytorch_release(std::string_view tag, const Facts&) {
    const auto parts = lookup::pytorch_tag(tag);
    return parts ? ReleaseOfTag(parts->release()) : std::nullopt;
}

Tags pytorch_tags(const Row& row) {
    Tags out;
    if (row.text("exists") != "true") return out;
    for (const auto cuda : row.list("cuda")) {
        for (const auto flavour : row.list("flavours"))
            out.push_back(lookup::pytorch_tag_of(row, cuda, flavour).text());
    }
    return out;
}

// Versions of CUDA of which there are the same flavours, with the same cuDNN, are one row.
std::vector<ImageGroup> pytorch_groups(const std::string& release, const Tags& tags) {
    std::map<std::string, std::pair<std::string, Tags>> by_cuda;  // flavours and cuDNN; tags
    for (const auto& tag : tags) {
        const auto parts = *lookup::pytorch_tag(tag);
        auto& [same, list] = by_cuda[parts.cuda];
        same += parts.cudnn + " " + parts.flavour + " ";
        list.push_back(tag);
    }
    std::map<std::string, ImageGroup> made;
    for (auto& [cuda, each] : by_cuda) {
        auto& group = made[each.first];
        group.release = release;
        group.tags.insert(group.tags.end(), each.second.begin(), each.second.end());
        group.read = group.tags.back();
    }
    // The one with the oldest CUDA comes first, whatever its flavours.
    std::vector<ImageGroup> out;
    for (auto& each : made)
        out.push_back(std::move(each.second));
    std::ranges::sort(out, [](const auto& a, const auto& b) { return a.tags.front() < b.tags.front(); });
    for (auto& group : out)
        group.first = &group == &out.front();
    return out;
}

// nvcr.io/nvidia/pytorch: 26.09-py3. library/python: 3.13-slim-trixie. Each tag is a row.

ReleaseOfTag ngc_release(std::string_view tag, const Facts&) {
    constexpr std::string_view ending = "-py3";
    if (!tag.ends_with(ending)) return std::nullopt;
    const auto month = tag.substr(0, tag.size() - ending.size());
    return is_version_of_two(month) && month.size() == 5 ? ReleaseOfTag(tag) : std::nullopt;
}

ReleaseOfTag python_release(std::string_view tag, const Facts& facts) {
    const auto parts = python_tag(tag);
    if (!parts) return std::nullopt;
    const auto systems = lookup::rows_with(facts, "operating_systems", "codename", parts->codename);
    return systems.empty() ? std::nullopt : ReleaseOfTag(tag);
}

Tags one_tag(const Row& row) {
    return {std::string(row.text("tag"))};
}

std::vector<ImageGroup> one_group(const std::string& release, const Tags& tags) {
    return {{release, tags, tags.front()}};
}

constexpr ImageScheme kSchemes[] = {
    {"cuda", "cuda_images", cuda_release, cuda_tags, cuda_groups},
    {"ngc", "ngc_images", ngc_release, one_tag, one_group},
    {"python", "python_images", python_release, one_tag, one_group},
    {"pytorch", "pytorch_images", pytorch_release, pytorch_tags, pytorch_groups},
};

}  // namespace

const ImageScheme* image_scheme(std::string_view name) {
    const auto found = std::find_if(std::begin(kSchemes), std::end(kSchemes),
                                    [&](const ImageScheme& scheme) { return scheme.name == name; });
    return found == std::end(kSchemes) ? nullptr : &*found;
}

std::optional<Version> image_version(std::string_view release) {
    return Version::parse(release.substr(0, release.find('-')));
}

std::optional<PythonTag> python_tag(std::string_view tag) {
    const auto parts = text::split(tag, '-');
    if (parts.size() != 3 || parts[1] != "slim" || !is_version_of_two(parts[0])) return std::nullopt;
    return PythonTag{parts[0], parts[2]};
}

}  // namespace cudamatrix::measure
