// The report of `doctor`: what was found on a machine, line by line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "report/inputs.hpp"

namespace cudamatrix {

enum class Health {
    ok,
    warn,     ///< works, or may not matter here
    fail,     ///< GPU work breaks by it
    skipped,  ///< could not be looked at: the line says why
};
[[nodiscard]] std::string_view to_string(Health health);

struct DoctorLine {
    std::string probe;  ///< "driver", "device-nodes" ...
    Health health = Health::ok;
    std::string found;     ///< one sentence, fit for a terminal
    std::string fix;       ///< a command or a sentence; may be empty
    std::string document;  ///< what the judgement rests on: an address or a fact; may be empty
};

struct DoctorReport {
    report::ToolInfo tool;
    std::vector<DoctorLine> lines;
    Json host;  ///< the machine, as --host FILE reads it back

    [[nodiscard]] std::size_t count(Health health) const;
};

namespace report {

[[nodiscard]] std::string doctor_text(const DoctorReport& report);
[[nodiscard]] std::string doctor_json(const DoctorReport& report);

}  // namespace report
}  // namespace cudamatrix
