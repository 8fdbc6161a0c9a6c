// Texts that know where they come from (private to advise/sources).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/sources/sources.hpp"

namespace cudamatrix::sources {

/// A file with its lines.
class FileText {
  public:
    FileText(std::string_view text, std::string_view path);

    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    /// The place of the byte at `offset`; what is longer than its line ends with it.
    [[nodiscard]] Location at(std::size_t offset, std::size_t length = 1) const;
    /// The byte of a place of this file.
    [[nodiscard]] std::size_t offset(const Location& where) const;

  private:
    std::string_view text_;
    std::string path_;
    std::vector<std::size_t> starts_;
};

/// Some bytes of a file, lines joined: byte i of `text` stood at `at[i]`.
struct Script {
    std::string text;
    std::vector<std::uint32_t> at;

    void add(char c, std::size_t offset) {
        text.push_back(c);
        at.push_back(static_cast<std::uint32_t>(offset));
    }
    [[nodiscard]] std::size_t offset(std::size_t index) const;
    [[nodiscard]] Script from(std::size_t index) const;
};

/// The value of a variable; nothing: nobody knows it before the build.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Replaces the variable that starts with the '$' at `index` and moves `index` behind it: $V, ${V}, ${V:-x},
/// ${V:+x}, ${V%.*}, ${V##*.}, ${V/a/b}, ${V//./}, ${V:0:4}, ${V,,}. What is unknown becomes kOpen. $(...)
/// too, but for the few programs whose output is known (uname -m, echo with cut, tr).
[[nodiscard]] std::string expanded_at(std::string_view text, std::size_t& index, const Lookup& lookup);

/// Replaces every variable outside of single quotes, and takes the quotes away: a word of FROM, ARG or ENV.
[[nodiscard]] std::string expanded(std::string_view text, const Lookup& lookup, char escape = '\\');

/// What stands behind the last slash.
[[nodiscard]] std::string_view file_name(std::string_view path);

/// Values longer than this are open: the work of patterns grows with their square.
inline constexpr std::size_t kLongestValue = 512;

}  // namespace cudamatrix::sources
