#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fatbin/mapped_file.hpp"

namespace cudamatrix::fatbin {

inline constexpr std::uint64_t kArMagicSize = 8;
inline constexpr std::uint64_t kArHeaderSize = 60;

/// Begins like a static library (`ar`), thin or not.
[[nodiscard]] bool looks_like_archive(Bytes file);
/// A thin one names its members' files and holds none of their bytes.
[[nodiscard]] bool is_thin_archive(Bytes file);

/// The header of one member; no value when it is none (its two end bytes or its size are wrong).
struct ArHeader {
    std::string_view name;   ///< as it stands there, without trailing blanks: "a.o/", "/12", "//", "#1/20"
    std::uint64_t size = 0;  ///< of the member; an odd one is followed by a byte of padding
};
[[nodiscard]] std::optional<ArHeader> read_ar_header(Bytes header);

/// A table of the archive itself (symbols, long names) and not a member.
[[nodiscard]] bool is_ar_table(std::string_view name);

/// Calls `visit` with name and bytes of every member, GNU and BSD long names resolved, until it returns
/// false. Returns what is wrong with the archive, empty when nothing is. Views point into `file`.
[[nodiscard]] std::string for_each_member(
    Bytes file, const std::function<bool(std::string_view name, Bytes bytes)>& visit);

}  // namespace cudamatrix::fatbin
