// `facts refresh`: what indexes and archives have that the facts do not know, as an overlay of rows.

#include <algorithm>

#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/facts_measure.hpp"
#include "commands/index_options.hpp"
#include "look/measure/refresh.hpp"
#include "look/measure/toolkit.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
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
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
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
