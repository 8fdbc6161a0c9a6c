// What --dry-run prints: the programs that a command would start.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/json.hpp"

namespace cudamatrix::report {

struct Rehearsed {
    std::string kind;                ///< lock, base, stage, build, proof, test
    std::string of;                  ///< what it makes: a base, an image's id, a cell's id
    std::vector<std::string> after;  ///< "base bookworm": what it waits for, where that is to be made, too
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> environment;  ///< what differs from this process's
};

struct Rehearsal {
    std::string matrix;
    std::string command;
    std::string engine;
    std::vector<Rehearsed> steps;
    ToolInfo tool;
};

/// A comment and a line to paste into a shell for each step, in an order in which they can be done.
[[nodiscard]] std::string rehearsal_text(const Rehearsal& rehearsal);
/// {"matrix": ..., "steps": [{"kind", "of", "after", "argv", "environment"}]}
[[nodiscard]] std::string rehearsal_json(const Rehearsal& rehearsal);

}  // namespace cudamatrix::report
