#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "commands/common.hpp"
#include "facts/lookup.hpp"
#include "report/formats.hpp"
#include "scan/index_wheel.hpp"
#include "scan/wheel.hpp"

namespace cudamatrix {
namespace {

struct ScanOptions {
    std::vector<std::string> targets;
    std::vector<std::string> gpus;
    std::vector<std::string> computes;
    std::vector<std::string> drivers;
    std::string facts;
    std::string format;
    std::string out;
    std::string index;
    std::string ca_bundle;
    std::string python;
    std::string arch = "x86_64";
    bool deep = false;
};

struct Asked {
    scan::Question question;
    std::vector<FactRef> facts;
};

Failure no_such_gpu(const Facts& facts, std::string_view name) {
    const auto near = text::did_you_mean(name, lookup::gpu_names(facts));
    return input_failure(fmt::format("--gpu {}: no fact knows this GPU{}", text::printable(name),
                                     near ? fmt::format(" (did you mean {}?)", *near) : ""),
                         "a name of `cudamatrix facts show gpus`, or its compute capability with --compute");
}

Result<std::vector<Asked>> devices(const ScanOptions& options, const Facts& facts) {
    std::vector<Asked> out;
    for (const auto& name : options.gpus) {
        const auto row = lookup::gpu(facts, name);
        if (!row) return no_such_gpu(facts, name);
        const auto arch = fatbin::parse_arch(row->text("compute"));
        if (!arch) return no_such_gpu(facts, name);
        out.push_back(
            {{fmt::format("{} (compute {})", row->text("name"), row->text("compute")), *arch, {}, {}},
             {row->ref()}});
    }
    for (const auto& compute : options.computes) {
        const auto arch = fatbin::parse_arch(compute);
        if (!arch || arch->variant != fatbin::Variant::base) {
            return input_failure(
                fmt::format("--compute {}: not a compute capability", text::printable(compute)),
                "major and minor of a device, e.g. 7.5 (its a and f targets count by themselves)");
        }
        out.push_back({{"compute " + compute, *arch, {}, {}}, {}});
    }
    return out;
}

// Every device under every driver.
Result<std::vector<Asked>> questions(const ScanOptions& options, const Facts& facts) {
    auto asked = devices(options, facts);
    if (!asked.ok() || options.drivers.empty()) return asked;
    if (asked->empty()) {
        return input_failure("--driver says what becomes of PTX on a GPU, and no GPU is given",
                             "add --gpu T4 or --compute 7.5");
    }
    std::vector<Asked> out;
    for (const auto& each : *asked) {
        for (const auto& name : options.drivers) {
            const auto driver = lookup::driver(facts, name);
            if (!driver) {
                return input_failure(fmt::format("--driver {}: not a driver version", text::printable(name)),
                                     "a release such as 535.183.01, or a branch such as 535");
            }
            auto one = each;
            one.question.driver = "driver " + driver->exact.text();
            if (driver->branch) {
                one.question.ptx_isa = fatbin::parse_ptx_isa(driver->branch->text("ptx_isa"));
                one.facts.push_back(driver->branch->ref());
            }
            out.push_back(std::move(one));
        }
    }
    return out;
}

std::vector<FactRef> ptx_facts(const Facts& facts) {
    const auto row = facts.row("policy-ptx-isa-driver");
    return row ? std::vector<FactRef>{row->ref()} : std::vector<FactRef>{};
}

// What a target could not tell makes the run incomplete.
ExitCode code_of(const report::ScanReport& report) {
    auto code = report.findings.empty() ? ExitCode::success : ExitCode::findings;
    for (const auto& scan : report.scans) {
        if (!scan.not_read.empty()) code = worse(code, ExitCode::environment);
        const bool named = scan.kind == "file";  // a damaged file that the user named, not one among others
        if (named && !scan.libraries.front().error.empty()) code = worse(code, ExitCode::bad_input);
    }
    return code;
}

// A library that seems to have no code for a GPU is searched to its last byte before that is said: some keep
// it outside of the usual sections.
scan::Depth depth_of(const ScanOptions& options, const std::vector<scan::Question>& questions) {
    return {options.deep, [&questions](const scan::Library& library) {
                return library.entries != 0 &&
                       std::any_of(questions.begin(), questions.end(), [&](const scan::Question& question) {
                           const auto outcome = scan::answer_to(library, question).outcome;
                           return outcome == scan::Outcome::no_code || outcome == scan::Outcome::no_kernels;
                       });
            }};
}

Result<scan::Scan> scan_target(const std::string& target, const ScanOptions& options,
                               const scan::Options& how, const World& world) {
    std::error_code error;
    const bool exists = std::filesystem::exists(target, error);
    const auto wanted = scan::parse_requirement(target);
    if (exists || !wanted) {
        return exists && scan::is_wheel_name(target) ? scan::scan_wheel_file(target, how)
                                                     : scan::scan_local(target, how);
    }
    std::string index = options.index;
    if (index.empty()) {
        auto found = default_index(world.environment, world.cancellation);
        if (!found.ok()) return found.failure();
        index = std::move(found).value();
    }
    HttpOptions http_options;
    http_options.environment = world.environment;
    http_options.ca_bundle = options.ca_bundle;
    http_options.cancellation = world.cancellation;
    auto http = Http::open(std::move(http_options));
    if (!http.ok()) return http.failure();
    HttpConnection connection(**http);
    fmt::print(stderr, "scan: reading {} from the index\n", text::printable(target));
    return scan::scan_index_wheel(connection, index, *wanted, {options.python, options.arch}, how);
}

ExitCode scan_all(const ScanOptions& options, const World& world) {
    const auto facts = load_facts(options.facts);
    if (!facts.ok()) return report_failure(facts.failure(), world);
    auto asked = questions(options, facts.value());
    if (!asked.ok()) return report_failure(asked.failure(), world);

    report::ScanReport report;
    report.deep = options.deep;
    report.tool = tool_info(facts.value(), world.today);
    report.text = {world.colour_out, world.columns};
    for (auto& each : *asked) {
        report.questions.push_back(std::move(each.question));
        report.question_facts.push_back(std::move(each.facts));
    }
    auto code = ExitCode::success;
    for (const auto& target : options.targets) {
        auto found =
            scan_target(target, options, {depth_of(options, report.questions), world.cancellation}, world);
        if (!found.ok()) {
            code = worse(code, report_failure(found.failure(), world));
            continue;
        }
        report.answers.push_back(scan::answers(found.value(), report.questions));
        report.scans.push_back(std::move(found).value());
    }
    if (report.scans.empty()) return code;
    report.findings = report::scan_findings(report, ptx_facts(facts.value()));
    if (!report.questions.empty()) warn_of_age(report.tool, world);

    const auto write = report::format_named(report::scan_formats(), options.format)->write;
    print(write(report));
    if (!options.out.empty()) {
        report.text = {};
        const auto written = write_report(options.out, "scan", options.format, write(report));
        if (!written.ok()) return report_failure(written.failure(), world);
    }
    return worse(code, code_of(report));
}

}  // namespace

Action add_scan(CLI::App& app) {
    auto options = std::make_shared<ScanOptions>();
    app.add_option(
           "TARGET", options->targets,
           "Shared library, object, static library, executable, cubin, fat binary, folder, wheel (.whl), "
           "or a wheel on an index: torch==2.6.0")
        ->required();
    app.add_option("--gpu", options->gpus, "Ask whether there is code for these GPUs, by name")
        ->delimiter(',')
        ->type_name("NAME,...");
    app.add_option("--compute", options->computes, "Ask for GPUs of these compute capabilities")
        ->delimiter(',')
        ->type_name("X.Y,...");
    app.add_option("--driver", options->drivers,
                   "Drivers that would have to compile PTX: releases or branches")
        ->delimiter(',')
        ->type_name("VERSION,...");
    app.add_flag("--deep", options->deep,
                 "Search every byte of every file for containers outside of the usual sections");
    app.add_option("--index", options->index,
                   "Index of a wheel that is given as NAME==VERSION (default: the one that pip would ask)")
        ->type_name("URL");
    app.add_option("--python", options->python, "Its Python, e.g. 3.12 (default: the newest that there is)");
    app.add_option("--arch", options->arch, "Its architecture")
        ->check(CLI::IsMember({"x86_64", "aarch64"}))
        ->capture_default_str();
    app.add_option("--ca-bundle", options->ca_bundle, "PEM file with the certificates of your site")
        ->type_name("FILE");
    app.add_option("--facts", options->facts, "Folder of fact tables laid over the embedded ones")
        ->type_name("DIR");
    add_format(app, options->format, report::names_of(report::scan_formats()));
    add_report_folder(app, options->out);
    return [options](const World& world) { return scan_all(*options, world); };
}

}  // namespace cudamatrix
