// Findings as SARIF 2.1.0, as GitHub's code scanning reads it. What `check` and `lint` share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/lint/lint.hpp"
#include "base/json.hpp"
#include "knowledge/finding/finding.hpp"
#include "matrix/matrix.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// What can be found. Of several with one id the first stands.
struct SarifRule {
    std::string id;
    std::string summary;        ///< one sentence
    std::string why = {};       ///< empty: the summary says it all
    std::string markdown = {};  ///< its help; empty: `why`
    std::optional<Severity> severity = {};
};

struct SarifResult {
    std::string rule;  ///< id of one of the rules
    Severity severity = Severity::error;
    std::vector<std::string> lines;  ///< of the message; the first one is its title
    Location where;                  ///< of no line: the first one of the matrix file stands for it
    std::string identity;            ///< what makes it the same finding in a file whose lines have moved
    Json properties = Json::object();
    std::string fix = {};          ///< what `edits` do, in words
    std::vector<Edit> edits = {};  ///< of the matrix file
    std::optional<Waived> waived = {};
};

struct SarifLog {
    std::string_view command;  ///< check, lint: each is a category of its own
    const Matrix& matrix;
    const ToolInfo& tool;
    std::string_view folder;  ///< absolute: files are named relative to it; empty: as they are
    std::vector<SarifRule> rules;
    std::vector<SarifResult> results;
};

/// One document, the worst first. error is `error`, warning and unknown are `warning`, note, notice and what
/// is waived `note`. What is more than GitHub takes (25,000 results, 10 MB packed; we stay below 10 MB as it
/// is) is left out, and a notification of the run says how many; one, too, where GitHub shows only the worst
/// 5,000.
[[nodiscard]] std::string sarif_text(SarifLog log);

/// The line of the matrix file that something stands in, without the blanks around it, and the text itself.
[[nodiscard]] std::string text_around(const Matrix& matrix, const Location& where);

}  // namespace cudamatrix::report
