// From a judged matrix to what is to do: the cells that get an image, the images, their pins and their files.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image_plan.hpp"
#include "render/lock/lock_file.hpp"
#include "report/results.hpp"
#include "run/engine/engine.hpp"
#include "run/host/nvidia_smi.hpp"
#include "run/job/engine_build.hpp"
#include "run/job/folder.hpp"
#include "run/job/schedule.hpp"
#include "run/job/session.hpp"

namespace cudamatrix::job {

struct Plan {
    std::vector<Image> images;
    Lock lock;
    std::vector<Copies> copies;  ///< copies[i] belongs to images[i]
    Rendering rendering;  ///< rendering.images[i] belongs to images[i]; its `inputs` cover the copies too
    RunReport report;     ///< every judged cell in each of its images; attempted ones are `planned`, all
                          ///< others `skipped` with a reason
    std::map<std::string, std::size_t, std::less<>> image_of;      ///< CellResult::id -> index of its image
    std::map<std::string, const JudgedCell*, std::less<>> judged;  ///< cell id -> its judgement

    /// By Image::id: why it is neither built nor tested, found before its build.
    std::map<std::string, Failure, std::less<>> not_run;

    std::set<std::string, std::less<>> left_out;  ///< Image::id: of what was not chosen (RunSettings::choice)
    [[nodiscard]] bool is_chosen(const Image& image) const;
    [[nodiscard]] std::size_t chosen_images() const;

    [[nodiscard]] const Bootstrap* bootstrap(const Image& image) const;
};

/// What the steps of a command work on.
struct Job {
    Job(const RunInput& in, const RunSettings& with) : input(in), settings(with), progress(with.progress) {}

    [[nodiscard]] bool interrupted() const { return cudamatrix::interrupted(settings.cancellation); }

    const RunInput& input;
    const RunSettings& settings;
    Ticker progress;
    Plan plan;
    engine::Engine engine;  ///< as soon as it is chosen
    std::vector<engine::Gpu> gpus;
};

/// RenderSettings::matrix_folder: the matrix file's folder as the output folder sees it, "." where it is the
/// same.
[[nodiscard]] std::string matrix_folder(const Matrix& matrix, const std::filesystem::path& out);

/// Where the lock of a matrix lies: beside its file.
[[nodiscard]] std::filesystem::path lock_path(const Matrix& matrix);

/// Plans and renders with the lock of `input` (an absent one pins nothing). Reads files only; uses no
/// network.
[[nodiscard]] Result<Plan> make_plan(const RunInput& input, const RunSettings& settings,
                                     std::string_view command);

/// Done where every pattern of --cell means a cell, else an input failure with the nearest.
[[nodiscard]] Status check_cells(const RunInput& input, const Choice& choice);

/// Leaves out of `plan` what settings.choice does not choose; its cells become `skipped`. Input failures:
/// names that the matrix does not have, a choice that means no cell, --failed without an earlier run, too
/// many images.
[[nodiscard]] Status narrow(const RunInput& input, const RunSettings& settings, Plan& plan);

/// Renders anew, after the lock has changed.
[[nodiscard]] Status render_again(Job& job, Lock lock);

/// How the job makes bases; `anew`: see BootstrapContext.
[[nodiscard]] BootstrapContext bootstrap_context(Job& job, bool anew = false);

/// Ids of the chosen images that the lock does not cover.
[[nodiscard]] std::vector<std::string> unpinned(const Plan& plan);

/// Done where the lock covers every chosen image. Without a lock file an input failure, else findings: one
/// for each image, naming what is missing.
[[nodiscard]] Status require_locked(const Job& job);

/// Chooses the engine that the settings ask for, and says which one it is.
[[nodiscard]] Status choose_engine(Job& job);

/// Building without a network cannot work here: an input failure that says how to choose one.
[[nodiscard]] Status require_network(const Job& job, std::string_view what);

/// 130 interrupted; 1 a cell or an image failed, or no cell was attempted, or (--strict) a cell was skipped;
/// 4 all passed, some only as far as can be without a GPU (1 with --require-gpu, 0 with --accept-static); 0
/// else. Skipped cells alone never count without --strict, and those that were not chosen not even then.
[[nodiscard]] ExitCode exit_code_of(const RunReport& report, const RunSettings& settings);

// The steps of a job behind its plan: build.cpp, test.cpp and, where no container is used, host.cpp.

/// Whether the engine holds `image` and its proof made from exactly `rendered`, and what it says about them.
struct Present {
    bool image_current = false;
    bool current = false;  ///< both are
    engine::ImageInfo runtime;
    engine::ImageInfo proof;
};
[[nodiscard]] Result<Present> find_images(const Job& job, const RenderedImage& rendered);

/// Writes what the engine says of a current image into its result.
void record(const Present& present, ImageResult& result);

/// Builds every chosen image of the plan that is not current, and its proof, and writes what came of it into
/// the report: images, and for their cells proof `built` or the outcome `errored`. A failed build is no
/// Failure; what keeps all of them from being built is (no network, no disk, no engine, drift of a base). A
/// suite that cannot be bootstrapped keeps back its own images only: they are not run. An
/// interrupt leaves the images that were not reached without a result.
[[nodiscard]] Status build_plan(Job& job);

/// Tries to make the bases that the lock has none of: images of a suite that cannot be bootstrapped are not
/// run.
[[nodiscard]] Status try_missing_bases(Job& job);

/// Runs the suite, inside the cell's image, for every planned cell and writes outcome, proof, tests and log
/// into the report. A result of an earlier run counts where image, arguments and tool are the same and it
/// passed. A red cell is no Failure; an engine that no longer answers is. An interrupt leaves the cells that
/// were not reached as they are.
[[nodiscard]] Status test_plan(Job& job);

/// Engine `host`: the suite is built with this machine's own nvcc and run here; images are not built. Keeps
/// the cells whose toolkit is the one of this machine (same major and minor); all others become `skipped`,
/// with the reason. The report then lists no images.
void keep_host_cells(Job& job);

/// Builds the suite below OUT/host for each remaining image; cells get proof `built`, or are `errored`.
[[nodiscard]] Status build_on_host(Job& job);

/// Runs the suites that were built, for each cell.
[[nodiscard]] Status test_on_host(Job& job);

}  // namespace cudamatrix::job
