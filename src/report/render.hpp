// The reports of `templates`, of `lock`, of `render --check` and of `render --explain`.
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
    std::string output;            ///< the folder
    std::vector<Drift> drift;      ///< sorted by path; empty: the folder is what the matrix gives
    std::size_t files = 0;         ///< how many the matrix gives
    std::vector<std::string> fix;  ///< argv that makes it right
    ToolInfo tool;
    TextOptions text;
};

/// A unified diff that `patch -p1` takes in the folder, then one line for each file, then the command.
/// Beyond 20,000 lines files are only named.
[[nodiscard]] std::string drift_text(const DriftReport& report);
[[nodiscard]] std::string drift_json(const DriftReport& report);

struct TemplatesReport {
    std::vector<mustache::Library::Listed> templates;
    ToolInfo tool;
};

/// One line for each template: its family (- : of all), its name, and the file that replaces it, or the
/// user's partial with who includes it.
[[nodiscard]] std::string templates_text(const TemplatesReport& report);
[[nodiscard]] std::string templates_json(const TemplatesReport& report);

/// One template as it is written.
[[nodiscard]] std::string template_text(const mustache::Library::Listed& one);
[[nodiscard]] std::string template_json(const mustache::Library::Listed& one);

/// "43 templates, 1 overridden, 74 files filled from a sample, 0 mistakes": of a check that found none.
[[nodiscard]] std::string template_check_text(const TemplateCheck& check);
[[nodiscard]] std::string template_check_json(const TemplateCheck& check);

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

/// What `lock` changed. Its findings are on stderr as well, so the text has none.
struct LockedReport {
    const std::vector<std::string>& changes;
    const std::vector<Diagnostic>& findings;
};
[[nodiscard]] std::string locked_text(const LockedReport& report);
[[nodiscard]] std::string locked_json(const LockedReport& report);

}  // namespace cudamatrix::report
