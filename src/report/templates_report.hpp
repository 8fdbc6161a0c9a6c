// The reports of `templates` and of `render --explain`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "render/template_check.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// One line for each template: its family (- : of all), its name, and the file that replaces it.
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
