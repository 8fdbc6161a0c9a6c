#include "commands/doctor_symptom.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "report/formats.hpp"
#include "report/symptom.hpp"
#include "run/doctor/doctor.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kMostOfStdin = std::size_t{16} << 20;
// Nobody waits for a driver that hangs: its tools answer within this, or their silence is what was found.
constexpr std::chrono::seconds kToolLimit{5};

Result<std::string> read_stdin() {
    std::string out(kMostOfStdin + 1, '\0');
    std::cin.read(out.data(), static_cast<std::streamsize>(out.size()));
    out.resize(static_cast<std::size_t>(std::cin.gcount()));
    if (out.size() > kMostOfStdin)
        return input_failure("--symptom -: the text on stdin is longer than 16 MiB",
                             "give the end of it: tail -c 16M LOG | cudamatrix doctor --symptom -");
    return out;
}

/// What this machine says, where a row names a probe that can tell.
std::vector<DoctorLine> here(const std::vector<symptoms::Match>& matches, const Facts& facts,
                             const World& world) {
    auto subject = subject_here(facts, world);
    for (const auto& match : matches) {
        for (const auto probe : match.row.list("probes"))
            subject.only.emplace_back(probe);
    }
    if (subject.only.empty()) return {};
    return doctor::examine(std::make_shared<const doctor::Subject>(std::move(subject))).lines;
}

}  // namespace

doctor::Subject subject_here(const Facts& facts, const World& world) {
    doctor::Subject subject{machine_of(world), facts, world.today, current_folder(), {}};
    subject.machine.time_limit = kToolLimit;
    return subject;
}

void add_symptom(const Arguments& app, std::string& text) {
    app.add_option("--symptom", text, "Say what this error message means, or the log on stdin (-)")
        .type_name("TEXT|-")
        .check([](const std::string& value) -> std::string {
            return text::trim(value).empty() ? "expected an error message, or - for one on stdin" : "";
        });
}

Result<ExitCode> symptom_command(const SymptomOptions& options, const World& world) {
    const auto* const format = report::format_named(report::symptom_formats(), options.format);
    if (format == nullptr)
        return input_failure(fmt::format("--symptom has no format {}", options.format),
                             "use one of " + text::join(report::names_of(report::symptom_formats()), ", "));
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world));
    auto text = options.text;
    if (text == "-") {
        CM_TRY_ASSIGN(text, read_stdin());
    }
    SymptomReport report{tool_info(facts, world.today), symptoms::find(facts, text), {}};
    const auto& matches = report.found.matches;
    report.here = here(matches, facts, world);
    if (interrupted(world.cancellation)) return ExitCode::interrupted;
    const auto written = format->write(report);
    CM_TRY(publish(written, "symptom", options.format, options.out));
    return matches.empty() ? ExitCode::findings : ExitCode::success;
}

}  // namespace cudamatrix
