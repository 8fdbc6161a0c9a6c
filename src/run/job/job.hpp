// From a judged matrix to what is to do: the cells that get an image, the images, their pins and their files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_code.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image_plan.hpp"
#include "render/lock/lock_file.hpp"
#include "report/results.hpp"
#include "run/engine/engine.hpp"
#include "run/host/nvidia_smi.hpp"
#include "run/job/bootstrap.hpp"
#include "run/job/copies.hpp"
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

/// Plans and renders with the lock as it is (an absent one pins nothing). Reads files only; uses no network.
[[nodiscard]] Result<Plan> make_plan(const RunInput& input, const RunSettings& settings,
                                     std::string_view command);

/// Renders anew, after the lock has changed.
[[nodiscard]] Status render_again(Job& job, Lock lock);

/// How the job makes bases; `anew`: see BootstrapContext.
[[nodiscard]] BootstrapContext bootstrap_context(Job& job, bool anew = false);

/// Ids of the images that the lock does not cover.
[[nodiscard]] std::vector<std::string> unpinned(const Plan& plan);

/// Done where the lock covers every image. Without a lock file an input failure, else findings: one for each
/// image, naming what is missing.
[[nodiscard]] Status require_locked(const Job& job);

/// Building without a network cannot work here: an input failure that says how to choose one.
[[nodiscard]] Status require_network(const Job& job, std::string_view what);

/// 130 interrupted; 1 a cell or an image failed, or no cell was attempted, or (--strict) a cell was skipped;
/// 4 all passed, some only as far as can be without a GPU (1 with --require-gpu); 0 else. Skipped cells alone
/// never count without --strict.
[[nodiscard]] ExitCode exit_code_of(const RunReport& report, const RunSettings& settings);

}  // namespace cudamatrix::job
