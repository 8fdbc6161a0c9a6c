#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct KernelsOptions {
    std::vector<std::string> ids;
    std::string format;
    std::string out;
};

Result<ExitCode> perform(std::string_view name, const KernelsOptions& options, const World& world) {
    report::KernelsReport report{tool_info(Facts::embedded(), world.today),
                                 {world.colour_out, world.columns}};
    const auto& format = *report::format_named(report::kernels_formats(), options.format);
    CM_TRY(publish(report, name, options.format, options.out, [&](const report::KernelsReport& about) {
        return options.ids.empty() ? Result<std::string>(format.write(about))
                                   : format.write_some(about, options.ids);
    }));
    return ExitCode::success;
}

}  // namespace

Action add_kernels(const Arguments& app) {
    auto options = std::make_shared<KernelsOptions>();
    app.require_subcommand();
    const auto list = app.add_subcommand(
        "list", "List the tests with what each proves, and the faults that no test names yet");
    list.footer("Example: cudamatrix kernels list --format json");
    const auto show = app.add_subcommand(
        "show", "Show tests: what each compares within which tolerance, and the faults that it names");
    show.add_option("ID", options->ids, "The id of a test, or a fault as reports name it: cmp.sgemm, F6")
        .required();
    show.footer("Example: cudamatrix kernels show cmp.sgemm F6");
    for (const auto& command : {list, show}) {
        add_format(command, options->format, report::names_of(report::kernels_formats()));
        add_report_folder(command, options->out);
    }
    return [options, list](const World& world) {
        return perform(list.parsed() ? "kernels-list" : "kernels-show", *options, world);
    };
}

}  // namespace cudamatrix
