// The reports of `render --check`.
#pragma once

#include <string>
#include <vector>

#include "render/output/output_folder.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

struct DriftReport {
    std::string matrix;
    std::string output;             ///< the folder
    std::vector<Drift> drift;       ///< sorted by path; empty: the folder is what the matrix gives
    std::size_t files = 0;          ///< how many the matrix gives
    std::vector<std::string> mend;  ///< argv that makes it right
    ToolInfo tool;
    TextOptions text;
};

/// A unified diff that `patch -p1` takes in the folder, then one line for each file, then the command.
/// Beyond 20,000 lines files are only named.
[[nodiscard]] std::string drift_text(const DriftReport& report);
[[nodiscard]] std::string drift_json(const DriftReport& report);

}  // namespace cudamatrix::report
