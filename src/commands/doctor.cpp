#include "run/doctor/doctor.hpp"

#include "commands/common.hpp"
#include "commands/doctor_symptom.hpp"
#include "commands/index_options.hpp"
#include "report/formats.hpp"
#include "run/host/host_file.hpp"

namespace cudamatrix {
namespace {

constexpr std::chrono::seconds kConnectLimit{1}, kSilenceLimit{5};

struct DoctorOptions {
    std::string facts;
    std::string image;
    std::string ca_bundle;
    std::vector<std::string> mirrors;
    bool offline = false;
    std::string format;
    std::string out;
    std::string symptom;
};

Result<ExitCode> doctor_command(const DoctorOptions& options, const World& world) {
    if (!options.symptom.empty())
        return symptom_command({options.symptom, options.facts, options.format, options.out}, world);
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world));
    auto subject = subject_here(facts, world);
    subject.image = options.image;
    if (!options.offline) {
        CM_TRY_ASSIGN(auto http, http_options(options.mirrors, options.ca_bundle, world));
        http.attempts = 1;
        http.connect_limit = kConnectLimit;
        http.silence_limit = kSilenceLimit;
        subject.http = std::move(http);
    }
    auto examined = doctor::examine(std::make_shared<const doctor::Subject>(std::move(subject)));
    const DoctorReport report{tool_info(facts, world.today), std::move(examined.lines),
                              probe::host_json(examined.host)};
    if (interrupted(world.cancellation)) return ExitCode::interrupted;
    const auto text = report::format_named(report::doctor_formats(), options.format)->write(report);
    CM_TRY(publish(text, "doctor", options.format, options.out));
    return report.count(Health::fail) == 0 ? ExitCode::success : ExitCode::findings;
}

}  // namespace

Action add_doctor(const Arguments& app) {
    auto options = std::make_shared<DoctorOptions>();
    add_facts_folder(app, options->facts);
    app.add_option("--image", options->image,
                   "A local image in which each engine tries a GPU; without it one that `build` made")
        .type_name("IMAGE");
    app.add_flag("--offline", options->offline, "Ask no registry and no index");
    add_connection(app, options->mirrors, options->ca_bundle);
    add_format(app, options->format, report::names_of(report::doctor_formats()));
    add_report_folder(app, options->out);
    add_symptom(app, options->symptom);
    return [options](const World& world) { return doctor_command(*options, world); };
}

}  // namespace cudamatrix
