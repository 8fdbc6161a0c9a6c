#include "report/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <unordered_set>

#include "base/text.hpp"
#include "report/layout.hpp"

namespace cudamatrix {

std::string_view to_string(Proof proof) {
    static constexpr std::array<std::string_view, 6> names{"none",   "rendered",    "built",
                                                           "loaded", "interpreted", "ran"};
    return names.at(static_cast<std::size_t>(proof));
}

std::string_view to_string(TestStatus status) {
    static constexpr std::array<std::string_view, 6> names{"pass",  "fail",    "skip",
                                                           "error", "timeout", "crash"};
    return names.at(static_cast<std::size_t>(status));
}

std::string_view to_string(CellOutcome outcome) {
    static constexpr std::array<std::string_view, 6> names{
        "skipped", "planned", "passed", "passed_without_gpu", "failed", "errored"};
    return names.at(static_cast<std::size_t>(outcome));
}

namespace report {
namespace {

RunResult result_of(const RunReport& report, const RunTotals& sums) {
    if (sums.by(CellOutcome::failed) + sums.by(CellOutcome::errored) + sums.failed_images > 0)
        return RunResult::fail;
    if (sums.attempted == 0) return RunResult::nothing;
    if (sums.by(CellOutcome::planned) == sums.attempted) {
        return std::ranges::any_of(report.images, [](const ImageResult& i) { return i.built; })
                   ? RunResult::built
                   : RunResult::rendered;
    }
    if (sums.by(CellOutcome::planned) != 0) return RunResult::incomplete;
    // Without a GPU nothing may be called pass, whatever the lines of the suite claim.
    const auto on_gpu = report.gpu ? sums.by(CellOutcome::passed) : 0;
    if (on_gpu == sums.attempted) return RunResult::pass;
    return on_gpu + sums.interpreted == sums.attempted ? RunResult::pass_interpreted : RunResult::pass_loaded;
}

}  // namespace

std::string_view to_string(RunResult result) {
    static constexpr std::array<std::string_view, 8> names{
        "pass", "pass-interpreted", "pass-loaded", "fail", "built", "rendered", "incomplete", "nothing"};
    return names.at(static_cast<std::size_t>(result));
}

RunTotals totals(const RunReport& report) {
    RunTotals sums;
    std::unordered_set<std::string_view> images;
    for (const auto& cell : report.cells) {
        ++sums.outcomes.at(static_cast<std::size_t>(cell.outcome));
        if (cell.outcome != CellOutcome::skipped) ++sums.attempted;
        if (cell.outcome != CellOutcome::skipped && cell.again) ++sums.again;
        if (cell.outcome == CellOutcome::passed_without_gpu && cell.proof == Proof::interpreted)
            ++sums.interpreted;
        if (cell.outcome != CellOutcome::skipped && !cell.image.empty()) images.insert(cell.image);
        if (cell.again) continue;
        ++sums.cells;
        if (cell.verdict == "accepted") ++sums.accepted;
        if (cell.verdict == "degraded") ++sums.degraded;
        if (cell.verdict == "rejected") ++sums.rejected;
        if (cell.verdict == "unknown") ++sums.unknown;
        if (!cell.chosen) ++sums.not_chosen;
        if (cell.outcome == CellOutcome::skipped && cell.chosen &&
            (cell.verdict == "accepted" || cell.verdict == "degraded"))
            ++sums.not_rendered;
    }
    sums.images = images.size();
    sums.failed_images = static_cast<std::size_t>(
        std::ranges::count_if(report.images, [](const ImageResult& image) { return !image.error.empty(); }));
    sums.result = result_of(report, sums);
    return sums;
}

namespace {

// What the attempted results came to, the worst first: "1 failed, 2 interpreted on the CPU".
std::string outcomes_text(const RunReport& report, const RunTotals& sums) {
    const auto passed = sums.by(CellOutcome::passed);
    // Without a GPU nothing ran on one, whatever the lines of the suite claim.
    const auto on_gpu = report.gpu ? passed : 0;
    const std::pair<std::size_t, std::string_view> kinds[] = {
        {sums.by(CellOutcome::failed) + sums.by(CellOutcome::errored), "failed"},
        {on_gpu, "passed on a GPU"},
        {sums.interpreted, "interpreted on the CPU"},
        {sums.by(CellOutcome::passed_without_gpu) - sums.interpreted + passed - on_gpu,
         "loaded without a GPU"},
        {sums.by(CellOutcome::planned), "not tested"},
    };
    std::vector<std::string> parts;
    for (const auto& [number, words] : kinds) {
        if (number == sums.attempted && number != 0 && sums.failed_images == 0) return std::string(words);
        if (number != 0) parts.push_back(fmt::format("{} {}", number, words));
    }
    if (sums.failed_images != 0)
        parts.push_back(fmt::format("{} not built", text::count(sums.failed_images, "image")));
    return text::join(parts, ", ");
}

}  // namespace

std::string closing_line(const RunReport& report) {
    const auto sums = totals(report);
    const auto cells = text::count(sums.attempted - sums.again, "cell");
    std::string what;
    switch (sums.result) {
        case RunResult::built:
        case RunResult::rendered:
            what = fmt::format("{} in {}", cells, text::count(report.images.size(), "image"));
            break;
        case RunResult::nothing:
            what = "no cell attempted";
            break;
        default:
            what = cells;
            if (sums.images != 0) what += ", " + text::count(sums.images, "image");
            what += ": " + outcomes_text(report, sums);
    }
    auto line = fmt::format("{}: {}, {} rejected, {} unknown", to_string(sums.result), what, sums.rejected,
                            sums.unknown);
    if (sums.not_rendered != 0) line += fmt::format(", {} not rendered", sums.not_rendered);
    if (sums.not_chosen != 0) line += fmt::format(", {} not chosen", sums.not_chosen);
    return line;
}

void add_to(TextCounts& counts, std::string_view text) {
    const auto found = std::ranges::find(counts, text, &TextCounts::value_type::first);
    if (found == counts.end()) {
        counts.emplace_back(text, 1);
    } else {
        ++found->second;
    }
}

namespace {

// For other cells, or not asked for: nobody expects them here. JSON has them.
bool is_not_of_cell(std::string_view reason) {
    constexpr std::array<std::string_view, 6> reasons{"not_in_cell",        "cc_too_low", "cuda_too_old",
                                                      "wrong_arch_variant", "level",      "deselected"};
    return std::ranges::count(reasons, reason) != 0;
}

void add_test(TestCounts& counts, const TestResult& test) {
    if (test.status == TestStatus::skip && test.reason == "no_device") {
        ++counts.need_gpu;
    } else if (test.status == TestStatus::skip) {
        add_to(counts.skipped, clipped(test.reason, 40));
    } else if (test.status == TestStatus::pass && test.part == "interpreted") {
        ++counts.interpreted;
    } else {
        ++(is_failure(test.status) ? counts.failed : counts.passed);
    }
}

// "2 passed, 1 needs a GPU"; `red` is said where no failing test says it.
std::string counts_text(const TestCounts& counts, std::string_view red) {
    constexpr std::size_t most_reasons = 4;
    std::vector<std::string> parts;
    if (counts.failed != 0) {
        parts.push_back(fmt::format("{} failed", counts.failed));
    } else if (!red.empty()) {
        parts.emplace_back(red);
    }
    if (counts.passed != 0) parts.push_back(fmt::format("{} passed", counts.passed));
    if (counts.interpreted != 0) parts.push_back(fmt::format("{} interpreted", counts.interpreted));
    if (counts.need_gpu != 0)
        parts.push_back(counts.need_gpu == 1 ? "1 needs a GPU"
                                             : fmt::format("{} need a GPU", counts.need_gpu));
    std::size_t others = 0;
    for (std::size_t i = 0; i < counts.skipped.size(); ++i) {
        const auto& [reason, number] = counts.skipped[i];
        if (is_not_of_cell(reason)) continue;
        if (i >= most_reasons) {
            others += number;
            continue;
        }
        parts.push_back(fmt::format("{} skipped: {}", number, text::replace_all(reason, "_", " ")));
    }
    if (others != 0) parts.push_back(fmt::format("{} skipped for other reasons", others));
    return text::join(parts, ", ");
}

}  // namespace

TestCounts count_tests(const CellResult& cell) {
    TestCounts counts;
    for (const auto& test : cell.tests)
        add_test(counts, test);
    return counts;
}

std::string tests_text(const CellResult& cell) {
    const bool red = cell.outcome == CellOutcome::failed || cell.outcome == CellOutcome::errored;
    if (cell.tests.empty()) return red ? std::string(to_string(cell.outcome)) : "not tested";
    return counts_text(count_tests(cell), red ? to_string(cell.outcome) : std::string_view());
}

namespace {

using Cells = std::vector<const CellResult*>;

DriversOfRun drivers_among(const Cells& cells, bool has_gpu) {
    DriversOfRun drivers;
    const auto add = [](std::vector<std::string>& to, const std::string& driver) {
        if (std::ranges::count(to, driver) == 0) to.push_back(driver);
    };
    const auto tested = [](const CellResult& cell) {
        return cell.outcome != CellOutcome::skipped && cell.outcome != CellOutcome::planned &&
               !cell.tests.empty();
    };
    const auto on_gpu = [&](const TestResult& test) {
        return has_gpu && test.part == "gpu" && test.status != TestStatus::skip;
    };
    for (const bool run : {true, false}) {
        for (const auto* cell : cells) {
            if (!tested(*cell) || std::ranges::any_of(cell->tests, on_gpu) != run) continue;
            for (const auto& [name, driver] : cell->fields) {
                if (name != "driver" || (!run && std::ranges::count(drivers.run, driver) != 0)) continue;
                add(run ? drivers.run : drivers.predicted, driver);
            }
        }
    }
    return drivers;
}

// How much a result says of a test of the image; of equal ones the first cell's counts.
int how_telling(const TestResult& test) {
    if (is_failure(test.status)) return 4;
    if (test.status == TestStatus::pass) return 3;
    if (test.reason == "no_device") return 2;
    return is_not_of_cell(test.reason) ? 0 : 1;
}

TestCounts count_each_once(const Cells& cells) {
    std::unordered_map<std::string, std::size_t> seen;
    std::vector<const TestResult*> tests;  // in the order in which they first came
    for (const auto* cell : cells) {
        for (const auto& test : cell->tests) {
            const auto [found, is_new] = seen.emplace(test.id + '\n' + test.part, tests.size());
            if (is_new) {
                tests.push_back(&test);
            } else if (how_telling(test) > how_telling(*tests[found->second])) {
                tests[found->second] = &test;
            }
        }
    }
    TestCounts counts;
    for (const auto* test : tests)
        add_test(counts, *test);
    return counts;
}

std::string names_or_number(const std::vector<std::string>& names, std::string_view word) {
    constexpr std::size_t most_names = 2;
    return (names.size() > most_names ? std::to_string(names.size()) : text::join(names, " and ")) + " " +
           std::string(word);
}

}  // namespace

DriversOfRun drivers_of(const RunReport& report) {
    Cells cells;
    for (const auto& cell : report.cells)
        cells.push_back(&cell);
    return drivers_among(cells, report.gpu);
}

std::vector<ImageCounts> counts_by_image(const RunReport& report) {
    std::unordered_map<std::string_view, Cells> cells_of;
    for (const auto& cell : report.cells) {
        if (cell.outcome != CellOutcome::skipped) cells_of[cell.image].push_back(&cell);
    }
    std::vector<ImageCounts> out;
    for (const auto& image : report.images) {
        const auto& cells = cells_of[image.id];
        const bool tested = std::ranges::any_of(cells, [](const auto* cell) { return !cell->tests.empty(); });
        out.push_back({cells.size(), tested, count_each_once(cells), drivers_among(cells, report.gpu)});
    }
    return out;
}

std::string tests_text(const ImageCounts& image) {
    return image.tested ? counts_text(image.tests, {}) : "not tested";
}

std::string drivers_text(const DriversOfRun& drivers) {
    std::vector<std::string> parts;
    if (!drivers.run.empty()) parts.push_back(names_or_number(drivers.run, "ran"));
    if (!drivers.predicted.empty()) parts.push_back(names_or_number(drivers.predicted, "predicted"));
    return text::join(parts, ", ");
}

std::string_view build_word(const ImageResult& image) {
    if (image.not_run) return "not run";
    if (!image.error.empty()) return "failed";
    if (image.reused) return "reused";
    return image.built ? "built" : "-";
}

std::string test_name(const TestResult& test) {
    return test.part.empty() ? test.id : test.id + "[" + test.part + "]";
}

bool has_passed(CellOutcome outcome) {
    return outcome == CellOutcome::passed || outcome == CellOutcome::passed_without_gpu;
}

bool is_failure(TestStatus status) {
    return status != TestStatus::pass && status != TestStatus::skip;
}

ImagesById::ImagesById(const RunReport& report) {
    for (const auto& image : report.images)
        images_.emplace(image.id, &image);
}

const ImageResult* ImagesById::of(const CellResult& cell) const {
    const auto found = images_.find(cell.image);
    return cell.image.empty() || found == images_.end() ? nullptr : found->second;
}

double finite_seconds(double seconds) {
    return std::isfinite(seconds) && seconds > 0 ? seconds : 0;
}

}  // namespace report
}  // namespace cudamatrix
