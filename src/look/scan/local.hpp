// Scans what lies on this machine's disk: a file, or every file of a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "look/scan/library.hpp"

namespace cudamatrix::scan {

struct Options {
    Depth depth = {};
    const Cancellation* cancellation = nullptr;  ///< looked at between files
};

/// A file below a target that could not be read: permissions, I/O.
struct NotRead {
    std::string path;
    std::string why;
};

/// What one target holds. In a file there is one library; of what holds many files those with device code are
/// listed, and those that are damaged.
struct Scan {
    std::string target;              ///< as the user wrote it
    std::string kind;                ///< "file", "folder", "wheel", "image"
    std::vector<Library> libraries;  ///< by path
    std::vector<NotRead> not_read;
    std::uint64_t files = 0;              ///< looked at
    std::vector<std::string> notes = {};  ///< what else the user should know: "sha256 ... checked"
};

/// A file or a folder. Symbolic links below a folder are not followed: what they point to inside of it is
/// found by itself. Input failures: nothing is there, or it is a file that can hold no device code;
/// environment failures: it cannot be read.
[[nodiscard]] Result<Scan> scan_local(const std::string& path, const Options& options);

/// Is the library worth a line in the list of a folder, a wheel or an image?
[[nodiscard]] bool worth_listing(const Library& library);

}  // namespace cudamatrix::scan
