#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fatbin/reader.hpp"

/// One container of device code, header by header (for the readers of files and of streams).
namespace cudamatrix::fatbin {

inline constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
inline constexpr std::uint16_t kRawSass = 2;  // Entry::raw_kind
inline constexpr std::uint64_t kContainerHeader = 16;
inline constexpr std::uint64_t kEntryHeader = 64;  // shortest one seen; longer ones append fields

/// The sizes in the header of a container; no value when its magic number, version or header size is wrong.
struct ContainerHeader {
    std::uint64_t header_size = 0;
    std::uint64_t body_size = 0;
};
[[nodiscard]] std::optional<ContainerHeader> read_container_header(Bytes header);

/// The sizes in the header of an entry, and what it says of the code: all of Entry but its place and bytes.
struct EntryHeader {
    std::uint32_t header_size = 0;
    Entry entry;
};
[[nodiscard]] EntryHeader read_entry_header(Bytes header);

/// Appends the entries of the container at `at` of `bytes`, which begins at `base` of the file, and gives the
/// place behind it; no value and contents.error when it is damaged (the entries before the fault are kept).
[[nodiscard]] std::optional<std::uint64_t> read_container(Bytes bytes, std::uint64_t at, std::uint64_t base,
                                                          std::string_view section, Contents& contents);

/// Appends all containers of a section: they follow each other on 8-byte boundaries, zeros between them are
/// padding. `base` is where `bytes` begins in the file.
void read_section(Bytes bytes, std::uint64_t base, std::string_view section, Contents& contents);

/// "0x1f".
[[nodiscard]] std::string hex(std::uint64_t value);

}  // namespace cudamatrix::fatbin
