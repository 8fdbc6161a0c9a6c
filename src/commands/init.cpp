#include <filesystem>
#include <memory>
#include <system_error>

#include "advise/audit/audit.hpp"
#include "advise/start/start.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/audit_files.hpp"
#include "commands/common.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/matrix_file.hpp"
#include "matrix/value.hpp"
#include "run/host/host.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kStdout = "-";

struct InitOptions {
    std::vector<std::string> from;
    AuditedMachine machine;
    std::string preset, facts, on, out = "matrix.yaml";
    bool host = false;
};

std::string names_of_presets() {
    std::vector<std::string> out;
    for (const auto& preset : start::presets())
        out.emplace_back(preset.name);
    return text::join(out, ", ");
}

// The values of the machine that runs this, for the rows: its driver and its first GPU.
Result<std::vector<std::pair<Field, Value>>> of_this_machine(const Facts& facts, const World& world) {
    CM_TRY_ASSIGN(const auto empty, read_matrix_text("version: 1\nset: {os: debian12}\n", "--host", {},
                                                     lookup::names_in(facts)));
    auto on = probe::on_machine(empty, probe::look_at(machine_of(world)), facts);
    if (!on.ok()) {
        auto failure = std::move(on).failure();
        failure.diagnostics.front().fix = "say what the machine has: --driver VERSION --gpu NAME";
        return failure;
    }
    std::vector<std::pair<Field, Value>> out;
    for_each_cell(on->matrix, [&](const Cell& cell) {
        for (const auto field : {Field::driver, Field::gpu, Field::arch}) {
            if (const auto* value = cell.get(field); value != nullptr) out.emplace_back(field, *value);
        }
        return false;
    });
    for (auto& [field, value] : out)
        value.where = {"--host", 0, 0, 1};
    return out;
}

// What is written, and what is said of it.
struct Started {
    std::string matrix;
    std::string said;
};

Result<Started> from_files(const InitOptions& options, const Facts& facts, const std::string& today,
                           const World& world) {
    audit::Options how;
    CM_TRY_ASSIGN(how.machine, options.machine.values(facts, world));
    if (options.host) {
        CM_TRY_ASSIGN(auto here, of_this_machine(facts, world));
        how.machine.insert(how.machine.end(), here.begin(), here.end());
    }
    how.today = today;
    CM_TRY_ASSIGN(const auto found, read_audited(options.from, facts, how));
    const auto rows = start::rows_of(found, facts, today, watched(world));
    Started out;
    for (const auto& finding : found.findings)
        out.said += render({finding.severity,
                            finding.where,
                            fmt::format("{} [{}]", finding.message, finding.id),
                            {},
                            finding.fix},
                           {}, world.colour_out);
    for (const auto& row : rows) {
        if (!row.changes.empty())
            out.said += fmt::format("{}: {}; in the matrix: {}\n", text::printable(row.stack), row.verdict,
                                    text::join(row.changes, ", "));
        if (row.row.empty())
            out.said +=
                fmt::format("{}: left out: {}\n", text::printable(row.stack), text::printable(row.why));
    }
    out.matrix = start::matrix_of(rows, "started", text::join(options.from, ", "), today);
    if (out.matrix.empty()) {
        return input_failure(fmt::format("nothing to start from: {} {}", text::join(options.from, ", "),
                                         rows.empty() ? "installs neither torch nor CUDA that can be read"
                                                      : "holds no stack that works, and none is near"),
                             rows.empty()
                                 ? fmt::format("cudamatrix init --preset {}", start::presets().front().name)
                                 : "cudamatrix audit says what is wrong with each");
    }
    return out;
}

Result<Started> from_preset(const InitOptions& options) {
    const auto name = options.preset.empty() ? std::string("training") : options.preset;
    for (const auto& preset : start::presets()) {
        if (preset.name == name) return Started{std::string(preset.text), {}};
    }
    return input_failure(fmt::format("there is no preset {}", in_quotes(name)),
                         "one of " + names_of_presets());
}

Result<ExitCode> start_matrix(const InitOptions& options, const World& world) {
    const bool to_stdout = options.out == kStdout;
    std::error_code error;
    if (!to_stdout && std::filesystem::exists(options.out, error)) {
        return input_failure(fmt::format("{} is there already", text::printable(options.out)),
                             "--out another, or --out - for the standard output");
    }
    if (!options.from.empty() && !options.preset.empty())
        return input_failure("--from and --preset are two ways to start", "one of them");
    if (options.from.empty() && (options.host || options.machine.is_given()))
        return input_failure("a preset names its machines itself",
                             "without --host, --driver and the like; change the file");
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world, options.on));
    const auto& today = options.on.empty() ? world.today : options.on;
    CM_TRY_ASSIGN(const auto started,
                  options.from.empty() ? from_preset(options) : from_files(options, facts, today, world));
    if (to_stdout) {
        print(started.matrix);
        return ExitCode::success;
    }
    CM_TRY(file::write(options.out, started.matrix));
    print(fmt::format("{}{}: written; next: cudamatrix check {}\n", started.said, options.out, options.out));
    return ExitCode::success;
}

}  // namespace

Action add_init(const Arguments& app) {
    auto options = std::make_shared<InitOptions>();
    app.add_option("--from", options->from, "Files, folders or images with a tag, as `audit` takes them")
        .type_name("PATH");
    app.add_option("--preset", options->preset, "One of " + names_of_presets() + "; training without --from")
        .type_name("NAME");
    app.add_flag("--host", options->host, "With --from: on the driver and the GPU of this machine");
    options->machine.add(app);
    app.add_option("--out", options->out, "The file; - is the standard output")
        .type_name("FILE")
        .show_default();
    add_facts_folder(app, options->facts);
    add_day(app, options->on);
    return [options](const World& world) { return start_matrix(*options, world); };
}

}  // namespace cudamatrix
