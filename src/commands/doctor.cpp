#include "run/doctor/doctor.hpp"

#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

// Nobody waits for a driver that hangs: its tools answer within this, or their silence is what was found.
constexpr std::chrono::milliseconds kToolLimit{1000};

struct DoctorOptions {
    std::string facts;
    std::string format;
    std::string out;
};

Result<ExitCode> doctor_command(const DoctorOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world));
    auto machine = machine_of(world);
    machine.time_limit = kToolLimit;
    const DoctorReport report{tool_info(facts, world.today), doctor::examine(machine, facts)};
    if (interrupted(world.cancellation)) return ExitCode::interrupted;
    const auto text = report::format_named(report::doctor_formats(), options.format)->write(report);
    print(text);
    if (!options.out.empty()) {
        CM_TRY(write_report(options.out, "doctor", options.format, text));
    }
    return report.count(Health::fail) == 0 ? ExitCode::success : ExitCode::findings;
}

}  // namespace

Action add_doctor(const Arguments& app) {
    auto options = std::make_shared<DoctorOptions>();
    add_facts_folder(app, options->facts);
    add_format(app, options->format, report::names_of(report::doctor_formats()));
    add_report_folder(app, options->out);
    return [options](const World& world) { return doctor_command(*options, world); };
}

}  // namespace cudamatrix
