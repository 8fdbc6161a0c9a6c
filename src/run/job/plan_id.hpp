// What the suite is asked for one cell of a plan on another machine, and the name of that question.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run/job/job.hpp"
#include "run/job/suite_run.hpp"

namespace cudamatrix::job {

/// All that the suite is asked for one cell inside `image`, without the run's id, which is added last: the
/// same cell gives the same arguments in every run. `settings`: level and minutes of the soak.
[[nodiscard]] std::vector<std::string> cell_arguments(const Image& image, std::string_view cell_id,
                                                      const CellDevice& device, bool gpu,
                                                      const RunSettings& settings);

/// What is asked of a cell on a machine that this program does not see.
struct RemoteTest {
    std::string plan_id;  ///< 16 hex digits
    /// Of the suite in the image's proof, all of them: `--run` with the plan id last, so that each of its
    /// lines carries it.
    std::vector<std::string> arguments;
};

/// `cell` is one of plan.report that has an image. `gpu`: the container gets a GPU. The plan id is a hash of
/// all that the answer depends on: what the image and its proof are made of (RenderedImage::proof_inputs),
/// the arguments, the level and the version of this program. Neither day nor machine changes it.
[[nodiscard]] RemoteTest remote_test(const RunInput& input, const Plan& plan, const RunSettings& settings,
                                     const CellResult& cell, bool gpu);

}  // namespace cudamatrix::job
