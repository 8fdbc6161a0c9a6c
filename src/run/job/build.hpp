// Building the images of a plan: only what is missing or changed, several at a time.
#pragma once

#include "run/engine/engine.hpp"
#include "run/job/plan.hpp"
#include "run/job/progress.hpp"
#include "run/job/session.hpp"

namespace cudamatrix::job {

/// Whether the engine holds both images of `image` made from exactly `rendered`, and what it says about them.
struct Present {
    bool current = false;
    engine::ImageInfo runtime;
    engine::ImageInfo proof;
};
[[nodiscard]] Result<Present> find_images(const engine::Engine& engine, const RenderedImage& rendered,
                                          const Cancellation* cancellation);

/// Writes what the engine says of a current image into its result.
void record(const Present& present, ImageResult& result);

/// Builds every image of `plan` that is not current into its targets runtime and proof, and writes what came
/// of it into plan.report: images, and for their cells proof `built` or the outcome `errored`. A failed build
/// is no Failure; what keeps all of them from being built is (no network, no disk, no engine, drift of a
/// base). A suite that cannot be bootstrapped keeps back its own images only: they are not run. An interrupt
/// leaves the images that were not reached without a result.
[[nodiscard]] Status build_plan(const RunInput& input, const RunSettings& settings,
                                const engine::Engine& engine, Ticker& ticker, Plan& plan);

/// Tries to make the bases that the lock has none of: images of a suite that cannot be bootstrapped are not
/// run.
[[nodiscard]] Status try_missing_bases(const RunSettings& settings, Ticker& ticker, Plan& plan);

}  // namespace cudamatrix::job
