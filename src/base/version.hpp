// Versions as people write them: "470.161.03", "2.6.0+cu124", "3.13t".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix {

class Version {
  public:
    /// Up to four numeric components, then an optional suffix that starts with a letter, '-', '+' or '_' and
    /// is kept but not compared ("+cu124", "t", "a"). Nothing else is a version: nullopt.
    [[nodiscard]] static std::optional<Version> parse(std::string_view text);

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::string& suffix() const { return suffix_; }
    [[nodiscard]] std::size_t size() const { return parts_.size(); }
    /// The component at `index`, 0 where the text has none.
    [[nodiscard]] std::uint32_t part(std::size_t index) const {
        return index < parts_.size() ? parts_[index] : 0;
    }
    [[nodiscard]] std::uint32_t major() const { return part(0); }
    [[nodiscard]] std::uint32_t minor() const { return part(1); }
    /// "12.4" of "12.4.1".
    [[nodiscard]] std::string major_minor() const;
    /// Every component that this version writes equals the other's: "12.4" covers "12.4.1". A nightly build
    /// is covered by what is not newer than it: 2 covers one of 2.9.0, 2.9 and 2.9.0 do not.
    [[nodiscard]] bool covers(const Version& other) const;

    /// This release as a nightly build on the way to it, of a day as 20250812: older than the release, newer
    /// than those before it.
    [[nodiscard]] Version nightly(std::uint32_t day) const;
    [[nodiscard]] bool is_nightly() const { return day_ != 0; }

    /// Numeric comparison; missing components are 0, so that 12.4 == 12.4.0; suffixes are ignored. Nightly
    /// builds of one release compare by their days.
    friend std::strong_ordering operator<=>(const Version& a, const Version& b);
    friend bool operator==(const Version& a, const Version& b) { return std::is_eq(a <=> b); }

  private:
    std::string text_;
    std::string suffix_;
    std::vector<std::uint32_t> parts_;
    std::uint32_t day_ = 0;  ///< of a nightly build
};

}  // namespace cudamatrix
