#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <system_error>

#include "advise/audit/audit.hpp"
#include "advise/start/start.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/audit_files.hpp"
#include "commands/common.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/solve/suggest.hpp"
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
    std::vector<std::string> hosts;
};

std::string names_of_presets() {
    std::vector<std::string> out;
    for (const auto& preset : start::presets())
        out.emplace_back(preset.name);
    return text::join(out, ", ");
}

using Machine = std::vector<std::pair<Field, Value>>;

// What the matrix is for: driver and GPU of each machine of --host, or what options say of one; one without a
// word where nothing is said.
Result<std::vector<Machine>> machines_of(const InitOptions& options, const Facts& facts, const World& world) {
    CM_TRY_ASSIGN(const auto said, options.machine.values(facts, world));
    if (options.hosts.empty()) return std::vector<Machine>{said};
    CM_TRY_ASSIGN(const auto hosts, named_hosts(options.hosts, world));
    CM_TRY_ASSIGN(const auto empty, read_matrix_text("version: 1\nset: {os: debian12}\n", "--host", {},
                                                     lookup::names_in(facts)));
    auto on = probe::on_machines(empty, hosts, facts);
    if (!on.ok()) {
        auto failure = std::move(on).failure();
        failure.diagnostics.front().fix = "say what the machine has: --driver VERSION --gpu NAME";
        return failure;
    }
    std::vector<Machine> out;
    for_each_cell(on->matrix, [&](const Cell& cell) {
        auto machine = said;
        for (const auto field : {Field::driver, Field::gpu, Field::arch}) {
            if (const auto* value = cell.get(field); value != nullptr) {
                machine.emplace_back(field, *value);
                machine.back().second.where = {"--host", 0, 0, 1};
            }
        }
        out.push_back(std::move(machine));
        return true;
    });
    return out;
}

// What is written, and what is said of it.
struct Started {
    std::string matrix;
    std::string said;
};

// What the rows could not be, or are not as they were found.
std::string said_of(const std::vector<start::Row>& rows) {
    std::string out;
    for (const auto& row : rows) {
        if (!row.changes.empty())
            out += fmt::format("{}: {}; in the matrix: {}\n", text::printable(row.stack), row.verdict,
                               text::join(row.changes, ", "));
        if (row.row.empty())
            out += fmt::format("{}: left out: {}\n", text::printable(row.stack), text::printable(row.why));
    }
    return out;
}

Result<Started> from_files(const InitOptions& options, const Facts& facts, const std::string& today,
                           const World& world) {
    CM_TRY_ASSIGN(const auto machines, machines_of(options, facts, world));
    CM_TRY_ASSIGN(const auto audited, read_audited(options.from));
    Started out;
    std::vector<start::Row> rows;
    std::set<std::string> said;
    for (const auto& machine : machines) {
        audit::Options how;
        how.machine = machine;
        how.today = today;
        const auto found = audited.report(facts, how);
        auto more = start::rows_of(found, facts, today, watched(world));
        rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
        for (const auto& finding : found.findings) {
            auto line = render({finding.severity,
                                finding.where,
                                fmt::format("{} [{}]", finding.message, finding.id),
                                {},
                                finding.fix},
                               {}, world.colour_out);
            if (said.insert(line).second) out.said += line;
        }
    }
    out.said += said_of(rows);
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

// The newest stacks of each machine that `render` makes.
Result<Started> from_machines(const InitOptions& options, const Facts& facts, const std::string& today,
                              const World& world) {
    constexpr std::size_t kStacks = 2;
    CM_TRY_ASSIGN(const auto machines, machines_of(options, facts, world));
    std::vector<start::Row> rows;
    std::vector<std::string> names;
    for (const auto& machine : machines) {
        solve::Query query;
        std::vector<std::string> words;
        for (const auto& [field, value] : machine) {
            if (std::ranges::count(solve::query_fields(), field) == 0) continue;
            query.fields.emplace_back(field, value.text);
            words.push_back(fmt::format("{} {}", info(field).name, value.text));
        }
        const auto& name = names.emplace_back(text::join(words, ", "));
        CM_TRY_ASSIGN(const auto found,
                      solve::suggest(facts, query, {today, kStacks, renderer_of(facts), watched(world)}));
        const auto before = rows.size();
        for (const auto& stack : found.stacks) {
            if (!stack.refusal.empty()) continue;
            auto& row = rows.emplace_back();
            row.stack = fmt::format("{}: {}", name, stack.why);
            row.row = stack.row;
            for (const auto& limit : stack.limits) {
                if (limit.severity == Severity::error)
                    row.waived.emplace_back(limit.rule, "torch.compile does not work on these machines");
            }
        }
        if (rows.size() == before) {
            auto& row = rows.emplace_back();
            row.stack = name;
            row.why = "no stack of the facts works there: cudamatrix suggest says why";
        }
    }
    Started out{start::matrix_of(rows, "started", text::join(names, "; "), today), said_of(rows)};
    if (out.matrix.empty())
        return input_failure("nothing to start from: no stack of the facts works on that machine",
                             "cudamatrix suggest --driver VERSION --gpu NAME says why");
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
    const bool has_machine = !options.hosts.empty() || options.machine.is_given();
    if (!options.preset.empty() && has_machine)
        return input_failure("a preset names its machines itself",
                             "without --preset for what works on that machine; or change the file");
    CM_TRY_ASSIGN(const auto facts, load_facts(options.facts, world, options.on));
    const auto& today = options.on.empty() ? world.today : options.on;
    CM_TRY_ASSIGN(const auto started, !options.from.empty() ? from_files(options, facts, today, world)
                                      : has_machine         ? from_machines(options, facts, today, world)
                                                            : from_preset(options));
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
    add_hosts(
        app, options->hosts,
        "On the driver and the GPUs of this machine; without --from the newest stacks that work on them");
    options->machine.add(app);
    app.add_option("--out", options->out, "The file; - is the standard output")
        .type_name("FILE")
        .show_default();
    add_facts_folder(app, options->facts);
    add_day(app, options->on);
    return [options](const World& world) { return start_matrix(*options, world); };
}

}  // namespace cudamatrix
