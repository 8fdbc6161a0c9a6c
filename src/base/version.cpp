#include "base/version.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace cudamatrix {

std::optional<Version> Version::parse(std::string_view text) {
    constexpr std::size_t longest = 32;
    if (text.empty() || text.size() > longest) return std::nullopt;
    Version version;
    version.text_ = text;
    const char* at = text.data();
    const char* end = at + text.size();
    for (;;) {
        std::uint32_t number = 0;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || version.parts_.size() == 4) return std::nullopt;
        version.parts_.push_back(number);
        at = next;
        if (at == end || *at != '.') break;
        ++at;
    }
    version.suffix_.assign(at, end);
    if (!version.suffix_.empty()) {
        const auto allowed = [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                   c == '-' || c == '+' || c == '_';
        };
        if (version.suffix_.front() == '.' ||
            !std::all_of(version.suffix_.begin(), version.suffix_.end(), allowed)) {
            return std::nullopt;
        }
    }
    return version;
}

std::string Version::major_minor() const {
    return std::to_string(major()) + "." + std::to_string(minor());
}

bool Version::covers(const Version& other) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (i >= other.parts_.size() || parts_[i] != other.parts_[i]) return false;
    }
    if (is_nightly()) return day_ == other.day_;
    return !other.is_nightly() || *this < other;
}

Version Version::nightly(std::uint32_t day) const {
    auto out = *this;
    out.day_ = day;
    return out;
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        if (const auto order = a.part(i) <=> b.part(i); std::is_neq(order)) return order;
    }
    // A release is newer than all its nightly builds.
    const auto day = [](const Version& each) {
        return each.is_nightly() ? each.day_ : std::numeric_limits<std::uint32_t>::max();
    };
    return day(a) <=> day(b);
}

}  // namespace cudamatrix
