// The parts of run_text (private to src/report). Each is empty when it has nothing to say, else ends in an
// empty line.
#pragma once

#include <string>

#include "report/inputs.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {

[[nodiscard]] std::string cells_part(const RunReport& report, const TextOptions& options);
[[nodiscard]] std::string failures_part(const RunReport& report, const TextOptions& options);
[[nodiscard]] std::string skipped_part(const RunReport& report, const TextOptions& options);
[[nodiscard]] std::string roads_part(const RunReport& report, const TextOptions& options);
[[nodiscard]] std::string images_part(const RunReport& report, const TextOptions& options);

}  // namespace cudamatrix::report
