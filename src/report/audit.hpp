// The report of `audit`: what is wrong in files, line by line, and what they install as a matrix.
#pragma once

#include <string>
#include <vector>

#include "advise/audit/audit.hpp"
#include "knowledge/judge/judge.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

struct AuditReport {
    const audit::Report& read;
    std::vector<audit::Judged> stacks;
    std::vector<audit::Line> lines;  ///< lines_of the two
    std::string matrix;              ///< the stacks as a matrix file; empty: there is none
    ToolInfo tool;
    TextOptions text;
    std::string folder = {};  ///< the current one; empty: nobody says
};

/// The lines as a compiler prints them (with the line of the file where `text.verbose` is set), the stacks
/// with their verdicts, what was not judged, and the matrix file.
[[nodiscard]] std::string audit_text(const AuditReport& report);
[[nodiscard]] std::string audit_json(const AuditReport& report);
/// GitHub workflow commands, one for each line.
[[nodiscard]] std::string audit_github(const AuditReport& report);
/// SARIF 2.1.0.
[[nodiscard]] std::string audit_sarif(const AuditReport& report);

}  // namespace cudamatrix::report
