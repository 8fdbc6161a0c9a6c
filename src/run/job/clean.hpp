// Sweeps what an engine still holds of ours, by the labels that it carries.
#pragma once

#include <filesystem>
#include <string>

#include "base/process.hpp"
#include "base/result.hpp"
#include "report/run_reports.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix::job {

struct CleanSettings {
    engine::Choice engine;
    std::filesystem::path out;  ///< only what was run and built for this output folder; empty: for any
    bool images = false;        ///< images as well as containers
    bool dry_run = false;       ///< only say what would go
    Environment environment;
    const Cancellation* cancellation = nullptr;
};

/// Removes containers with our label, whether they run or not, and images with our label: those whose names
/// are ours, and (for any folder) those that have lost their name to a newer build. An image that somebody
/// gave another name, or made from one of ours, keeps it. Input failures: an engine without containers, an
/// `out` that is no output folder; an environment failure: another cudamatrix at work in `out`.
[[nodiscard]] Result<CleanReport> clean(const CleanSettings& settings);

/// The value of engine::kFolderLabel for an output folder: tells folders apart and shows no path.
[[nodiscard]] std::string folder_mark(const std::filesystem::path& out);

}  // namespace cudamatrix::job
