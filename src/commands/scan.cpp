#include <algorithm>

#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/index_options.hpp"
#include "commands/scan_target.hpp"
#include "knowledge/facts/lookup.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct ScanOptions {
    std::vector<std::string> targets;
    std::vector<std::string> gpus;
    std::vector<std::string> computes;
    std::vector<std::string> drivers;
    TargetOptions how;
    std::string cell;
    std::string format;
    std::string out;
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
                       std::ranges::any_of(questions, [&](const scan::Question& question) {
                           const auto outcome = scan::answer_to(library, question).outcome;
                           return outcome == scan::Outcome::no_code || outcome == scan::Outcome::no_kernels;
                       });
            }};
}

// With --cell the one target is a matrix, and without devices of their own the cell's are asked for.
Result<std::optional<CellImage>> image_of_cell(ScanOptions& options, const World& world) {
    if (options.cell.empty()) return std::optional<CellImage>{};
    if (options.targets.size() != 1)
        return input_failure("--cell is an id of one matrix, and several targets are given",
                             "cudamatrix scan matrix.yaml --cell ID");
    CM_TRY_ASSIGN(auto image, cell_image(options.targets.front(), options.cell, options.how, world));
    if (options.gpus.empty() && options.computes.empty()) {
        if (!image.compute.empty()) {
            options.computes.push_back(image.compute);
        } else if (!image.gpu.empty()) {
            options.gpus.push_back(image.gpu);
        }
        const bool asks = !options.gpus.empty() || !options.computes.empty();
        if (asks && options.drivers.empty() && !image.driver.empty()) options.drivers.push_back(image.driver);
    }
    return std::optional<CellImage>(std::move(image));
}

Result<ExitCode> scan_all(ScanOptions options, const World& world) {
    give_large_blocks_back();
    CM_TRY_ASSIGN(const auto facts, load_facts(options.how.facts, world));
    CM_TRY_ASSIGN(const auto image, image_of_cell(options, world));
    CM_TRY_ASSIGN(auto asked, questions(options, facts));

    report::ScanReport report;
    report.deep = options.deep;
    report.tool = tool_info(facts, world.today);
    report.text = {world.colour_out, world.columns};
    for (auto& each : asked) {
        report.questions.push_back(std::move(each.question));
        report.question_facts.push_back(std::move(each.facts));
    }
    auto code = ExitCode::success;
    for (const auto& target : options.targets) {
        const scan::Options how{depth_of(options, report.questions), world.cancellation};
        auto found =
            image ? scan_cell(*image, options.how, how) : scan_target(target, options.how, how, world);
        if (!found.ok()) {
            code = worse(code, report_failure(found.failure(), world));
            continue;
        }
        report.answers.push_back(scan::answers(found.value(), report.questions));
        report.scans.push_back(std::move(found).value());
    }
    if (report.scans.empty()) return code;
    report.findings = report::scan_findings(report, ptx_facts(facts));
    if (!report.questions.empty()) warn_of_age(report.tool, world);

    CM_TRY(publish(report, "scan", options.format, options.out,
                   report::format_named(report::scan_formats(), options.format)->write));
    return worse(code, code_of(report));
}

}  // namespace

Action add_scan(const Arguments& app) {
    auto options = std::make_shared<ScanOptions>();
    app.add_option(
           "TARGET", options->targets,
           "Shared library, object, static library, executable, cubin, fat binary, folder, wheel (.whl), "
           "wheel on an index (torch==2.6.0), image (a tar of docker save, an OCI layout, docker:NAME, "
           "podman:NAME, in a registry HOST/NAME:TAG or registry:NAME:TAG), or with --cell a matrix file")
        .required();
    app.add_option("--gpu", options->gpus, "Ask whether there is code for these GPUs, by name")
        .delimiter(',')
        .type_name("NAME,...");
    app.add_option("--compute", options->computes, "Ask for GPUs of these compute capabilities")
        .delimiter(',')
        .type_name("X.Y,...");
    app.add_option("--driver", options->drivers,
                   "Drivers that would have to compile PTX: releases or branches")
        .delimiter(',')
        .type_name("VERSION,...");
    app.add_flag("--deep", options->deep,
                 "Search every byte of every file for containers outside of the usual sections");
    app.add_option("--index", options->how.index,
                   "Index of a wheel that is given as NAME==VERSION (default: the one that pip would ask)")
        .type_name("URL");
    app.add_option("--cell", options->cell,
                   "Scan the built image of this cell of a matrix; without --gpu for its own GPU and driver")
        .type_name("ID");
    options->how.engine.add(app);
    app.add_option("--python", options->how.python,
                   "Its Python, e.g. 3.12 (default: the newest that there is)");
    app.add_option("--arch", options->how.arch, "Its architecture")
        .one_of({"x86_64", "aarch64"})
        .show_default();
    add_connection(app, options->how.mirrors, options->how.ca_bundle);
    add_facts_folder(app, options->how.facts);
    add_format(app, options->format, report::names_of(report::scan_formats()));
    add_report_folder(app, options->out);
    return [options](const World& world) { return scan_all(*options, world); };
}

}  // namespace cudamatrix
