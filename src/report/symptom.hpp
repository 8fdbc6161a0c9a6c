// The report of `doctor --symptom`: what an error message means.
#pragma once

#include <string>
#include <vector>

#include "advise/symptoms/symptoms.hpp"
#include "report/doctor.hpp"
#include "report/inputs.hpp"

namespace cudamatrix {

struct SymptomReport {
    report::ToolInfo tool;
    symptoms::Found found;
    std::vector<DoctorLine> here;  ///< what the probes that a row names say of this machine
};

namespace report {

[[nodiscard]] std::string symptom_text(const SymptomReport& report);
[[nodiscard]] std::string symptom_json(const SymptomReport& report);

}  // namespace report
}  // namespace cudamatrix
