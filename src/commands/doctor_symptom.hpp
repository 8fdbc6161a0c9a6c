// `doctor --symptom`: what an error message means. A log from outside goes in, rows of facts come out.
#pragma once

#include <string>

#include "commands/common.hpp"
#include "run/doctor/doctor.hpp"

namespace cudamatrix {

struct SymptomOptions {
    std::string text;  ///< the message; "-": it is on stdin; empty: the option was not given
    std::string facts;
    std::string format;
    std::string out;
};

/// This machine, as `doctor` examines it with a message and without: no image, no network.
[[nodiscard]] doctor::Subject subject_here(const Facts& facts, const World& world);

void add_symptom(const Arguments& app, std::string& text);

[[nodiscard]] Result<ExitCode> symptom_command(const SymptomOptions& options, const World& world);

}  // namespace cudamatrix
