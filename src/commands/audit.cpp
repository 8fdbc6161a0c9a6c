#include "advise/audit/audit.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>

#include "base/file.hpp"
#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/look.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"
#include "report/audit.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestFile = 16u << 20;
constexpr std::string_view kStdin = "-";

struct MachineOption {
    Field field;
    std::string_view help;
};
constexpr std::array kMachine{
    MachineOption{Field::driver, "The host's driver: 550.54.15, or a branch (570)"},
    MachineOption{Field::gpu, "The GPU: T4, \"RTX 4090\""},
    MachineOption{Field::compute, "Its compute capability: 8.6"},
    MachineOption{Field::toolkit, "Version of nvidia-container-toolkit on the host"},
    MachineOption{Field::arch, "Processor that the images are for: x86_64 or aarch64"}};

struct AuditOptions {
    std::vector<std::string> paths;
    std::array<std::string, kMachine.size()> machine;
    std::vector<std::string> arguments;
    std::string target, facts, on, look, format, out, fail_on = "rejected";
    bool verbose = false;
};

Result<std::vector<std::pair<Field, Value>>> machine_of(const AuditOptions& options, const Facts& facts,
                                                        const World& world) {
    const auto spelling = said_spellings(facts, world);
    std::vector<std::pair<Field, Value>> out;
    for (std::size_t i = 0; i < kMachine.size(); ++i) {
        const auto& written = options.machine[i];
        if (written.empty()) continue;
        const auto field = kMachine[i].field;
        const auto meant = spelling(field, written);
        auto value = value_from_text(field, meant.empty() ? written : meant);
        if (const auto* problem = std::get_if<ValueProblem>(&value))
            return input_failure(fmt::format("--{}: {}", info(field).name, problem->message), problem->fix);
        auto made = std::get<Value>(std::move(value));
        made.where.file = fmt::format("--{}", info(field).name);
        out.emplace_back(field, std::move(made));
    }
    return out;
}

Result<std::map<std::string, std::string>> arguments_of(const AuditOptions& options) {
    std::map<std::string, std::string> out;
    for (const auto& text : options.arguments) {
        const auto equals = text.find('=');
        if (equals == 0 || equals == std::string::npos)
            return input_failure(fmt::format("invalid --build-arg {}: expected NAME=VALUE", in_quotes(text)));
        out[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return out;
}

// Files, those below folders, the standard input, and images.
struct Targets {
    std::vector<audit::Input> files;
    std::vector<std::string> images;
};

Result<Targets> targets_of(const AuditOptions& options) {
    Targets out;
    const auto add = [&](const std::filesystem::path& path) -> Status {
        CM_TRY_ASSIGN(auto text, file::read(path, kLargestFile));
        out.files.push_back({path.lexically_normal().generic_string(), std::move(text)});
        return Done{};
    };
    for (const auto& named : options.paths) {
        std::error_code error;
        if (named == kStdin) {
            out.files.push_back(
                {std::string(kStdin), std::string(std::istreambuf_iterator<char>(std::cin), {})});
        } else if (std::filesystem::is_directory(named, error)) {
            CM_TRY_ASSIGN(const auto below, audit::files_below(named));
            for (const auto& path : below) {
                CM_TRY(add(path));
            }
            if (below.empty())
                return input_failure(
                    fmt::format(
                        "{} holds no Dockerfile, compose file, requirements, lock file or environment",
                        text::printable(named)),
                    "name a file");
        } else if (std::filesystem::exists(named, error)) {
            CM_TRY(add(named));
        } else if (const auto image = parse_image_reference(named);
                   image.ok() && named.find(':') != std::string::npos) {
            out.images.push_back(named);
        } else {
            return input_failure(
                fmt::format("{}: no such file, and no image with a tag", text::printable(named)),
                "name a file, a folder, an image (nvidia/cuda:12.4.1-devel-ubuntu22.04), or - for the standard input");
        }
    }
    return out;
}

Result<ExitCode> perform(const AuditOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world, options.on));
    const auto today = options.on.empty() ? world.today : options.on;
    audit::Options how;
    CM_TRY_ASSIGN(how.machine, machine_of(options, facts, world));
    CM_TRY_ASSIGN(how.arguments, arguments_of(options));
    how.target = options.target;
    how.today = today;
    how.all_packages = !options.look.empty();
    CM_TRY_ASSIGN(const auto targets, targets_of(options));
    const audit::ReadFile read = [](const std::filesystem::path& path) -> std::optional<std::string> {
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) return {};
        auto text = file::read(path, kLargestFile);
        return text.ok() ? std::optional(std::move(text).value()) : std::nullopt;
    };
    auto found = audit::read_stacks(targets.files, facts, how, read);
    for (const auto& image : targets.images)
        found.stacks.push_back(audit::stack_of_image(image, facts, how));

    std::vector<std::unique_ptr<Loaded>> judged;
    report::AuditReport report{found,
                               {},
                               {},
                               tool_info(facts, today),
                               {world.colour_out, world.columns, world.has_columns, options.verbose},
                               current_folder()};
    std::vector<const audit::Stack*> known;
    for (const auto& stack : found.stacks) {
        judged.push_back(std::unique_ptr<Loaded>(new Loaded{stack.matrix, facts, {}, today, {}}));
        auto& loaded = *judged.back();
        if (!stack.matrix.set.empty()) {
            known.push_back(&stack);
            if (!options.look.empty()) {
                CM_TRY(look(options.facts, world, options.look == kLookDeep, loaded));
            }
            JudgeOptions as_of;
            as_of.today = today;
            as_of.on_progress = watched(world);
            CM_TRY_ASSIGN(loaded.judgement, judge_whole(loaded.matrix, loaded.facts, as_of));
            CM_TRY(use_fixes_that_work(loaded, world));
        }
        report.stacks.push_back({stack, loaded.judgement});
    }
    if (!known.empty()) report.matrix = audit::matrix_text(known, "audited");
    warn_of_age(report.tool, world);
    CM_TRY(publish(report, "audit", options.format, options.out,
                   report::format_named(report::audit_formats(), options.format)->write));
    if (!options.out.empty() && !report.matrix.empty()) {
        CM_TRY(file::write(std::filesystem::path(options.out) / "audit.yaml", report.matrix));
    }
    const auto lines = audit::lines_of(found, report.stacks);
    const auto fails = [&](const audit::Line& line) {
        if (options.fail_on == "never") return false;
        if (line.severity == Severity::error) return true;
        if (options.fail_on == "rejected") return false;
        if (line.severity == Severity::unknown) return true;
        return options.fail_on == "degraded" && line.severity == Severity::warning;
    };
    return std::ranges::any_of(lines, fails) ? ExitCode::findings : ExitCode::success;
}

}  // namespace

Action add_audit(const Arguments& app) {
    auto options = std::make_shared<AuditOptions>();
    app.add_option("PATH", options->paths, "Files, folders, images with a tag, or - for the standard input")
        .required();
    for (std::size_t i = 0; i < kMachine.size(); ++i) {
        app.add_option("--" + std::string(info(kMachine[i].field).name), options->machine[i],
                       std::string(kMachine[i].help))
            .type_name("VALUE");
    }
    app.add_option("--build-arg", options->arguments, "A value for an ARG of Dockerfiles; may be given again")
        .type_name("NAME=VALUE")
        .one_value_each();
    app.add_option("--target", options->target,
                   "The stage of Dockerfiles; without it each stage on which no other stands")
        .type_name("STAGE");
    add_facts_folder(app, options->facts);
    add_day(app, options->on);
    add_look(app, options->look);
    add_format(app, options->format, report::names_of(report::audit_formats()));
    add_report_folder(app, options->out);
    app.add_option(
           "--fail-on", options->fail_on,
           "Exit code 1 where a line is an error (rejected), unknown too (unknown), or a warning too (degraded); never: nothing")
        .one_of({"rejected", "unknown", "degraded", "never"})
        .show_default();
    app.add_flag("-v,--verbose", options->verbose,
                 "Each line of the file, the facts behind what is said of it, and notes");
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
