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
#include "run/job/progress.hpp"
#include "run/job/session.hpp"
#include "run/job/shared_stages.hpp"

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
    Job(const RunInput& in, const RunSettings& with) : input(in), settings(with), progress(with.screen) {}

    [[nodiscard]] bool interrupted() const { return cudamatrix::interrupted(settings.cancellation); }

    const RunInput& input;
    const RunSettings& settings;
    Board progress;
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
/// network. `taken`: see Taken; nullptr: what the lock has.
[[nodiscard]] Result<Plan> make_plan(const RunInput& input, const RunSettings& settings,
                                     std::string_view command, const Taken* taken = nullptr);

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

/// ... and the GPUs that it can hand to a container.
[[nodiscard]] Status take_engine(Job& job);

/// Takes the files of images that were not chosen out of what is rendered and gives their folders: they are
/// neither written, compared nor removed. What is about all images (index.json, compose.yaml) stays whole.
std::set<std::string> leave_alone(Plan& plan);

/// Writes what is rendered, and says what it finds of earlier renders.
[[nodiscard]] Status write_files(Job& job);

/// Building without a network cannot work here: an input failure that says how to choose one.
[[nodiscard]] Status require_network(const Job& job, std::string_view what);

/// 130 after an interrupt, else report::exit_code_of.
[[nodiscard]] ExitCode exit_code_of(const RunReport& report, const RunSettings& settings);

/// How `what` is built in this job: its log, its limits.
[[nodiscard]] BuildCall build_call(const Job& job, std::string what, const std::filesystem::path& log);

/// Tries to make the bases that the lock has none of: images of a suite that cannot be bootstrapped are not
/// run.
[[nodiscard]] Status try_missing_bases(Job& job);

/// What the rendered files of an image (`target.proof`: of its proof) stand on and do not hold: the base's
/// tar `base`, where it is bootstrapped, what images: copies, and the suite.
[[nodiscard]] Status fill_context(const Job& job, BuildTarget target, const std::filesystem::path& base);

/// Makes the bases of every chosen image and fills its context, so that any builder can build it and its
/// proof. Asks no engine. A base that is not the one in the lock is a finding.
[[nodiscard]] Status fill_contexts(Job& job);

/// Engine `host`: the suite is built with this machine's own nvcc and run here; images are not built. Keeps
/// the cells whose toolkit is the one of this machine (same major and minor); all others become `skipped`,
/// with the reason. The report then lists no images.
void keep_host_cells(Job& job);

/// Builds the suite below OUT/host for each remaining image; cells get proof `built`, or are `errored`.
[[nodiscard]] Status build_on_host(Job& job);

/// Runs the suites that were built, for each cell.
[[nodiscard]] Status test_on_host(Job& job);

}  // namespace cudamatrix::job
