// One image build from its call to its log.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "base/process.hpp"
#include "run/engine/engine.hpp"
#include "run/job/progress.hpp"

namespace cudamatrix::job {

struct BuildCall {
    std::string what;           ///< shown in progress and errors: the image's id
    std::filesystem::path log;  ///< gets everything that the engine printed, whatever the end
    std::chrono::milliseconds limit;
    const Cancellation* cancellation = nullptr;
};

/// Runs the build. A build that fails is a Failure with code `findings` whose message holds the line that
/// says most; an interrupt one with code `interrupted` and no diagnostics; an engine that cannot be reached
/// or called, `environment`.
[[nodiscard]] Status engine_build(const engine::Engine& engine, const engine::BuildRequest& request,
                                  const BuildCall& call, Ticker& ticker);

/// The line of a build's output that says why it failed: the last one with "ERROR" or "error:", else the last
/// one at all.
[[nodiscard]] std::string build_error(std::string_view output);

}  // namespace cudamatrix::job
