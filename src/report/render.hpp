// The reports of `templates`, of `render --check` and of `render --explain`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "render/files/template_check.hpp"
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

/// How many are the user's: those that replace ours, and the partials beside them.
struct OwnTemplates {
    std::size_t overridden = 0, added = 0;
};
[[nodiscard]] OwnTemplates count_own(const std::vector<mustache::Library::Listed>& templates);
/// "43 templates, 1 overridden", and ", 2 added" where some are.
[[nodiscard]] std::string counts_text(const std::vector<mustache::Library::Listed>& templates);

/// One line for each template: its family (- : of all), its name, and the file that replaces it, or the
/// user's partial with who includes it.
[[nodiscard]] std::string templates_text(const std::vector<mustache::Library::Listed>& templates);
[[nodiscard]] std::string templates_json(const std::vector<mustache::Library::Listed>& templates,
                                         const ToolInfo& tool);

/// The lines of one rendered file with the places in templates that wrote them.
struct OriginReport {
    std::string file;
    std::string content;
    std::vector<mustache::Origin> lines;  ///< of every line of the content
    std::size_t line = 0;                 ///< only this one, from 1; 0: all
    ToolInfo tool;
};
[[nodiscard]] std::string origins_text(const OriginReport& report);
[[nodiscard]] std::string origins_json(const OriginReport& report);

}  // namespace cudamatrix::report
