// `facts measure`: rows of facts written by looking into the wheels of an index.

#include "commands/facts_measure.hpp"

#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/index_options.hpp"
#include "look/measure/measure.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct MeasureOptions : IndexOptions, measure::MeasureRequest {};

Result<ExitCode> perform(const MeasureOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world));
    CM_TRY_ASSIGN(auto http, open_http(options.mirrors, options.ca_bundle, world));
    measure::MeasureRequest request = options;
    CM_TRY(complete(request, world));
    CM_TRY_ASSIGN(const auto measured, measure::measure(request, facts, *http));
    const auto& format = *report::format_named(report::measure_formats(), options.format);
    print(format.write({measured, facts, options.out, options.accept}));
    auto code = ExitCode::success;
    const bool contradicted = measured.count(measure::RowStatus::contradicted) != 0 && !options.accept;
    if (contradicted || !measured.left_out.empty()) code = ExitCode::findings;
    return measured.not_measured.empty() ? code : worse(code, ExitCode::environment);
}

void add_common(const Arguments& app, const std::shared_ptr<MeasureOptions>& options) {
    app.add_option("--versions", options->versions, "Only releases that fit, written as for pip: '>=1.13'")
        .type_name("SPEC");
    add_index_options(app, *options, *options);
    app.add_flag("--accept", options->accept, "Write rows that contradict known ones too, and exit 0");
}

}  // namespace

Action add_facts_measure(const Arguments& app) {
    auto options = std::make_shared<MeasureOptions>();
    app.require_subcommand();
    app.footer(
        "Reads parts of the wheels by HTTP range requests, downloads none and installs nothing. Rows go to "
        "--out as an\n"
        "overlay folder; where they contradict known rows both are shown and the exit code is 1. What was "
        "seen is kept\n"
        "in --out: a second run transfers only what is new.\n"
        "Example: cudamatrix facts measure torch --versions '>=2.6'");
    const auto torch = app.add_subcommand(
        "torch", "What torch wheels say of themselves: CUDA, architectures, pythons, pins");
    add_common(torch, options);
    torch.add_option("--arch", options->arch, "Processors, e.g. x86_64,aarch64").show_default();
    torch.add_flag(
        "--held", options->held,
        "Also what its libraries really hold: the whole wheel is read as it comes, checked against "
        "its sha256, and not kept");
    torch.footer(
        "--held gives rows of torch_libraries, for libraries that the table knows by name: SASS and PTX by "
        "compute\n"
        "capability, every byte searched. 800 MB of a wheel come over the network; what was read once is "
        "remembered.\n"
        "Example: cudamatrix facts measure torch --versions '>=1.13' --out my-facts");
    const auto package =
        app.add_subcommand("package", "What other packages demand, from the METADATA of their wheels");
    package.add_option("NAME", options->packages,
                       "Packages such as torchvision xformers; none with --missing: all that lack it");
    add_common(package, options);
    package.add_flag("--missing", options->missing, "Only releases whose row was listed but never opened");
    package.footer("Example: cudamatrix facts measure package torchvision xformers --versions '>=0.20'");
    const auto toolkit =
        app.add_subcommand("toolkit", "Releases of the CUDA toolkit, and what their compilers take");
    add_common(toolkit, options);
    toolkit.add_flag(
        "--execute", options->execute,
        "Run each ptxas, from a wheel that is read whole and checked against its sha256, to see which "
        "GPUs and which PTX it takes");
    toolkit.footer(
        "Rows of cuda_releases from the meta packages cuda-toolkit, and of cuda_toolkits from the compiler "
        "of the newest\n"
        "release of each minor: the newest gcc and clang that its headers take and, with --execute, SASS "
        "targets and the\n"
        "highest PTX. Without --execute nothing of a wheel is run, and a minor that no fact knows gets no "
        "row.\n"
        "Example: cudamatrix facts measure toolkit --versions '>=13' --execute --out my-facts");
    return [options, torch, package, toolkit](const World& world) -> Result<ExitCode> {
        options->is_torch = torch.parsed();
        options->is_toolkit = toolkit.parsed();
        if (package.parsed() && options->packages.empty() && !options->missing) {
            return input_failure("no package is named", "name one, e.g. torchvision, or give --missing");
        }
        return perform(*options, world);
    };
}

}  // namespace cudamatrix
