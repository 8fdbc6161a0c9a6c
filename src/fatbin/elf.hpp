#pragma once

#include <cstdint>
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

}  // namespace cudamatrix::fatbin
