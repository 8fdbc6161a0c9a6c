#include "advise/upgrade/choices.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"

namespace cudamatrix::upgrade {

std::vector<Values> Choices::by_release(std::size_t u, std::size_t v, const Values& values) const {
    std::vector<Values> out;
    std::string last;
    for (const auto value : values) {
        auto release = fleet_.text(variable(u, v), value);
        release.resize(
            std::min(release.size(), release.find_first_of(about(u, v).field == Field::image ? "-" : "+")));
        if (out.empty() || release != last) out.emplace_back();
        out.back().push_back(value);
        last = std::move(release);
    }
    return out;
}

bool Choices::goes_with_toolkit(const Target& target) const {
    const auto minor = cuda_of_torch(target);
    bool goes = true;
    each_front(Field::cuda, [&](std::size_t u, std::size_t v) {
        const auto version = Version::parse(fleet_.text(variable(u, v), target[u][front(u)][v]));
        goes = goes && (!minor || !version || version->major_minor() == minor->major_minor());
    });
    return goes;
}

// The minor of the CUDA that a build of torch is made with.
std::optional<Version> Choices::cuda_of_build(std::string_view torch) const {
    const auto known = lookup::torch(fleet_.facts(), torch, "x86_64");
    if (!known || !known->wheel || !known->wheel->has("cuda")) return std::nullopt;
    return lookup::required_version(*known->wheel, "cuda");
}

std::vector<Target> Choices::steps_to(const Target& target, std::size_t u, std::size_t row, std::size_t v,
                                      std::uint32_t value) const {
    auto plain = fleet_.with(target, u, row, v, value);
    const auto minor =
        about(u, v).field == Field::torch ? cuda_of_build(fleet_.text(variable(u, v), value)) : std::nullopt;
    auto together = plain;
    if (minor) {
        each_front(Field::cuda, [&](std::size_t other, std::size_t at) {
            const auto at_row = other == u ? row : front(other);
            for (const auto cuda : toolkits_of(other, at, *minor)) {
                together = fleet_.with(together, other, at_row, at, cuda);
                return;
            }
        });
    }
    std::vector<Target> out;
    if (together != plain) out.push_back(std::move(together));
    out.push_back(std::move(plain));
    return out;
}

// Newer toolkits of that minor.
Values Choices::toolkits_of(std::size_t u, std::size_t v, const Version& minor) const {
    auto values = fleet_.newer(variable(u, v), original(u, front(u), v)).beyond;
    std::erase_if(values, [&](std::uint32_t value) {
        const auto version = Version::parse(fleet_.text(variable(u, v), value));
        return !version || version->major_minor() != minor.major_minor();
    });
    return values;
}

// Nothing where no torch of the target has a build for a CUDA.
std::optional<Version> Choices::cuda_of_torch(const Target& target) const {
    std::optional<Version> out;
    each_front(Field::torch, [&](std::size_t u, std::size_t v) {
        if (!out) out = cuda_of_build(fleet_.text(variable(u, v), target[u][front(u)][v]));
    });
    return out;
}

Values Choices::choices(const Target& target, std::size_t u, std::size_t v) const {
    const auto minor = about(u, v).field == Field::cuda ? cuda_of_torch(target) : std::nullopt;
    auto values =
        minor ? toolkits_of(u, v, *minor) : fleet_.newer(variable(u, v), original(u, front(u), v)).beyond;
    // What ends soon is taken only where all do.
    for (const auto& day : {fleet_.today(), horizon_}) {
        auto lasting = values;
        std::erase_if(lasting, [&](std::uint32_t value) { return has_ended(life(u, v, value), day); });
        if (!lasting.empty()) values = std::move(lasting);
    }
    if (is_of_host(u, v)) {
        std::erase_if(values, [&](std::uint32_t value) { return !outlives(u, v, value); });
        std::ranges::stable_sort(values, [&](std::uint32_t a, std::uint32_t b) {
            return life(u, v, a).ends > life(u, v, b).ends;
        });
    }
    return values;
}

// All rows of the axis; one whose end nobody knows outlives what has ended.
bool Choices::outlives(std::size_t u, std::size_t v, std::uint32_t value) const {
    const auto ends = life(u, v, value).ends;
    for (const auto& row : fleet_.units()[u].rows) {
        const auto other = life(u, v, row[v]);
        if (has_ended(other, fleet_.today())) continue;
        if (ends.empty() || other.ends.empty() || last_day_of(ends) <= last_day_of(other.ends)) return false;
    }
    return true;
}

}  // namespace cudamatrix::upgrade
