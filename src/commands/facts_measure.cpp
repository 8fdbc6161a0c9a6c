// `facts measure`: rows of facts written by looking into the wheels of an index.

#include <algorithm>
#include <iterator>

#include "base/file.hpp"
#include "base/memory.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/facts_measure.hpp"
#include "commands/measure_toolkit.hpp"
#include "commands/measured.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/held.hpp"
#include "look/measure/job.hpp"
#include "look/measure/rows.hpp"
#include "registry/page_cache.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> arches_of(const std::string& text) {
    auto arches = text::split(text, ',');
    for (const auto& arch : arches) {
        if (arch != "x86_64" && arch != "aarch64")
            return input_failure(
                fmt::format("invalid --arch '{}': expected x86_64 or aarch64", text::printable(arch)));
    }
    return arches;
}

bool lacks_requires(const Row& row) {
    return row.text("confidence") == "measured" && !row.has("requires");
}

// The packages that were named, or with --missing alone all that have a row which was listed but not opened.
std::vector<std::string> packages_of(const MeasureOptions& options, const Facts& facts) {
    if (options.is_torch) return {"torch"};
    std::vector<std::string> names;
    for (const auto& name : options.packages)
        names.push_back(pep440::canonical_name(name));
    if (names.empty()) {
        for (const auto& row : facts.table("package_releases")->rows) {
            if (lacks_requires(row)) names.emplace_back(row.text("package"));
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

bool wanted(const MeasureOptions& options, const pep440::Specifiers& versions, const measure::Group& group,
            std::string_view package, const Facts& facts) {
    const auto version = pep440::Version::parse(group.version);
    if (!version || group.wheels.empty() || !versions.admits(version->without_local())) return false;
    if (options.missing) {
        const auto row = facts.row(fmt::format("package-{}-{}", package, group.version));
        return row && lacks_requires(*row);
    }
    return !version->is_prerelease() && !measure::yanked_because(group);
}

Result<std::vector<measure::Task>> tasks_of(const MeasureOptions& options, const std::string& index,
                                            const Facts& facts, Http& http, measure::Measured& measured) {
    const auto versions = versions_of(options);
    if (!versions.ok()) return versions.failure();
    const auto arches = arches_of(options.arch);
    if (!arches.ok()) return arches.failure();
    HttpConnection connection(http);
    const PageCache cache(fs::path(options.out) / kPagesFolder);
    std::vector<measure::Task> tasks;
    for (const auto& package : packages_of(options, facts)) {
        const auto files = project_files(connection, index, package, &cache);
        if (!files.ok()) {
            if (options.packages.size() <= 1 && !options.missing) return files.failure();
            measured.not_measured.push_back(files.failure().diagnostics.front().message);
            continue;
        }
        auto groups = options.is_torch ? measure::torch_groups(files.value(), arches.value(), facts)
                                       : measure::package_groups(files.value(), package, facts);
        for (auto& group : groups) {
            if (wanted(options, *versions, group, package, facts))
                tasks.push_back({package, options.is_torch, std::move(group), options.held});
        }
    }
    return tasks;
}

void add_rows(const MeasureOptions& options, const measure::Task& task, const measure::Look& look,
              const Facts& facts, measure::Measured& measured) {
    std::vector<measure::MeasuredRow> rows;
    if (task.torch) {
        auto several = measure::torch_rows(task.group, look, options.index.empty(), facts);
        if (!several.ok())
            return measured.not_measured.push_back(several.failure().diagnostics.front().message);
        rows = std::move(several).value();
        auto libraries = measure::library_rows(rows.front(), look, facts, measured.other_libraries);
        rows.insert(rows.end(), std::move_iterator(libraries.begin()), std::move_iterator(libraries.end()));
    } else {
        auto one = measure::package_row(task.group, look, task.package);
        if (!one.ok()) return measured.not_measured.push_back(one.failure().diagnostics.front().message);
        rows.push_back(std::move(one).value());
    }
    for (auto& row : rows)
        measured.add(std::move(row), facts);
}

// Wheels of torch and of other packages.
Status measure_packages(const MeasureOptions& options, const std::string& index, const Facts& facts,
                        Http& http, measure::Memory& memory, measure::Measured& measured) {
    const auto tasks = tasks_of(options, index, facts, http, measured);
    if (!tasks.ok()) return tasks.failure();
    if (tasks->empty() && measured.not_measured.empty())
        return input_failure("no release on the index fits what was asked for", "see --versions and --arch");
    if (options.held) {
        give_large_blocks_back();
        fmt::print(stderr, "measure: reading {} to the last byte\n", text::count(tasks->size(), "wheel"));
    }
    const auto seen = measure::look_into_all(http, tasks.value(), memory, options.jobs, show_progress);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (measured.note(seen[i])) add_rows(options, (*tasks)[i], seen[i].look.value(), facts, measured);
    }
    auto& others = measured.other_libraries;
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return Done{};
}

Result<ExitCode> perform(const MeasureOptions& options, const World& world) {
    const auto facts = load_facts(options.facts, world);
    if (!facts.ok()) return facts.failure();
    auto http = open_http(options.mirrors, options.ca_bundle, world);
    if (!http.ok()) return std::move(http).failure();
    auto index = index_of(options, world);
    if (!index.ok()) return std::move(index).failure();
    if (auto made = file::make_directories(options.out); !made.ok()) return made.failure();
    auto memory = measure::Memory::open(fs::path(options.out) / kMeasuredFile);
    if (!memory.ok()) return std::move(memory).failure();

    measure::Measured measured;
    const auto look = options.is_toolkit ? measure_toolkits : measure_packages;
    if (auto looked = look(options, *index, *facts, **http, **memory, measured); !looked.ok())
        return looked.failure();
    if (world.cancellation != nullptr && world.cancellation->requested()) return ExitCode::interrupted;
    measured.bytes = (*http)->transferred();
    measured.requests = (*http)->requests();
    if (auto written = write_rows(options, measured, world.today); !written.ok()) return written.failure();
    const auto& format = *report::format_named(report::measure_formats(), options.format);
    print(format.write({measured, *facts, options.out, options.accept}));
    auto code = ExitCode::success;
    const bool contradicted = measured.count(measure::Standing::contradicted) != 0 && !options.accept;
    if (contradicted || !measured.left_out.empty()) code = ExitCode::findings;
    return measured.not_measured.empty() ? code : worse(code, ExitCode::environment);
}

void add_common(const Arguments& app, const std::shared_ptr<MeasureOptions>& options) {
    app.add_option("--versions", options->versions, "Only releases that fit, written as for pip: '>=1.13'")
        .type_name("SPEC");
    add_index_options(app, *options);
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
    torch.add_flag("--declared", options->declared,
                   "What the wheel declares, about 10 MB of each (the default)");
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
    return [options, torch, package, toolkit](const World& world) {
        options->is_torch = torch.parsed();
        options->is_toolkit = toolkit.parsed();
        if (package.parsed() && options->packages.empty() && !options->missing) {
            return report_failure(
                input_failure("no package is named", "name one, e.g. torchvision, or give --missing"), world);
        }
        const auto code = perform(*options, world);
        return code.ok() ? code.value() : report_failure(code.failure(), world);
    };
}

}  // namespace cudamatrix
