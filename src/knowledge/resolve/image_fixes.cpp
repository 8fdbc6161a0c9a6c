#include "knowledge/resolve/image_fixes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

using Distance = std::array<std::int64_t, 6>;

std::int64_t number(std::string_view text) {
    const auto version = Version::parse(text);
    return version ? version->major() * 10000 + version->minor() * 100 + version->part(2) : 0;
}

// 0 for the same, little for another release of a distribution, much for another distribution.
std::int64_t os_distance(std::string_view a, std::string_view b) {
    if (a.empty() || a == b) return 0;
    constexpr std::string_view digits = "0123456789";
    const auto name_a = a.substr(0, a.find_first_of(digits)), name_b = b.substr(0, b.find_first_of(digits));
    if (name_a != name_b) return 1000000000;
    return 1 + std::abs(number(a.substr(name_a.size())) - number(b.substr(name_b.size())));
}

struct Candidate {
    CudaTag tag;
    std::int64_t eol, minor, kind, cudnn, os, version;
    [[nodiscard]] Distance on_line() const { return {minor, kind, cudnn, os, eol, version}; }
    [[nodiscard]] Distance on_os() const { return {os, kind, cudnn, eol, minor, version}; }
};

Candidate candidate(const CudaTag& wanted, const Row& row, CudaTag tag) {
    const auto a = number(wanted.cuda), b = number(tag.cuda);
    const bool free_version = wanted.cuda.empty();
    Candidate out{std::move(tag), row.text("status") == "eol", 0, 0, 0, 0, 0};
    out.minor = free_version ? -b : std::abs(a / 100 - b / 100);
    out.version = free_version ? 0 : std::abs(a - b) * 2 + (b < a);
    out.kind = !wanted.flavour.empty() && wanted.kind() != out.tag.kind();
    out.cudnn = wanted.has_cudnn() != out.tag.has_cudnn();
    if (out.tag.flavour.starts_with("tensorrt")) out.cudnn = 2;
    out.os = os_distance(wanted.os, out.tag.os);
    return out;
}

std::vector<Candidate> candidates(const Facts& facts, const CudaTag& wanted) {
    std::vector<Candidate> out;
    for (const auto& row : facts.rows("cuda_images")) {
        if (row.text("status") == "deleted") continue;
        for (const auto os : row.list("os")) {
            for (const auto flavour : row.list("flavours")) {
                CudaTag tag{std::string(row.text("cuda")), std::string(flavour), std::string(os)};
                if (tag.text() != wanted.text()) out.push_back(candidate(wanted, row, std::move(tag)));
            }
        }
    }
    return out;
}

}  // namespace

std::vector<CudaTag> nearest_cuda_tags(const Facts& facts, const CudaTag& wanted) {
    const auto all = candidates(facts, wanted);
    std::vector<CudaTag> out;
    for (const auto distance : {&Candidate::on_line, &Candidate::on_os}) {
        // There are more tags than the wanted one.
        const auto best = std::min_element(
            all.begin(), all.end(),
            [&](const Candidate& a, const Candidate& b) { return (a.*distance)() < (b.*distance)(); });
        if (out.empty() || out.front().text() != best->tag.text()) out.push_back(best->tag);
    }
    return out;
}

FixOption set_to_tag(const CudaImage& image, const CudaTag& tag) {
    if (image.by_reference) return set_to(Field::image, fmt::format("{}:{}", image.name, tag.text()));
    FixOption out;
    const auto add = [&](Field field, std::string value) {
        out.text += fmt::format("{}{} {}", out.text.empty() ? "" : " with ", info(field).name, value);
        out.set.emplace_back(field, std::move(value));
    };
    if (tag.cuda != image.tag.cuda) add(Field::cuda, tag.cuda);
    if (tag.os != image.tag.os) add(Field::os, tag.os);
    if (!image.tag.flavour.empty() && tag.kind() != image.tag.kind())
        add(Field::flavour, std::string(tag.kind()));
    return out;
}

std::vector<FixOption> nearest_cuda_images(const Facts& facts, const CudaImage& image) {
    std::vector<FixOption> out;
    for (const auto& tag : nearest_cuda_tags(facts, image.tag)) {
        auto option = set_to_tag(image, tag);
        if (!option.set.empty()) out.push_back(std::move(option));
    }
    return out;
}

}  // namespace cudamatrix::rules
