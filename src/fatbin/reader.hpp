#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/arch.hpp"
#include "fatbin/mapped_file.hpp"

/// Reads what device code a file carries, without decompressing anything and without trusting any size in it.
/// The container layout is not documented by NVIDIA; it was read off files written by nvcc 11.2, 11.8, 12.4
/// and 13.0 (see kernels/RESULTS.md for how it is checked).
/// Limits: containers in .nv_fatbin and __nv_relfatbin only, unless read_deep() is asked to search; what is
/// compressed is not looked into; a cubin that stands alone tells that it is of an "a" or "f" target only
/// when a ptxas of 12.4 ("a") or 13.0 wrote it.
namespace cudamatrix::fatbin {

enum class Kind {
    sass,   ///< machine code of one GPU (a cubin)
    ptx,    ///< the virtual instruction set, compiled by the driver when loaded
    lto,    ///< link-time intermediate code (nvcc -dlto): a linker makes code of it, no driver loads it
    other,  ///< anything else
};

/// The section of relocatable parts: what nvcc -rdc=true leaves of each object file, beside the code in
/// .nv_fatbin that nvlink made of all of them (fatbinary_section.h of the toolkit: "pre-linked").
inline constexpr std::string_view kRelocatableSection = "__nv_relfatbin";

struct Entry {
    Kind kind = Kind::other;
    std::uint16_t raw_kind = 0;  ///< the number in the file
    Arch arch;
    PtxIsa isa;                 ///< PTX only; {0, 0} otherwise
    std::uint64_t payload = 0;  ///< bytes in the file, padding included
    bool compressed = false;
    std::string_view section;   ///< ".nv_fatbin", "__nv_relfatbin"; "" for a bare fat binary or cubin
    std::size_t container = 0;  ///< index within the file, over all sections
    Bytes bytes;                ///< the payload
};

/// Entries, and containers, of one file; more are refused as hostile (the largest library seen has 50,000).
inline constexpr std::size_t kMostEntries = 1U << 20;

/// Where a container lies in the file, its header included.
struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// What was found. With a non-empty `error`, `entries` holds what stood before the fault.
struct Contents {
    std::vector<Entry> entries;
    std::size_t containers = 0;
    std::vector<Place> places;          ///< of every whole container
    std::size_t hidden = 0;             ///< how many of `containers`, its last ones, only read_deep() found
    std::size_t members = 0;            ///< of a static library
    std::size_t members_with_code = 0;  ///< of them, those with a container
    std::string error;
};

/// `file` is an ELF file, a static library (ar), a bare fat binary or a cubin; the result's views point into
/// it. A file of a kind that carries device code but has none is no error: `entries` is empty.
[[nodiscard]] Contents read(Bytes file);

/// The same, then every other byte of any kind of file is searched for containers: libraries keep some in
/// sections of their own (cuFFT in .ldata, cuBLASLt in .cask_resource), which `section` names. What only
/// looks like a container is passed over.
[[nodiscard]] Contents read_deep(Bytes file);

/// A file's contents together with the mapping that they point into.
struct FileContents {
    MappedFile file;
    Contents contents;  ///< contents.error also tells why the file could not be opened
};
[[nodiscard]] FileContents read_file(const std::string& path);

/// Names of the functions in a SASS entry; empty when it is compressed, holds none or is damaged.
[[nodiscard]] std::vector<std::string_view> functions(const Entry& entry);

/// Entries of the containers with a function whose name begins with `prefix` in one of their cubins: those
/// that nvcc and libraries add say nothing about our kernels. Compressed cubins cannot be looked into.
[[nodiscard]] std::vector<Entry> entries_with_kernels(const Contents& contents, std::string_view prefix);

/// For each container: does it hold instructions, or cubins that cannot be looked into because they are
/// compressed, or no cubin (PTX only)?
[[nodiscard]] std::vector<bool> containers_with_code(const Contents& contents);

/// Entries of those containers: what a library whose kernel names are unknown can run.
[[nodiscard]] std::vector<Entry> entries_with_code(const Contents& contents);

/// "sass 7.5", "sass 9.0a", "ptx 9.0@8.4", "lto 9.0", "other 0x10 9.0". Sorted and without duplicates: the
/// form in reports.
[[nodiscard]] std::vector<std::string> summary(const std::vector<Entry>& entries);

}  // namespace cudamatrix::fatbin
