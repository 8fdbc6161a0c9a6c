// Scans a wheel where it lies on a Python package index.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "look/scan/local.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::scan {

/// "torch==2.6.0+cu118": one version of a project.
struct Requirement {
    std::string project;
    std::string version;
};
/// Nothing for what is not written like that.
[[nodiscard]] std::optional<Requirement> parse_requirement(const std::string& text);

/// Which of a version's files.
struct WheelChoice {
    std::string python;  ///< "3.12"; empty: the newest that there is
    std::string arch = "x86_64";
};

/// The Linux wheel of that version. Without a local version ("+cu118") the one without is taken. Input
/// failures say which versions, pythons or architectures there are instead.
[[nodiscard]] Result<IndexFile> choose_wheel(const std::vector<IndexFile>& files, const Requirement& wanted,
                                             const WheelChoice& choice);

/// Reads the whole wheel once over range requests, and compares its sha256 where the index gives one.
[[nodiscard]] Result<Scan> scan_index_wheel(HttpConnection& connection, const std::string& index,
                                            const Requirement& wanted, const WheelChoice& choice,
                                            const Options& options);

}  // namespace cudamatrix::scan
