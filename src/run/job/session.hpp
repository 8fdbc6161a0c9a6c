// The main job behind `lock`, `build`, `test` and `run`: plan, lock, bootstrap, build, prove, report.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"
#include "render/lock/lock_file.hpp"
#include "render/output/output_folder.hpp"
#include "report/rehearsal.hpp"
#include "report/results.hpp"
#include "report/sbom.hpp"
#include "run/job/choice.hpp"
#include "run/job/progress.hpp"

namespace cudamatrix {

struct RunSettings {
    std::filesystem::path out;        ///< output folder
    std::string engine = "auto";      ///< auto, or a name of the table of engines
    std::string engine_host;          ///< URL of another machine's engine; empty: this one's
    std::string builder;              ///< of buildx; empty: the engine's own
    std::filesystem::path templates;  ///< --templates DIR: overrides of embedded templates; empty: none
    std::filesystem::path
        suite;  ///< folder with kernels/ and fatbin/ instead of the embedded suite; empty: embedded
    std::string level = "quick";  ///< of the suite: quick, standard, full, soak
    unsigned soak_minutes = 10;   ///< at level soak: how long stress.sustained computes
    bool require_gpu = false;     ///< passing without a GPU is exit 1 instead of 4
    bool accept_static = false;   ///< ... is exit 0
    bool strict = false;          ///< skipped cells (rejected, unknown) count as exit 1
    Choice choice;                ///< what is attempted
    bool locked = false;          ///< render and run: what the lock does not cover is refused, not pinned
    bool prune = false;           ///< render removes files of ours that belong to no cell any more
    bool keep_going = true;       ///< one failed image does not stop the others
    unsigned jobs = 1;            ///< images built, and cells tested without a GPU, at a time
    unsigned retries = 2;         ///< of a build that the network or a server spoilt
    std::chrono::milliseconds retry_pause{5'000};  ///< before the first of them; the next waits four times it
    std::chrono::milliseconds build_limit{std::chrono::minutes(60)};  ///< for one build
    std::chrono::milliseconds test_limit{std::chrono::minutes(10)};   ///< for the suite of one cell
    std::uint64_t disk_bytes = 0;  ///< free disk needed; 0: estimated from the images
    std::string run_id;            ///< names containers and journal entries of this run
    std::string today;             ///< YYYY-MM-DD: of what is read now
    std::string judged_on;         ///< YYYY-MM-DD: the day that the cells were judged as of
    Environment environment;       ///< of this process: PATH, DOCKER_HOST, proxies ...
    const Cancellation* cancellation = nullptr;
    job::Screen screen;  ///< where progress is shown
};

/// Everything that the main job looks at; all of it outlives the call.
struct RunInput {
    const Matrix& matrix;
    const Facts& facts;
    const Judgement& judgement;
    const std::optional<Lock>& lock;  ///< nothing: there is none yet
};

/// What `lock` does about pins that exist.
struct LockChoice {
    bool update = false;            ///< resolve them anew
    std::vector<std::string> what;  ///< ... only these: see job::LockScope; empty: all
};

struct LockReport {
    std::vector<std::string> changes;  ///< one line for each pin that is new or moved
    /// Tags of bases that moved or vanished without leave, and images that could not be resolved: their pins
    /// are as they were, all others are written.
    std::vector<Diagnostic> findings;
    ExitCode code = ExitCode::success;  ///< findings, or environment where that is why one was not resolved
};

/// Pins digests of bases, apt versions and wheel hashes of every image of the accepted and degraded cells
/// into `cudamatrix.lock` beside the matrix file, and records there what the configurations of those bases,
/// and of the images that cells name by `image`, say, and the verdict of every cell.
[[nodiscard]] Result<LockReport> make_lock(const RunInput& input, const RunSettings& settings,
                                           const LockChoice& choice);

/// Renders into settings.out (no network, nothing bootstrapped). The report holds images and cells with proof
/// `rendered`.
[[nodiscard]] Result<RunReport> render_images(const RunInput& input, const RunSettings& settings);

/// How the output folder differs from what render_images would write there.
struct Compared {
    std::vector<Drift> drift;  ///< sorted by path
    std::size_t files = 0;     ///< how many the matrix gives
};

/// Writes nothing, not even the folder. Another cudamatrix at work there is an environment failure.
[[nodiscard]] Result<Compared> compare_render(const RunInput& input, const RunSettings& settings);

/// Renders, bootstraps and builds. Needs a lock that covers every image (`lock` makes it).
[[nodiscard]] Result<RunReport> build_images(const RunInput& input, const RunSettings& settings);

/// Renders, bootstraps, and fills the contexts of the images, so that any builder can build them; builds
/// nothing and needs no engine. Needs a lock that covers every image.
[[nodiscard]] Result<RunReport> prepare_builds(const RunInput& input, const RunSettings& settings);

/// Runs the suite inside images that are already built.
[[nodiscard]] Result<RunReport> test_images(const RunInput& input, const RunSettings& settings);

/// --dry-run of build, test or run (`command`): the programs that it would start now, none of them started,
/// nothing written. What the lock does not cover is one step, `cudamatrix lock`. Needs an engine that has
/// containers.
[[nodiscard]] Result<report::Rehearsal> rehearse(const RunInput& input, const RunSettings& settings,
                                                 std::string_view command);

/// Bills of materials of the images that are built: see job::write_sboms.
[[nodiscard]] Result<report::SbomReport> make_sboms(const RunInput& input, const RunSettings& settings);

/// lock (when absent or not covering), render, build, test: the main job.
[[nodiscard]] Result<RunReport> run_all(const RunInput& input, const RunSettings& settings);

}  // namespace cudamatrix
