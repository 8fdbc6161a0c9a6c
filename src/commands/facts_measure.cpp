// `facts measure`: rows of facts written by looking into the wheels of an index.
#include "commands/index_options.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "commands/common.hpp"
#include "look/measure/measure.hpp"
#include "look/measure/refresh.hpp"
#include "look/measure/toolkit.hpp"
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
    const auto image =
        app.add_subcommand("image", "What images say of themselves: processors and CUDA, from a registry");
    image.add_option("IMAGE", options->packages, "References with a tag: registry.example.org/team/base:1.4")
        .required();
    add_index_options(image, *options, *options);
    image.add_flag("--accept", options->accept, "Write rows that contradict known ones too, and exit 0");
    image.footer(
        "Reads the manifest and one configuration, no layer. Credentials of docker, podman or netrc are "
        "used.\n"
        "With the rows, `check --facts` knows that the tag is there, for which processors, and its CUDA.\n"
        "Example: cudamatrix facts measure image registry.example.org/team/base:1.4 --out my-facts");
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
    return [options, torch, package, image, toolkit](const World& world) -> Result<ExitCode> {
        options->is_torch = torch.parsed();
        options->is_toolkit = toolkit.parsed();
        options->is_image = image.parsed();
        if (package.parsed() && options->packages.empty() && !options->missing) {
            return input_failure("no package is named", "name one, e.g. torchvision, or give --missing");
        }
        return perform(*options, world);
    };
}

// `facts refresh`: what indexes and archives have that the facts do not know, as an overlay of rows.

namespace {

struct RefreshOptions : IndexOptions, measure::RefreshRequest {};

// --only names what can be looked for.
Status known_names(const RefreshOptions& options, const Facts& facts) {
    auto names = measure::known_packages(facts);
    names.emplace_back("torch");
    names.emplace_back(measure::kToolkitPackage);
    for (const auto& row : facts.rows("toolkit_sources")) {
        if (row.text("cuda_from") == "archive") names.emplace_back(row.text("package"));
    }
    for (const auto& row : facts.rows("image_repositories"))
        names.emplace_back(row.text("repository"));
    for (const auto& name : options.only) {
        if (std::ranges::find(names, name) != names.end()) continue;
        const auto near = text::did_you_mean(name, names);
        return input_failure(
            fmt::format("--only: the facts know no package or repository '{}'{}", text::printable(name),
                        near ? fmt::format(" (did you mean {}?)", *near) : ""),
            "a package of `cudamatrix facts show package_releases`, torch, cuda-toolkit, or a repository "
            "of `cudamatrix facts show image_repositories`");
    }
    return Done{};
}

Result<ExitCode> perform(const RefreshOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world));
    CM_TRY(known_names(options, facts));
    CM_TRY_ASSIGN(auto http, open_http(options.mirrors, options.ca_bundle, world));
    measure::RefreshRequest request = options;
    CM_TRY(complete(request, world));
    CM_TRY_ASSIGN(const auto report, measure::refresh(request, facts, *http));
    const auto& format = *report::format_named(report::measure_formats(), options.format);
    print(format.write_refresh({report, facts, options.out}));
    if (report.places == 0 || !report.not_measured.empty()) return ExitCode::environment;
    return report.changes.empty() ? ExitCode::success : ExitCode::findings;
}

}  // namespace

Action add_facts_refresh(const Arguments& app) {
    auto options = std::make_shared<RefreshOptions>();
    add_index_options(app, *options, *options);
    app.add_option(
           "--only", options->only,
           "Only these projects (torch, transformers, nvidia-cuda-toolkit ...) and image repositories "
           "(docker.io/nvidia/cuda ...); default: all that the facts know")
        .delimiter(',')
        .type_name("NAME,...");
    app.add_option("--archive", options->archive,
                   "The Debian archive to ask, as apt's sources name it: its address up to /dists")
        .type_name("URL");
    app.footer(
        "Asks the default index for torch, CUDA toolkits and every package that the facts know, the per-CUDA "
        "indexes of torch,\n"
        "with --archive the suites of Debian that supply a toolkit, and the registries of the images that "
        "families are\n"
        "built on. What is new or has wheels for other "
        "pythons than before is "
        "looked into as\n"
        "`facts measure` does, and becomes rows in --out, an overlay to review; so do releases that were "
        "yanked, and other\n"
        "versions of a toolkit in an archive. Of new tags of images the configuration is read, no layer "
        "(credentials of\n"
        "docker, podman or netrc are used). Vanished releases, and wheels with another sha256 than the facts "
        "were read from,\n"
        "are listed.\n"
        "What the compiler of a new CUDA takes is measured by `facts measure toolkit --execute`.\n"
        "Pages are kept in --out/pages: those that an index calls unchanged (ETag) are not transferred "
        "again.\n"
        "Exit code 1 when anything of that is so, 0 when nothing is, 3 when something new could not be "
        "measured or no place\n"
        "could be reached; places that could not are listed by name.\n"
        "Example: cudamatrix facts refresh --only torch,torchvision --out my-facts");
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
