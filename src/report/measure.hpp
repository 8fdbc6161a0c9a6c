// The reports of `facts measure` and `facts refresh`.
#pragma once

#include <string>

#include "look/measure/measure.hpp"
#include "look/measure/refresh.hpp"

namespace cudamatrix::report {

struct MeasureReport {
    const measure::Measured& measured;
    const Facts& facts;     ///< that it was compared with
    std::string out;        ///< the folder of the rows
    bool accepted = false;  ///< contradicting rows were written, too
};

/// What contradicts the facts beside what they say, what could not be measured, then the counts.
[[nodiscard]] std::string measured_text(const MeasureReport& report);
[[nodiscard]] std::string measured_json(const MeasureReport& report);

struct RefreshReport {
    const measure::Refreshed& refreshed;
    const Facts& facts;
    std::string out;
};

/// A line for each change, for each row, and for what was not measured or not reached, then the counts.
[[nodiscard]] std::string refreshed_text(const RefreshReport& report);
[[nodiscard]] std::string refreshed_json(const RefreshReport& report);

}  // namespace cudamatrix::report
