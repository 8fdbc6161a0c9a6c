// What GPU code one file holds: the sum over its containers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fatbin/cover.hpp"
#include "fatbin/reader.hpp"

namespace cudamatrix::scan {

/// All entries of one kind, architecture and PTX ISA.
struct Target {
    fatbin::Kind kind = fatbin::Kind::other;
    std::uint16_t raw_kind = 0;  ///< the number in the file
    fatbin::Arch arch;
    fatbin::PtxIsa isa;   ///< PTX only
    bool kernels = true;  ///< false: in containers without kernels, which are never a code path
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;       ///< of code as it lies in the file
    std::uint64_t compressed = 0;  ///< how many of the entries are
};

struct Library {
    std::string path;  ///< below its target, as the file system or the archive has it: hostile bytes and all
    std::uint64_t size = 0;  ///< of the file
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;  ///< of device code as it lies in the file
    std::uint64_t containers = 0;
    std::uint64_t containers_without_kernels = 0;
    std::uint64_t hidden_containers = 0;  ///< outside of .nv_fatbin and __nv_relfatbin
    std::uint64_t members = 0;            ///< of a static library
    std::uint64_t members_with_code = 0;
    std::vector<std::string> sections;  ///< ELF sections with containers, in the order of the file
    std::vector<Target> targets;        ///< SASS, PTX, link-time code, others; each by architecture
    fatbin::Offer offer;                ///< of it, what the driver can choose from
    bool searched = false;              ///< every byte, not only the usual sections
    std::string error;                  ///< what is wrong with the file; the rest is what stood before

    /// Architectures of one kind in containers with kernels, each once: "9.0a".
    [[nodiscard]] std::vector<std::string> architectures(fatbin::Kind kind) const;
    /// There are kernels, of whatever kind.
    [[nodiscard]] bool has_kernels() const;
};

/// Sums up. `with_code` tells for each container whether it holds kernels (fatbin::containers_with_code).
[[nodiscard]] Library summarise(std::string path, std::uint64_t size, const fatbin::Contents& contents,
                                const std::vector<bool>& with_code);

/// Adds what a member holds to the archive that it is in; the sum keeps path, size, members and error of
/// `into`.
void add(Library& into, const Library& member);

/// Where to look for containers.
struct Depth {
    bool everywhere = false;  ///< search every byte, in files of any kind
    /// Asked about a library that was read by its usual sections: true has every byte of it searched after
    /// all, before anybody says that it lacks something.
    std::function<bool(const Library&)> look_again = {};
};

/// Reads the file's bytes, which the caller holds.
[[nodiscard]] Library read_library(std::string path, fatbin::Bytes file, const Depth& depth);

/// Could a file that begins like this hold device code: ELF, static library or fat binary? Eight bytes are
/// enough.
[[nodiscard]] bool may_hold_code(fatbin::Bytes beginning);
inline constexpr std::size_t kSniffed = 8;

}  // namespace cudamatrix::scan
