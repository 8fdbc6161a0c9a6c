// The steps of a job behind its plan: build.cpp, test.cpp and, where no container is used, host.cpp.
#pragma once

#include "run/job/job.hpp"

namespace cudamatrix::job {

/// Whether the engine holds both images of `image` made from exactly `rendered`, and what it says about them.
struct Present {
    bool current = false;
    engine::ImageInfo runtime;
    engine::ImageInfo proof;
};
[[nodiscard]] Result<Present> find_images(const Job& job, const RenderedImage& rendered);

/// Writes what the engine says of a current image into its result.
void record(const Present& present, ImageResult& result);

/// Builds every image of the plan that is not current into its targets runtime and proof, and writes what
/// came of it into the report: images, and for their cells proof `built` or the outcome `errored`. A failed
/// build is no Failure; what keeps all of them from being built is (no network, no disk, no engine, drift of
/// a base). A suite that cannot be bootstrapped keeps back its own images only: they are not run. An
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
