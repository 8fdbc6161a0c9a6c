#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/run_document.hpp"

namespace cudamatrix::report {
namespace {

Failure conflict(const ReadRun& run, const std::string& what, const std::string& fix) {
    return Failure{ExitCode::bad_input, {Diagnostic::error(what, {run.file, 0, 0}).with_fix(fix)}};
}

// Without a GPU nothing is believed to have run on one; among reports of machines that have one it would be.
Status believable(const ReadRun& run) {
    for (const auto& cell : run.report.cells) {
        const bool ran = std::ranges::any_of(cell.tests, [](const TestResult& test) {
            return test.part == "gpu" && test.status != TestStatus::skip;
        });
        if (!ran && cell.outcome != CellOutcome::passed && cell.proof != Proof::ran) continue;
        return conflict(run,
                        fmt::format("{} is said to have run on a GPU, and the report has none",
                                    clipped_middle(cell.id, 100)),
                        "leave this report out");
    }
    return Done{};
}

int how_much_says(const CellResult& cell) {
    if (cell.outcome == CellOutcome::skipped) return cell.chosen ? 1 : 0;
    return cell.outcome == CellOutcome::planned ? 2 : 3;
}

int how_much_says(const ImageResult& image) {
    if (image.not_run) return 1;
    return image.built || image.reused || !image.error.empty() ? 2 : 0;
}

Status same_cell(const ReadRun& run, const CellResult& found, const CellResult& before) {
    const auto id = clipped_middle(found.id, 100);
    if (found.verdict != before.verdict)
        return conflict(
            run, fmt::format("{} is {} here and {} in a file before", id, found.verdict, before.verdict),
            "make both reports with the same options");
    if (found.fields != before.fields || found.cell != before.cell)
        return conflict(run, fmt::format("{} has other fields than in a file before", id),
                        "make both reports of the same matrix file");
    return Done{};
}

// A result is only as good as the image that it is about.
Status same_inputs(const ReadRun& run, const ImageResult& found, const ImageResult& before) {
    for (const auto inputs : {&ImageResult::inputs, &ImageResult::proof_inputs}) {
        const auto &here = found.*inputs, &there = before.*inputs;
        if (here.empty() || there.empty() || here == there) continue;
        return conflict(
            run,
            fmt::format("image {} was made of other files than in a file before: {} {}, there {}",
                        clipped_middle(found.id, 100),
                        inputs == &ImageResult::inputs ? "its inputs are" : "its proof's inputs are",
                        here.substr(0, 12), there.substr(0, 12)),
            "make both reports with the same matrix file, lock and options");
    }
    return Done{};
}

void add_once(std::string& list, std::string_view word, std::string_view separator) {
    const auto words = text::split(list, separator.front());
    const bool is_there =
        std::ranges::any_of(words, [&](const std::string& one) { return text::trim(one) == word; });
    if (is_there || word.empty()) return;
    list += (list.empty() ? "" : std::string(separator)) + std::string(word);
}

class Merge {
  public:
    explicit Merge(bool has_folders) : has_folders_(has_folders) {}

    Status add(ReadRun run) {
        auto& report = run.report;
        const auto folder = std::filesystem::path(run.file).parent_path();
        for (auto& image : report.images) {
            image.log = log_of(folder, image.log);
            CM_TRY(add_image(run, std::move(image)));
        }
        for (auto& cell : report.cells) {
            cell.log = log_of(folder, cell.log);
            CM_TRY(add_cell(run, std::move(cell)));
        }
        static constexpr std::array<std::string_view, 4> commands{"render", "build", "test", "run"};
        if (std::ranges::find(commands, report.command) > std::ranges::find(commands, out_.report.command) ||
            out_.report.command.empty())
            out_.report.command = report.command;
        add_once(out_.report.engine, report.engine, ", ");
        add_once(out_.report.engine_why, report.engine_why, "; ");
        out_.report.gpu = out_.report.gpu || report.gpu;
        out_.report.seconds += report.seconds;
        out_.report.matrix = report.matrix;
        out_.report.version = report.version;
        out_.report.facts_date = report.facts_date;
        out_.report.facts_hash = report.facts_hash;
        // What was proven is as old as its oldest part.
        if (is_first_ || report.day < out_.report.day) out_.report.day = report.day;
        if (is_first_) out_.report.output = report.output;
        if (has_folders_ || out_.report.output != report.output) out_.report.output.clear();
        is_first_ = false;
        return Done{};
    }

    MergedRun take() && {
        std::unordered_map<std::string_view, std::size_t> seen;
        for (auto& cell : out_.report.cells)
            cell.again = seen[cell.cell]++ != 0;
        return std::move(out_);
    }

  private:
    [[nodiscard]] std::string log_of(const std::filesystem::path& folder, const std::string& log) const {
        return !has_folders_ || log.empty() ? log : (folder / log).generic_string();
    }

    Status add_image(const ReadRun& run, ImageResult image) {
        const auto [found, is_new] = images_.emplace(image.id, out_.report.images.size());
        if (is_new) {
            out_.report.images.push_back(std::move(image));
            return Done{};
        }
        auto& before = out_.report.images[found->second];
        CM_TRY(same_inputs(run, image, before));
        if (!image.digest.empty() && !before.digest.empty() && image.digest != before.digest)
            out_.notes.push_back(Diagnostic::note(
                fmt::format("image {} has another digest than in a file before: the report shows one of them",
                            clipped(image.id, 100)),
                {run.file, 0, 0}));
        if (how_much_says(image) >= how_much_says(before)) before = std::move(image);
        return Done{};
    }

    Status add_cell(const ReadRun& run, CellResult cell) {
        const auto [found, is_new] = cells_.emplace(cell.id, out_.report.cells.size());
        if (is_new) {
            out_.report.cells.push_back(std::move(cell));
            return Done{};
        }
        auto& before = out_.report.cells[found->second];
        CM_TRY(same_cell(run, cell, before));
        if (how_much_says(cell) >= how_much_says(before)) before = std::move(cell);
        return Done{};
    }

    bool has_folders_;
    bool is_first_ = true;
    MergedRun out_;
    std::unordered_map<std::string, std::size_t> images_, cells_;  // place by id
};

}  // namespace

Status same_origin(const ReadRun& first, const ReadRun& other) {
    struct Row {
        std::string_view what;
        std::string RunReport::*value;
        std::string_view fix;
    };
    static constexpr std::array rows{
        Row{"matrix", &RunReport::matrix, "merge reports of one matrix"},
        Row{"version of cudamatrix", &RunReport::version, "make both reports with one version"},
        Row{"date of the facts", &RunReport::facts_date, "make both reports with the same facts"},
        Row{"hash of the facts", &RunReport::facts_hash, "make both reports with the same facts"},
    };
    for (const auto& row : rows) {
        const auto& expected = first.report.*row.value;
        const auto& found = other.report.*row.value;
        if (found == expected) continue;
        return conflict(other,
                        fmt::format("the {} is {}, that of {} is {}", row.what, clipped(found, 60),
                                    text::printable(first.file), clipped(expected, 60)),
                        std::string(row.fix));
    }
    return Done{};
}

ExitCode exit_code_of(const RunReport& report, const ExitRules& rules) {
    if (std::ranges::any_of(report.images, [](const ImageResult& image) { return image.not_run; }))
        return ExitCode::environment;
    const auto sums = totals(report);
    if (sums.result == RunResult::fail || sums.attempted == 0) return ExitCode::findings;
    const bool skipped = std::ranges::any_of(report.cells, [](const CellResult& cell) {
        return cell.outcome == CellOutcome::skipped && cell.chosen;
    });
    if (rules.strict && skipped) return ExitCode::findings;
    // A cell that was to be proved and is still only planned was not reached.
    const bool proving = report.command == "test" || report.command == "run";
    if (proving && sums.by(CellOutcome::planned) != 0) return ExitCode::findings;
    if (sums.by(CellOutcome::passed_without_gpu) != 0 && !rules.accept_static)
        return rules.require_gpu ? ExitCode::findings : ExitCode::without_gpu;
    return ExitCode::success;
}

Result<MergedRun> merge_runs(std::vector<ReadRun> runs, const ExitRules& rules) {
    if (runs.size() == 1 && rules == ExitRules{}) return MergedRun{std::move(runs.front().report), {}};
    const auto folder = [](const ReadRun& run) { return std::filesystem::path(run.file).parent_path(); };
    bool has_folders = false, has_gpu = false;
    for (const auto& run : runs) {
        CM_TRY(same_origin(runs.front(), run));
        has_folders = has_folders || folder(run) != folder(runs.front());
        has_gpu = has_gpu || run.report.gpu;
    }
    for (const auto& run : runs) {
        if (has_gpu && !run.report.gpu) CM_TRY(believable(run));
    }
    Merge merge(has_folders);
    for (auto& run : runs)
        CM_TRY(merge.add(std::move(run)));
    auto merged = std::move(merge).take();
    merged.report.exit_code = static_cast<int>(exit_code_of(merged.report, rules));
    return merged;
}

}  // namespace cudamatrix::report
