// From a judged matrix to what shall be done: the cells that get an image, the images, their pins and their
// files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "render/files/artifacts.hpp"
#include "render/image/image_plan.hpp"
#include "render/lock/lock_file.hpp"
#include "run/job/copies.hpp"
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

    /// By Image::id: why it is neither built nor tested, found before its build; mark_not_run tells the
    /// report.
    std::map<std::string, Failure, std::less<>> not_run;

    [[nodiscard]] const Bootstrap* bootstrap(const Image& image) const;
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
[[nodiscard]] Status render_again(const RunInput& input, const RunSettings& settings, Lock lock, Plan& plan);

/// Ids of the images that the lock does not cover.
[[nodiscard]] std::vector<std::string> unpinned(const Plan& plan);

/// Done where the lock covers every image. Without a lock file an input failure, else findings: one for each
/// image, naming what is missing.
[[nodiscard]] Status require_locked(const RunInput& input, const Plan& plan);

/// Building without a network cannot work here: an input failure that says how to choose one.
[[nodiscard]] Status require_network(const RunInput& input, std::string_view what);

}  // namespace cudamatrix::job
