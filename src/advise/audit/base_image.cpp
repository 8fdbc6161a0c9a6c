#include <algorithm>
#include <array>

#include "advise/audit/parts.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"

namespace cudamatrix::audit {
namespace {

// Official images of distributions and what facts call the systems in them.
struct Distribution {
    std::string_view repository, os;
};
constexpr std::array kDistributions{Distribution{"docker.io/library/ubuntu", "ubuntu"},
                                    Distribution{"docker.io/library/debian", "debian"},
                                    Distribution{"docker.io/library/rockylinux", "rockylinux"},
                                    Distribution{"docker.io/rockylinux/rockylinux", "rockylinux"},
                                    Distribution{"docker.io/library/almalinux", "almalinux"},
                                    Distribution{"docker.io/library/centos", "centos"},
                                    Distribution{"docker.io/library/alpine", "alpine"},
                                    Distribution{"docker.io/library/fedora", "fedora"}};

std::string os_named(const Facts& facts, std::string_view text) {
    if (lookup::os(facts, text)) return std::string(text);
    return lookup::names_in(facts)(Field::os, text);
}

// "ubuntu22.04" of ubuntu and 22.04, jammy or jammy-20240111.
std::string os_of_tag(const Facts& facts, std::string_view name, std::string_view tag) {
    for (const auto part : {tag, tag.substr(0, tag.find('-')), tag.substr(0, tag.find('.'))}) {
        if (part.empty()) continue;
        for (const auto& text : {fmt::format("{}{}", name, part), std::string(part)}) {
            if (auto os = os_named(facts, text); os.starts_with(name)) return os;
        }
    }
    return {};
}

std::string minor_of(std::string_view tag) {
    const auto version = Version::parse(tag.substr(0, tag.find('-')));
    return version && version->size() >= 2 && version->suffix().empty() ? version->major_minor()
                                                                        : std::string();
}

}  // namespace

BaseImage base_image(std::string_view reference, const Facts& facts) {
    const auto image = lookup::image_reference(reference);
    const auto& repository = image.repository;
    BaseImage out;
    out.known = lookup::image_repository(facts, repository).has_value() ||
                lookup::other_image(facts, image).has_value();
    out.jetson =
        repository.find("/l4t-") != std::string::npos || repository.starts_with("docker.io/dustynv/");
    const auto name = std::string_view(repository).substr(repository.rfind('/') + 1);
    out.conda = name.find("conda") != std::string_view::npos || name.find("mamba") != std::string_view::npos;
    if (repository.ends_with("nvidia/cuda")) {
        out.cuda = true;
        if (const auto tag = lookup::cuda_tag(image.tag)) out.os = os_named(facts, tag->os);
    } else if (repository.ends_with("/pytorch/pytorch")) {
        out.cuda = out.conda = out.own_torch = true;
        if (const auto tag = lookup::pytorch_tag(image.tag)) out.torch = tag->release();
    } else if (repository.starts_with("nvcr.io/nvidia/")) {
        out.cuda = true;
        out.own_torch = repository == "nvcr.io/nvidia/pytorch";
    } else if (repository == "docker.io/library/python") {
        out.python = minor_of(image.tag);
        out.told = true;
        out.known = !lookup::rows_with(facts, "python_images", "tag", image.tag).empty();
        for (const auto& part : text::split(image.tag, '-')) {
            if (const auto os = os_named(facts, part); os.starts_with("debian") || os.starts_with("alpine"))
                out.os = os;
        }
    } else {
        for (const auto& [of, os] : kDistributions) {
            if (of != repository) continue;
            out.told = true;
            out.os = os_of_tag(facts, os, image.tag);
        }
    }
    return out;
}

}  // namespace cudamatrix::audit
