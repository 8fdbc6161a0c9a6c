// Inspects many wheels at once, and remembers what was seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "look/measure/rows.hpp"
#include "look/measure/wheel_info.hpp"

namespace cudamatrix::scan {
struct Scan;
}

namespace cudamatrix::measure {

/// What was seen in earlier runs, by sha256 of the wheel: a file of JSON lines to which each wheel adds one
/// at once, so that a run that is ended goes on where it was. A torn or foreign line is passed over.
class InspectionCache {
  public:
    /// Reads `path` where it is; a file that is no cache at all is an input failure.
    [[nodiscard]] static Result<std::unique_ptr<InspectionCache>> open(const std::filesystem::path& path);
    /// `torch`: only one that was looked into as torch.
    [[nodiscard]] std::optional<WheelInfo> recall(const std::string& sha256, bool torch) const;
    [[nodiscard]] Status add(const WheelInfo& info);

  private:
    explicit InspectionCache(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
    mutable std::mutex mutex_;
    std::map<std::string, WheelInfo> wheels_;
};

struct Task {
    std::string package;  ///< "torch" is looked into as such where `torch`
    bool torch = false;
    Release release;
    bool held = false;      ///< its libraries are read, too, where it was built with CUDA
    bool compiler = false;  ///< a wheel of NVIDIA's compiler, asked what it takes
    std::optional<std::filesystem::path> workshop =
        {};  ///< of a compiler: the folder in which its ptxas may be run
    /// With `held` only the libraries of these names, and no byte of the rest of the wheel; empty: all of it.
    std::set<std::string, std::less<>> libraries = {};
};

/// The rows that a wheel of torch or of a package gives. `default_index`: it is torch of the default index.
/// `other_libraries`: learns paths of libraries with code that no row knows by name; nullptr: no rows of
/// libraries. Failure: what no row can hold.
[[nodiscard]] Result<std::vector<MeasuredRow>> rows_of(const Task& task, const WheelInfo& info,
                                                       bool default_index, const Facts& facts,
                                                       std::vector<std::string>* other_libraries);

struct Inspection {
    Result<WheelInfo> info;
    bool remembered = false;  ///< nothing was transferred for it
    std::chrono::milliseconds took{0};
};

/// One answer for each task, in their order; a line of progress for each that is done, never from two threads
/// at once. Ends early, with failures, when the run is cancelled.
[[nodiscard]] std::vector<Inspection> inspect_wheels(Http& http, const std::vector<Task>& tasks,
                                                     InspectionCache& inspected, unsigned jobs,
                                                     const Progress& progress);

// What the libraries of a wheel really hold for GPUs: the whole wheel is read as it comes, nothing is kept.

/// The libraries of a scan that hold code.
[[nodiscard]] std::vector<LibraryCode> code_of(const scan::Scan& scan);

/// Every library of the wheel with kernels, every byte of them searched. The wheel as a whole is read over
/// range requests and its sha256 compared, or of `task.libraries` only those, each with its checksum in the
/// zip. Failures: those of HttpSource and Zip, another sha256 than that of the file, a library that is
/// damaged, an interrupt. `bytes`: grows by what came over the network.
[[nodiscard]] Result<std::vector<LibraryCode>> library_code(HttpConnection& connection, const Task& task,
                                                            const Progress& progress, std::uint64_t& bytes);

/// Rows of torch_libraries. What a library is for no scan can tell: those become rows that the table knows by
/// name, with the purpose that it gives. `others`: paths of the rest. `wheel`: its row of torch_wheels.
[[nodiscard]] std::vector<MeasuredRow> library_rows(const MeasuredRow& wheel, const WheelInfo& info,
                                                    const Facts& facts, std::vector<std::string>& others);

}  // namespace cudamatrix::measure
