// `facts measure`: rows of facts written by looking into the wheels of an index.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/facts_measure.hpp"
#include "facts/pep440.hpp"
#include "measure/job.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;
using measure::Compared;
using measure::Standing;

struct Options {
    std::vector<std::string> packages;
    std::string versions;
    std::string index;
    std::string arch = "x86_64,aarch64";
    std::string facts;
    std::string out = "cudamatrix-facts";
    std::string ca_bundle;
    std::vector<std::string> mirrors;
    std::string format = "text";
    unsigned jobs = 6;
    bool declared = false;
    bool accept = false;
    bool missing = false;
    bool is_torch = false;
};

struct Report {
    std::string index;
    std::vector<Compared> rows;
    std::vector<std::string> not_measured;
    std::size_t remembered = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;

    [[nodiscard]] std::size_t count(Standing standing) const {
        return static_cast<std::size_t>(std::count_if(
            rows.begin(), rows.end(), [&](const Compared& row) { return row.standing == standing; }));
    }
};

constexpr std::string_view kMemory = "measured.jsonl";

Result<url::Mirrors> mirrors_of(const std::vector<std::string>& texts) {
    url::Mirrors mirrors;
    for (const auto& text : texts) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || !url::parse(text.substr(0, equals)) ||
            !url::parse(text.substr(equals + 1)))
            return input_failure(
                fmt::format("--mirror: '{}' is no pair of URLs", url::shown(text)),
                "write --mirror https://index.example.org=https://mirror.example.org/python");
        mirrors.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return mirrors;
}

Result<std::vector<std::string>> arches_of(const std::string& text) {
    auto arches = text::split(text, ',');
    for (const auto& arch : arches) {
        if (arch != "x86_64" && arch != "aarch64")
            return input_failure(fmt::format(
                "--arch: '{}' is not known: x86_64 and aarch64 would be accepted", text::printable(arch)));
    }
    return arches;
}

bool lacks_requires(const Row& row) {
    return row.text("confidence") == "measured" && !row.has("requires");
}

// The packages that were named, or with --missing alone all that have a row which was listed but not opened.
std::vector<std::string> packages_of(const Options& options, const Facts& facts) {
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

bool wanted(const Options& options, const pep440::Specifiers& versions, const measure::Group& group,
            std::string_view package, const Facts& facts) {
    const auto version = pep440::Version::parse(group.version);
    if (!version || group.wheels.empty() || !versions.admits(version->without_local())) return false;
    const auto yanked = [](const IndexFile& file) { return file.yanked; };
    if (options.missing) {
        const auto row = facts.row(fmt::format("package-{}-{}", package, group.version));
        return row && lacks_requires(*row);
    }
    return !version->is_prerelease() && !std::all_of(group.wheels.begin(), group.wheels.end(), yanked);
}

Result<std::vector<measure::Task>> tasks_of(const Options& options, const std::string& index,
                                            const Facts& facts, Http& http, Report& report) {
    const auto versions = pep440::Specifiers::parse(options.versions);
    if (!versions)
        return input_failure(
            fmt::format("--versions: '{}' is no version specifier", text::printable(options.versions)),
            "write it as pip does: '>=1.13,<3'");
    const auto arches = arches_of(options.arch);
    if (!arches.ok()) return arches.failure();
    HttpConnection connection(http);
    std::vector<measure::Task> tasks;
    for (const auto& package : packages_of(options, facts)) {
        const auto files = project_files(connection, index, package);
        if (!files.ok()) {
            if (options.packages.size() <= 1 && !options.missing) return files.failure();
            report.not_measured.push_back(files.failure().diagnostics.front().message);
            continue;
        }
        auto groups = options.is_torch ? measure::torch_groups(files.value(), arches.value(), facts)
                                       : measure::package_groups(files.value(), package, facts);
        for (auto& group : groups) {
            if (wanted(options, *versions, group, package, facts))
                tasks.push_back({package, options.is_torch, std::move(group)});
        }
    }
    return tasks;
}

void show_progress(std::size_t done, std::size_t all, const measure::Task& task, const measure::Seen& seen) {
    const auto name = text::printable(task.group.chosen.name);
    if (!seen.look.ok()) {
        fmt::print(stderr, "[{}/{}] {}: {}\n", done, all, name,
                   text::printable(seen.look.failure().diagnostics.front().message));
    } else if (seen.remembered) {
        fmt::print(stderr, "[{}/{}] {}: known\n", done, all, name);
    } else {
        fmt::print(stderr, "[{}/{}] {}: {}, {:.1f} s\n", done, all, name, text::human_bytes(seen.look->bytes),
                   static_cast<double>(seen.took.count()) / 1000);
    }
}

void add_rows(const Options& options, const measure::Task& task, const measure::Look& look,
              const Facts& facts, Report& report) {
    std::vector<measure::MeasuredRow> rows;
    if (task.torch) {
        auto several = measure::torch_rows(task.group, look, options.index.empty(), facts);
        if (!several.ok())
            return report.not_measured.push_back(several.failure().diagnostics.front().message);
        rows = std::move(several).value();
    } else {
        auto one = measure::package_row(task.group, look, task.package);
        if (!one.ok()) return report.not_measured.push_back(one.failure().diagnostics.front().message);
        rows.push_back(std::move(one).value());
    }
    for (auto& row : rows) {
        const auto twice = std::any_of(report.rows.begin(), report.rows.end(),
                                       [&](const Compared& other) { return other.row.id == row.id; });
        if (!twice) report.rows.push_back(measure::compare(std::move(row), facts));
    }
}

Status write_rows(const Options& options, const Report& report, std::string_view today) {
    std::vector<measure::MeasuredRow> rows;
    for (const auto& each : report.rows) {
        if (each.standing != Standing::contradicted || options.accept) rows.push_back(each.row);
    }
    for (const auto& [table, text] : measure::yaml_tables(rows, today)) {
        if (auto written = file::write(fs::path(options.out) / (table + ".yaml"), text); !written.ok())
            return written.failure();
    }
    return Done{};
}

std::string text_report(const Options& options, const Report& report, const Facts& facts) {
    std::string out;
    for (const auto& each : report.rows) {
        if (each.standing != Standing::contradicted) continue;
        const auto known = facts.row(each.row.id);
        out += fmt::format("{}: measured and known disagree\n", each.row.id);
        for (const auto& column : each.contradicted)
            out += fmt::format("  measured  {}\n  known     {}\n", measure::shown(each.row, column),
                               measure::shown(*known, column));
        out +=
            fmt::format("  measured  {}\n  known     {} ({}, as of {})\n", measure::shown(each.row, "source"),
                        measure::shown(*known, "source"), known->text("confidence"), known->ref().as_of);
    }
    for (const auto& each : report.not_measured)
        out += fmt::format("not measured: {}\n", each);
    out += fmt::format("{}: {} new, {} filled, {} confirmed, {} contradicted, {} not measured\n",
                       text::count(report.rows.size(), "row"), report.count(Standing::fresh),
                       report.count(Standing::filled), report.count(Standing::confirmed),
                       report.count(Standing::contradicted), report.not_measured.size());
    out += fmt::format("{} over the network in {}, {} known from before\n", text::human_bytes(report.bytes),
                       text::count(report.requests, "request"), text::count(report.remembered, "wheel"));
    out += fmt::format("rows: {} (cudamatrix check matrix.yaml --facts {})\n", text::printable(options.out),
                       text::printable(options.out));
    if (report.count(Standing::contradicted) != 0 && !options.accept)
        out += "contradicting rows were left out: --accept writes them\n";
    return out;
}

Json row_json(const Compared& each, const Facts& facts) {
    constexpr std::string_view names[] = {"new", "filled", "confirmed", "contradicted"};
    Json json;
    json["table"] = each.row.table;
    json["id"] = each.row.id;
    json["standing"] = std::string(names[static_cast<std::size_t>(each.standing)]);
    for (const auto& cell : each.row.cells) {
        if (cell.is_list) {
            json["columns"][cell.name] = cell.values;
        } else {
            json["columns"][cell.name] = cell.values.front();
        }
    }
    json["filled"] = each.filled;
    json["contradicted"] = Json::object();
    const auto known = facts.row(each.row.id);
    for (const auto& column : each.contradicted) {
        const auto values = known->list(column);
        json["contradicted"][column] = std::vector<std::string>(values.begin(), values.end());
    }
    return json;
}

std::string json_report(const Report& report, const Facts& facts) {
    Json json;
    json["schema_version"] = 1;
    json["rows"] = Json::array();
    for (const auto& each : report.rows)
        json["rows"].push_back(row_json(each, facts));
    json["not_measured"] = report.not_measured;
    json["bytes"] = report.bytes;
    json["requests"] = report.requests;
    json["known_from_before"] = report.remembered;
    return to_text(json) + "\n";
}

Result<ExitCode> perform(const Options& options, const World& world) {
    const auto facts = load_facts(options.facts);
    if (!facts.ok()) return facts.failure();
    auto mirrors = mirrors_of(options.mirrors);
    if (!mirrors.ok()) return mirrors.failure();
    HttpOptions settings;
    settings.environment = world.environment;
    settings.ca_bundle = options.ca_bundle;
    settings.mirrors = std::move(mirrors).value();
    settings.cancellation = world.cancellation;
    auto http = Http::open(std::move(settings));
    if (!http.ok()) return std::move(http).failure();
    auto index = options.index.empty() ? default_index(world.environment, world.cancellation)
                                       : Result<std::string>(options.index);
    if (!index.ok()) return std::move(index).failure();
    if (auto made = file::make_directories(options.out); !made.ok()) return made.failure();
    auto memory = measure::Memory::open(fs::path(options.out) / kMemory);
    if (!memory.ok()) return std::move(memory).failure();

    Report report;
    const auto tasks = tasks_of(options, index.value(), facts.value(), **http, report);
    if (!tasks.ok()) return tasks.failure();
    if (tasks->empty() && report.not_measured.empty())
        return input_failure("no release on the index fits what was asked for", "see --versions and --arch");
    const auto seen = measure::look_into_all(**http, tasks.value(), **memory, options.jobs, show_progress);
    if (world.cancellation != nullptr && world.cancellation->requested()) return ExitCode::interrupted;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (seen[i].remembered) ++report.remembered;
        if (seen[i].look.ok()) {
            add_rows(options, (*tasks)[i], seen[i].look.value(), facts.value(), report);
        } else {
            report.not_measured.push_back(seen[i].look.failure().diagnostics.front().message);
        }
    }
    report.bytes = (*http)->transferred();
    report.requests = (*http)->requests();
    if (auto written = write_rows(options, report, world.today); !written.ok()) return written.failure();
    print(options.format == "json" ? json_report(report, facts.value())
                                   : text_report(options, report, facts.value()));
    auto code = ExitCode::success;
    if (report.count(Standing::contradicted) != 0 && !options.accept) code = ExitCode::findings;
    return report.not_measured.empty() ? code : worse(code, ExitCode::environment);
}

void add_common(CLI::App& app, const std::shared_ptr<Options>& options) {
    app.add_option("--versions", options->versions, "Only releases that fit, written as for pip: '>=1.13'")
        ->type_name("SPEC");
    app.add_option("--index", options->index,
                   "The index (PEP 503 or 691); default: the one that pip would ask")
        ->type_name("URL");
    app.add_option("--out", options->out,
                   "Folder for the rows, an overlay for --facts, and for what was seen")
        ->type_name("DIR")
        ->capture_default_str();
    app.add_option("--facts", options->facts, "Folder of fact tables laid over the embedded ones")
        ->type_name("DIR");
    app.add_option("--mirror", options->mirrors, "FROM=TO: URLs that start with FROM are asked at TO")
        ->type_name("URL=URL");
    app.add_option(
           "--ca-bundle", options->ca_bundle,
           "PEM file of the site; default: PIP_CERT, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE")
        ->type_name("FILE");
    app.add_option("--jobs", options->jobs, "Wheels that are read at once")
        ->check(CLI::Range(1U, 32U))
        ->capture_default_str();
    app.add_flag("--accept", options->accept, "Write rows that contradict known ones too, and exit 0");
    add_format(app, options->format, {"text", "json"});
}

}  // namespace

Action add_facts_measure(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.require_subcommand(1);
    app.footer(
        "Reads parts of the wheels by HTTP range requests, downloads none and installs nothing. Rows go to "
        "--out as an\n"
        "overlay folder; where they contradict known rows both are shown and the exit code is 1. What was "
        "seen is kept\n"
        "in --out: a second run transfers only what is new.\n"
        "Example: cudamatrix facts measure torch --versions '>=2.6'");
    auto* torch = app.add_subcommand(
        "torch", "What torch wheels say of themselves: CUDA, architectures, pythons, pins");
    add_common(*torch, options);
    torch->add_option("--arch", options->arch, "Processors, e.g. x86_64,aarch64")->capture_default_str();
    torch->add_flag("--declared", options->declared,
                    "What the wheel declares, about 10 MB of each (the default)");
    torch->footer("Example: cudamatrix facts measure torch --versions '>=1.13' --out my-facts");
    auto* package =
        app.add_subcommand("package", "What other packages demand, from the METADATA of their wheels");
    package->add_option("NAME", options->packages,
                        "Packages such as torchvision xformers; none with --missing: all that lack it");
    add_common(*package, options);
    package->add_flag("--missing", options->missing, "Only releases whose row was listed but never opened");
    package->footer("Example: cudamatrix facts measure package torchvision xformers --versions '>=0.20'");
    return [options, torch, package](const World& world) {
        options->is_torch = torch->parsed();
        if (package->parsed() && options->packages.empty() && !options->missing) {
            return report_failure(
                input_failure("no package is named", "name one, e.g. torchvision, or give --missing"), world);
        }
        const auto code = perform(*options, world);
        return code.ok() ? code.value() : report_failure(code.failure(), world);
    };
}

}  // namespace cudamatrix
