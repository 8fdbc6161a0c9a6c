#include "run/job/job.hpp"

#include <algorithm>
#include <system_error>

#include "base/build_info.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "report/run_document.hpp"

namespace cudamatrix::job {
namespace {

std::string finding_line(const FindingGroup& group) {
    const auto& finding = group.finding;
    return fmt::format(
        "{}{}: {} [{}, at {}]{}", group.waived ? "waived " : "", to_string(finding.severity), finding.message,
        finding.rule, to_string(finding.stage),
        group.waived ? fmt::format(" until {}: {}", group.waived->until, group.waived->because) : "");
}

// Why a cell is not attempted: the first finding that decided its verdict.
std::string skip_reason(const Judgement& judgement, const JudgedCell& cell) {
    for (const auto index : cell.findings) {
        const auto& group = judgement.findings[index];
        if (group.verdict() == cell.verdict) return group.finding.message;
    }
    return cell.held;
}

CellResult cell_result(const Judgement& judgement, const JudgedCell& judged) {
    CellResult cell;
    cell.id = cell.cell = judged.id;
    cell.verdict = to_string(judged.verdict);
    for (const auto& field : all_fields()) {
        if (const auto* value = judged.cell.get(field.field))
            cell.fields.emplace_back(field.name, value->text);
    }
    for (const auto index : judged.findings) {
        cell.findings.push_back(finding_line(judgement.findings[index]));
        cell.fixes.push_back(judgement.findings[index].finding.fix_text());
    }
    return cell;
}

bool is_attempted(const JudgedCell& cell) {
    return cell.verdict == Verdict::accepted || cell.verdict == Verdict::degraded;
}

RenderSettings render_settings(const RunInput& input, const RunSettings& settings) {
    RenderSettings render;
    render.templates = settings.templates;
    render.suite = settings.suite;
    render.matrix_folder = matrix_folder(input.matrix, settings.out);
    render.facts_hash = input.facts.hash();
    render.facts_date = input.facts.date();
    return render;
}

// The image of every attempted cell; of one that has several, a result for each.
void add_images(Plan& plan) {
    std::map<std::string_view, std::vector<std::size_t>> of_cell;
    for (std::size_t i = 0; i < plan.images.size(); ++i) {
        for (const auto& id : plan.images[i].cells)
            of_cell[id].push_back(i);
    }
    std::vector<CellResult> results;
    for (auto& cell : plan.report.cells) {
        const auto found = of_cell.find(cell.cell);
        if (found == of_cell.end()) {
            results.push_back(std::move(cell));
            continue;
        }
        const bool several = found->second.size() > 1;
        for (const auto index : found->second) {
            const auto& image = plan.images[index];
            auto& result = results.emplace_back(cell);
            if (several) result.id = fmt::format("{}@{}", cell.cell, image.entry);
            result.again = index != found->second.front();
            result.image = image.id;
            result.outcome = CellOutcome::planned;
            plan.image_of.emplace(result.id, index);
        }
    }
    plan.report.cells = std::move(results);
}

RunReport empty_report(const RunInput& input, const RunSettings& settings, std::string_view command) {
    RunReport report;
    report.matrix = input.matrix.name;
    report.command = command;
    report.version = kVersion;
    report.facts_date = input.facts.date();
    report.facts_hash = input.facts.hash();
    report.day = settings.today;
    report.output = settings.out.string();
    return report;
}

// Fills in the files of `plan` that go with `lock`.
Status render_plan(const RunInput& input, const RunSettings& settings, Lock lock, Plan& plan) {
    CM_TRY_ASSIGN(auto rendering,
                  render_artifacts(input.matrix, plan.images, lock, render_settings(input, settings)));
    plan.lock = std::move(lock);
    plan.rendering = std::move(rendering);
    for (std::size_t i = 0; i < plan.images.size(); ++i) {
        if (plan.copies[i].hash.empty()) continue;
        auto& image = plan.rendering.images[i];
        for (auto* inputs : {&image.inputs, &image.proof_inputs})
            *inputs = sha256(*inputs + plan.copies[i].hash);
    }
    plan.report.images.clear();
    for (const auto& image : plan.rendering.images) {
        ImageResult result;
        result.id = image.id;
        result.reference = image.reference;
        result.inputs = image.inputs;
        result.proof_inputs = image.proof_inputs;
        plan.report.images.push_back(std::move(result));
    }
    return Done{};
}

}  // namespace

const Bootstrap* Plan::bootstrap(const Image& image) const {
    const auto found = std::ranges::find_if(
        rendering.bootstraps, [&](const Bootstrap& one) { return one.base == image.base_name(); });
    return found == rendering.bootstraps.end() ? nullptr : &*found;
}

std::string matrix_folder(const Matrix& matrix, const std::filesystem::path& out) {
    std::error_code error;
    const auto real = [&error](const std::filesystem::path& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    };
    const auto folder = real(std::filesystem::path(matrix.path)).parent_path().lexically_relative(real(out));
    return error || folder.empty() ? "." : folder.generic_string();
}

std::filesystem::path lock_path(const Matrix& matrix) {
    return std::filesystem::path(matrix.path).parent_path() / kLockFile;
}

Status choose_engine(Job& job) {
    const auto& settings = job.settings;
    CM_TRY_ASSIGN(job.engine, engine::choose({settings.engine, settings.engine_host, settings.builder},
                                             settings.environment, settings.cancellation));
    job.progress.say(fmt::format("engine {}: {}", job.engine.name(), job.engine.why));
    return Done{};
}

Status require_network(const Job& job, std::string_view what) {
    if (job.input.matrix.build.network != "none") return Done{};
    return input_failure(
        fmt::format("{} fetches packages, and its network is none", what),
        "--network default or --network host, or build: {network: default} in the matrix file");
}

Status render_again(Job& job, Lock lock) {
    return render_plan(job.input, job.settings, std::move(lock), job.plan);
}

Result<Plan> make_plan(const RunInput& input, const RunSettings& settings, std::string_view command,
                       const Taken* taken) {
    Plan plan;
    plan.report = empty_report(input, settings, command);
    std::vector<PlannedCell> cells;
    for (const auto& judged : input.judgement.cells) {
        plan.report.cells.push_back(cell_result(input.judgement, judged));
        plan.judged.emplace(judged.id, &judged);
        if (is_attempted(judged)) {
            cells.push_back({judged.cell, judged.id});
        } else {
            plan.report.cells.back().reason = skip_reason(input.judgement, judged);
        }
    }
    auto images =
        plan_images(input.matrix, cells, input.facts, taken == nullptr ? taken_by(input.lock) : *taken);
    plan.images = std::move(images.images);
    add_images(plan);
    std::map<std::string, std::string, std::less<>> refused;
    for (auto& refusal : images.refusals)
        refused.emplace(refusal.cell, std::move(refusal.reason));
    for (auto& cell : plan.report.cells) {
        if (const auto why = refused.find(cell.cell); why != refused.end())
            cell.reason = fmt::format("cannot be rendered: {}", why->second);
    }
    CM_TRY(narrow(input, settings, plan));
    for (const auto& image : plan.images) {
        CM_TRY_ASSIGN(auto copies, find_copies(input.matrix, image, settings.out));
        plan.copies.push_back(std::move(copies));
    }
    CM_TRY(render_plan(input, settings, input.lock.value_or(Lock{}), plan));
    return plan;
}

BootstrapContext bootstrap_context(Job& job, bool anew) {
    return {job.settings.out / "bootstrap", job.settings.environment,
            job.settings.cancellation,      [&job](std::string_view line) { job.progress.say(line); },
            job.settings.build_limit,       anew};
}

BuildCall build_call(const Job& job, std::string what, const std::filesystem::path& log) {
    return {std::move(what),
            job.settings.out / log,
            job.settings.build_limit,
            job.settings.cancellation,
            job.settings.retries,
            job.settings.retry_pause,
            {}};
}

std::vector<std::string> unpinned(const Plan& plan) {
    std::vector<std::string> ids;
    for (const auto& image : plan.images) {
        if (plan.is_chosen(image) && !plan.lock.covers(image)) ids.push_back(image.id);
    }
    return ids;
}

Status require_locked(const Job& job) {
    const auto path = lock_path(job.input.matrix);
    const auto name = text::printable(path.string());
    const auto fix = "cudamatrix lock " + job.input.matrix.path;
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        return input_failure(fmt::format("--locked: there is no {}", name), fix);
    Failure failure{ExitCode::findings, {}};
    for (const auto& image : job.plan.images) {
        if (!job.plan.is_chosen(image)) continue;
        const auto missing = missing_pins(image, job.plan.lock);
        const auto* pins = job.plan.lock.pins(image);
        if (!missing.empty()) {
            failure.diagnostics.push_back(
                Diagnostic::error(fmt::format("--locked: {} does not cover {}: it has {}", name, image.id,
                                              text::join(missing, ", and ")))
                    .with_fix(fix));
        } else if (pins != nullptr && was_edited(*pins)) {
            failure.diagnostics.push_back(
                Diagnostic::error(
                    fmt::format("--locked: {}: the pins of {} are not those that lock wrote", name, image.id))
                    .with_fix(fmt::format("take back what was edited, or {} --update={}", fix, image.id)));
        }
    }
    if (!failure.diagnostics.empty()) return failure;
    return Done{};
}

ExitCode exit_code_of(const RunReport& report, const RunSettings& settings) {
    if (interrupted(settings.cancellation)) return ExitCode::interrupted;
    return report::exit_code_of(report, {settings.strict, settings.require_gpu, settings.accept_static});
}

}  // namespace cudamatrix::job
