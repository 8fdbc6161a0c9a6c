// Workflow commands of GitHub: annotations at lines of files (private to src/report).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"

namespace cudamatrix::report {

/// "error", "warning" or "notice".
[[nodiscard]] std::string_view github_command(Severity severity);

/// One command on one line, with a newline: the runner shows `lines` at `where`. Every text is escaped, so
/// that none can become a command or a property.
[[nodiscard]] std::string github_annotation(std::string_view command, const Location& where,
                                            std::string_view title, const std::vector<std::string>& lines);

}  // namespace cudamatrix::report
