// The throw-away container in which a rejection is attempted: a build whose last stage holds what its steps
// said.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix {

/// One command. It leaves /NAME.txt (both streams) and /NAME.code (its exit code; 124 or 137 after
/// `seconds`).
struct AttemptStep {
    std::string name;                      ///< a bare file name
    std::vector<std::string> environment;  ///< "NAME=value"
    std::vector<std::string> argv;
    unsigned seconds = 120;
};

struct AttemptRequest {
    bool compiles = false;            ///< stands on the image's stage `devel`, else on its bare base
    std::vector<std::string> beside;  ///< apt packages that are added to `devel`
    bool pip = false;                 ///< a virtual environment /opt/attempt with the pip that `lock` uses
    std::vector<std::string> index;   ///< options of that pip's installation
    std::vector<Artifact> files;      ///< land in /attempt, where the steps run
    std::vector<AttemptStep> steps;   ///< all are run, in order, whatever the others gave
};

/// Files of a build context whose target `seen` holds text files only. The bootstrap tar is put beside them
/// under Bootstrap::file. `run_id` makes the steps, and nothing before them, new for the build cache.
[[nodiscard]] Result<std::vector<Artifact>> attempt_context(const Matrix& matrix, const Image& image,
                                                            const Lock& lock, const AttemptRequest& request,
                                                            std::string_view run_id,
                                                            const RenderSettings& settings);

/// Where the stage `devel` of an image with a toolkit has it.
struct ToolkitPaths {
    std::string nvcc;
    std::string ccbin;
    std::string include;
    std::string lib;
};
[[nodiscard]] ToolkitPaths toolkit_paths(const Image& image);

}  // namespace cudamatrix
