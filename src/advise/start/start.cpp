#include "advise/start/start.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/judge/deciding.hpp"
#include "knowledge/solve/explain.hpp"
#include "knowledge/solve/variable.hpp"
#include "matrix/value.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix::start {
namespace {

constexpr std::string_view kFolder = "matrix/presets/";
constexpr std::string_view kNeedsCompiler = "torch-compile-has-c-compiler";
constexpr int kMonthsWaived = 12;

void set(Matrix& matrix, Field field, const std::string& text, const Location& where) {
    if (text.empty()) return;
    auto value = value_from_text(field, text);
    auto* made = std::get_if<Value>(&value);
    if (made == nullptr) return;
    made->where = where;
    std::erase_if(matrix.set, [&](const auto& one) { return one.first == field; });
    matrix.set.emplace_back(field, std::move(*made));
    matrix.named.insert(field);
}

const Value* value_of(const Matrix& matrix, Field field) {
    const auto found = std::ranges::find(matrix.set, field, &std::pair<Field, Value>::first);
    return found == matrix.set.end() ? nullptr : &found->second;
}

void drop(Matrix& matrix, Field field) {
    std::erase_if(matrix.set, [&](const auto& one) { return one.first == field; });
}

// An image as the family that makes it: what its tag says becomes fields.
void as_family(Matrix& matrix) {
    const auto* image = value_of(matrix, Field::image);
    const auto* os = value_of(matrix, Field::os);
    const auto where = image == nullptr ? Location{} : image->where;
    if (image == nullptr) {  // only its system is known
        if (os != nullptr && os->text.starts_with("debian")) set(matrix, Field::family, "debian", os->where);
        if (os != nullptr && os->text.starts_with("ubuntu")) set(matrix, Field::family, "ubuntu", os->where);
        return;
    }
    const auto reference = lookup::image_reference(image->text);
    if (reference.repository.ends_with("nvidia/cuda")) {
        const auto tag = lookup::cuda_tag(reference.tag);
        if (!tag) return;
        set(matrix, Field::family, "nvidia-cuda", where);
        set(matrix, Field::cuda, tag->cuda, where);
        set(matrix, Field::os, tag->os, where);
        set(matrix, Field::flavour, std::string(tag->kind()), where);
    } else if (reference.repository.ends_with("/pytorch/pytorch")) {
        const auto tag = lookup::pytorch_tag(reference.tag);
        if (!tag) return;
        set(matrix, Field::family, "pytorch", where);
        set(matrix, Field::torch, tag->release() + "+" + tag->variant(), where);
        set(matrix, Field::flavour, tag->flavour, where);
    } else if (reference.repository == "docker.io/library/python") {
        const auto* torch = value_of(matrix, Field::torch);
        const bool on_debian = os != nullptr && os->text.starts_with("debian");
        set(matrix, Field::family,
            torch == nullptr || torch->text.ends_with("+cpu") ? "cpu"
            : on_debian                                       ? "debian"
                                                              : "",
            where);
    } else {
        return;
    }
    drop(matrix, Field::image);
}

std::string why_rejected(const Judgement& judgement) {
    const auto found = deciding_findings(DecidingStages{}, judgement.cells[0], judgement);
    return found.empty() ? std::string(to_string(judgement.cells[0].verdict)) : found.front()->message;
}

std::vector<std::string> every_stage() {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kStageCount; ++i)
        out.emplace_back(to_string(static_cast<Stage>(i)));
    return out;
}

// False: it does not work, and nothing near it does.
bool made(const Matrix& matrix, const Facts& facts, const std::string& today, const OnProgress& on_progress,
          Row& out) {
    JudgeOptions as_of;
    as_of.today = today;
    const auto judged = judge_whole(matrix, facts, as_of);
    if (!judged.ok() || judged->cells.empty()) {
        out.why = "it cannot be judged";
        return false;
    }
    const auto& cell = judged->cells[0];
    out.verdict = to_string(cell.verdict);
    if (cell.verdict == Verdict::accepted || cell.verdict == Verdict::degraded) {
        out.row = solve::row_text(cell.cell);
        return true;
    }
    solve::Setting setting{{}, {}, DecidingStages(matrix), on_progress};
    for (const auto& waiver : matrix.waivers)
        setting.waived.emplace_back(waiver.rule);
    const auto near = solve::nearest(facts, today, cell.cell, setting, 1);
    if (near.cells.empty()) {
        out.why = why_rejected(*judged);
        return false;
    }
    out.row = near.cells[0].stack.row;
    for (const auto& step : near.cells[0].steps)
        out.changes.push_back(
            fmt::format("{} {} -> {}", step.name, text::printable(step.from), text::printable(step.to)));
    return true;
}

Row row_of(const audit::Stack& stack, const Facts& facts, const std::string& today,
           const OnProgress& on_progress) {
    Row out;
    out.stack = stack.name;
    out.compiles = stack.compiles();
    auto matrix = stack.matrix;
    matrix.waivers.clear();
    as_family(matrix);
    drop(matrix, Field::compiler);
    const auto* flavour = value_of(matrix, Field::flavour);
    if (flavour != nullptr && flavour->text != "devel" && value_of(matrix, Field::torch) != nullptr) {
        out.waived.emplace_back(
            kNeedsCompiler,
            "the images started from have no C compiler, so that torch.compile does not work in them");
        matrix.waivers.push_back(
            {std::string(kNeedsCompiler), {}, "as found", months_later(today, kMonthsWaived), {}});
    }
    // Nothing that `check` would call an error, at whatever stage; where that cannot be had, what the stages
    // decide.
    const auto deciding = std::exchange(matrix.stages, every_stage());
    for (const bool all : {true, false}) {
        if (!all) matrix.stages = deciding;
        if (made(matrix, facts, today, on_progress, out)) return out;
    }
    return out;
}

}  // namespace

std::vector<Preset> presets() {
    std::vector<Preset> out;
    for (const auto& file : embedded_below(kFolder)) {
        const auto name = file.path.substr(kFolder.size());
        out.push_back({name.substr(0, name.find('.')), file.content});
    }
    std::ranges::sort(out, {}, &Preset::name);
    return out;
}

std::vector<Row> rows_of(const audit::Report& found, const Facts& facts, const std::string& today,
                         const OnProgress& on_progress) {
    std::vector<Row> out;
    for (const auto& stack : found.stacks) {
        const auto has = [&](Field field) { return value_of(stack.matrix, field) != nullptr; };
        if (stack.is_source) continue;
        if (!has(Field::torch) && !has(Field::image) && !has(Field::packages) && !has(Field::cuda)) continue;
        auto row = row_of(stack, facts, today, on_progress);
        const bool is_new = row.row.empty() ||
                            std::ranges::none_of(out, [&](const Row& known) { return known.row == row.row; });
        if (is_new) out.push_back(std::move(row));
    }
    return out;
}

std::string matrix_of(const std::vector<Row>& rows, std::string_view name, std::string_view from,
                      std::string_view today) {
    const auto works = std::ranges::count_if(rows, [](const Row& row) { return !row.row.empty(); });
    if (works == 0) return {};
    std::map<std::string, std::string> waived;
    for (const auto& row : rows) {
        if (!row.row.empty()) waived.insert(row.waived.begin(), row.waived.end());
    }
    const auto stages = audit::stages_line(std::ranges::any_of(rows, &Row::compiles));
    const int keys = 4 + (stages.empty() ? 0 : 1) + (waived.empty() ? 0 : 1);
    std::string out = fmt::format(
        "# Started from \"{}\": `cudamatrix check` judges it, `cudamatrix render` makes its images.\n"
        "version: 1\nname: {}\nexpect: {{cells: {}, keys: {}, end: true}}\n{}",
        text::printable(from), name, works, keys, stages);
    out += "include:\n";
    for (const auto& row : rows) {
        out += fmt::format("  # {}\n", text::printable(row.stack));
        for (const auto& change : row.changes)
            out += fmt::format("  # changed: {}\n", change);
        if (row.row.empty()) {
            out += fmt::format("  # left out: {}\n", text::printable(row.why));
        } else {
            out += "  - " + row.row + "\n";
        }
    }
    if (!waived.empty()) out += "waive:\n";
    for (const auto& [rule, because] : waived)
        out += fmt::format("  - {{rule: {}, because: \"{}\", until: {}}}\n", rule, because,
                           months_later(today, kMonthsWaived));
    return out + "...\n";
}

}  // namespace cudamatrix::start
