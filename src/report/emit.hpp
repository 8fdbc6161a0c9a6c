// What `emit` wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/json.hpp"

namespace cudamatrix::report {

struct EmitReport {
    std::string matrix;
    std::string target;              ///< github, gitlab ...
    std::string folder;              ///< where the files lie
    std::vector<std::string> files;  ///< in it
    std::size_t images = 0;
    std::size_t tasks = 0;    ///< jobs that they ask for: one for each image and machine; 0: none
    std::size_t cells = 0;    ///< 0: with --missing, and none is
    std::size_t changed = 0;  ///< of the files; the others were as they should be
    std::string next;         ///< what to do with them
    ToolInfo tool;
};

[[nodiscard]] std::string emit_text(const EmitReport& report);
/// {"matrix", "target", "folder", "files": [...], "images", "tasks", "cells", "changed"}
[[nodiscard]] std::string emit_json(const EmitReport& report);

}  // namespace cudamatrix::report
