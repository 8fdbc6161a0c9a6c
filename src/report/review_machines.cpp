// What the stacks of a matrix ask of a machine, and on which machines they were proven.
#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "report/review_parts.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kMostGpus = 8;  // of one table's cell

// A report of before has no day: its facts are as old at least.
Span day_of_proof(const RunReport& run, const std::string& today) {
    const auto text = run.day.empty() ? "not before " + run.facts_date : run.day;
    return is_old(run.day.empty() ? run.facts_date : run.day, today) ? Span{text + ", old", Tone::warning}
                                                                     : Span{text};
}

}  // namespace

DocumentSection review_requirements(const ReviewReport& report) {
    DocumentSection out{"Requirements", {}, false};
    DocumentTable table{
        {"stack", "cells", "oldest driver", "best driver", "compute capability", "memory", "GPUs"},
        {},
        {false, true}};
    for (const auto& each : report.review.requirements) {
        std::vector<std::string> stack;
        for (const auto& [name, value] : each.stack)
            stack.push_back(fmt::format("{} {}", name, value));
        const auto or_none = [](const std::string& text, std::string_view none) {
            return text.empty() ? Span{std::string(none), Tone::dim} : Span{text};
        };
        const auto compute = each.least_compute.empty() || each.least_compute == each.most_compute
                                 ? each.least_compute
                                 : fmt::format("{} to {}", each.least_compute, each.most_compute);
        table.rows.push_back({text::join(stack, ", "), std::to_string(each.cells),
                              or_none(each.oldest_driver, "none named"),
                              or_none(each.best_driver, "none named"), or_none(compute, "none named"),
                              or_none(each.vram_gb.empty() ? "" : each.vram_gb + " GB", "not said"),
                              first_few(each.gpus, kMostGpus, ", ")});
    }
    if (table.rows.empty()) {
        out.blocks.emplace_back(Paragraph{"No cell works."});
        return out;
    }
    out.blocks.emplace_back(Paragraph{
        "Found by asking the rules: the oldest driver with which every cell of the stack works, the one "
        "with which they do and that is supported longest, and the GPUs, of all that the facts know, that "
        "the stack works on. Memory is what vram_gb asks for."});
    add_rows(out, std::move(table), "stack");
    return out;
}

DocumentSection review_tested(const ReviewReport& report) {
    DocumentSection out{"Tested on", {}, false};
    if (report.runs.empty()) {
        out.blocks.emplace_back(Paragraph{
            "No report of a run was given: --run FILE takes those that cudamatrix run --format json wrote."});
        return out;
    }
    DocumentTable table{
        {"GPU", "driver", "cells", "passed", "failed", "proof", "day"}, {}, {false, false, true, true, true}};
    for (const auto& run : report.runs) {
        std::map<std::pair<std::string, std::string>, std::vector<const CellResult*>> machines;
        for (const auto& cell : run.cells) {
            if (cell.outcome == CellOutcome::skipped || cell.outcome == CellOutcome::planned) continue;
            const auto value = [&](std::string_view name) {
                for (const auto& [field, text] : cell.fields) {
                    if (field == name) return text;
                }
                return std::string("not named");
            };
            machines[{value("gpu"), value("driver")}].push_back(&cell);
        }
        for (const auto& [machine, results] : machines) {
            const auto passed = static_cast<std::size_t>(std::ranges::count_if(
                results, [](const CellResult* cell) { return has_passed(cell->outcome); }));
            const auto* best =
                *std::ranges::max_element(results, {}, [](const CellResult* cell) { return cell->proof; });
            table.rows.push_back(
                {machine.first, machine.second, std::to_string(results.size()),
                 Span{std::to_string(passed), passed != 0 ? Tone::good : Tone::dim},
                 Span{std::to_string(results.size() - passed),
                      passed != results.size() ? Tone::bad : Tone::dim},
                 best->proof == Proof::ran ? "ran on a GPU" : std::string(to_string(best->proof)),
                 day_of_proof(run, report.review.today)});
        }
    }
    add_rows(out, std::move(table), "machine");
    return out;
}

}  // namespace cudamatrix::report
