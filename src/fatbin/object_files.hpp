// The files around device code: ELF files and static libraries (ar).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/mapped_file.hpp"

namespace cudamatrix::fatbin {

struct ElfSection {
    std::string_view name;  ///< points into the file; cut at the section's end when unterminated
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    Bytes bytes;  ///< empty for a section without bytes in the file
};

/// The section table of a 64-bit little-endian ELF file. `error` is empty when the whole table could be read.
struct ElfFile {
    std::uint16_t machine = 0;
    std::uint8_t os_abi = 0;
    std::uint32_t flags = 0;
    std::vector<ElfSection> sections;
    std::string error;
};

inline constexpr std::uint16_t kElfMachineCuda = 190;

[[nodiscard]] bool looks_like_elf(Bytes file);
[[nodiscard]] ElfFile read_elf(Bytes file);

/// Is there a section with instructions in it? In a cubin every kernel has one, the empty cubins that nvcc
/// adds have none. Reads the section table only and allocates nothing; false for a file that is damaged.
[[nodiscard]] bool has_instructions(Bytes file);

/// Names of the functions that the file defines (symbol table, type FUNC, in some section).
/// In a cubin these are its kernels and device functions. Views into `file`'s bytes.
[[nodiscard]] std::vector<std::string_view> defined_functions(const ElfFile& file);

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
