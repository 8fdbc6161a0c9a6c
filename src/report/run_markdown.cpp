// `--format markdown` of a run: a comment for a pull request.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"
#include "report/results.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix::report {
namespace {

using markdown::Comment;
using markdown::inside_html;
using markdown::plain;

constexpr std::size_t kForFailures = 45'000;  // characters up to the last of them
constexpr std::size_t kListedOpenly = 40;     // cells; more are folded
constexpr std::size_t kTestsOfFailure = 10;
constexpr std::size_t kLinesOfEvidence = 8;
constexpr std::size_t kColumnsOfEvidence = 200;

// "passed without a GPU"
std::string_view outcome_words(CellOutcome outcome) {
    static constexpr std::array<std::string_view, 6> names{
        "skipped", "not tested", "passed on a GPU", "passed without a GPU", "failed", "errored"};
    return names.at(static_cast<std::size_t>(outcome));
}

std::string table_head(const std::vector<std::string>& titles) {
    return markdown::row(titles) + markdown::rule(titles.size());
}

std::string folded(std::string_view summary) {
    return fmt::format("\n<details><summary>{}</summary>\n\n", inside_html(clipped(summary, 300)));
}
constexpr std::string_view kUnfolded = "\n</details>\n";

std::string totals_table(const RunReport& report) {
    const auto sums = totals(report);
    auto out = table_head({"result", "cells"});
    using enum CellOutcome;
    for (const auto outcome : {failed, errored, passed, passed_without_gpu, planned}) {
        if (sums.by(outcome) != 0)
            out += markdown::row({std::string(outcome_words(outcome)), std::to_string(sums.by(outcome))});
    }
    const std::pair<std::string_view, std::size_t> others[] = {{"rejected", sums.rejected},
                                                               {"unknown", sums.unknown},
                                                               {"not rendered", sums.not_rendered},
                                                               {"not chosen", sums.not_chosen}};
    for (const auto& [what, number] : others) {
        if (number != 0) out += markdown::row({std::string(what), std::to_string(number)});
    }
    return out;
}

// The last lines of a test's output.
std::string end_of(std::string_view evidence) {
    std::string out;
    for (const auto& line : text::last_lines(evidence, kLinesOfEvidence))
        out += inside_html(clipped(line, kColumnsOfEvidence)) + "\n";
    return out.empty() ? out : "\n<pre>\n" + out + "</pre>\n\n";
}

std::string failing_test(const TestResult& test) {
    std::vector<std::string> why;
    if (!test.reason.empty()) why.push_back(test.reason);
    if (!test.fault.empty()) why.push_back("fault " + test.fault);
    if (!test.summary.empty()) why.push_back(test.summary);
    if (!test.hint.empty()) why.push_back("hint: " + test.hint);
    return fmt::format("- **{}** {}: {}\n", to_string(test.status), plain(clipped(test_name(test), 100)),
                       plain(clipped(text::join(why, "; "), 600))) +
           end_of(test.evidence);
}

std::vector<std::string> failures(const RunReport& report) {
    std::vector<std::string> out;
    for (const auto& image : report.images) {
        if (image.error.empty()) continue;
        out.push_back(folded(fmt::format("image {}: {}", image.id, build_word(image))) + plain(image.error) +
                      "\n" + (image.log.empty() ? "" : "\nlog: " + plain(image.log) + "\n") +
                      std::string(kUnfolded));
    }
    for (const auto& cell : report.cells) {
        if (cell.outcome != CellOutcome::failed && cell.outcome != CellOutcome::errored) continue;
        auto one = folded(cell.id + (cell.reason.empty() ? "" : ": " + cell.reason));
        if (!cell.image.empty()) one += "image: " + plain(cell.image) + "\n\n";
        std::size_t tests = 0;
        for (const auto& test : cell.tests) {
            if (is_failure(test.status) && ++tests <= kTestsOfFailure) one += failing_test(test);
        }
        if (tests > kTestsOfFailure)
            one += fmt::format("- and {}\n", text::count(tests - kTestsOfFailure, "more failing test"));
        if (!cell.log.empty()) one += "\nlog: " + plain(cell.log) + "\n";
        out.push_back(one + std::string(kUnfolded));
    }
    return out;
}

void add_images(const RunReport& report, Comment& comment) {
    const auto counts = counts_by_image(report);
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < report.images.size(); ++i) {
        const auto& image = report.images[i];
        rows.push_back(
            markdown::row({image.id, std::string(build_word(image)), std::to_string(counts[i].cells),
                           tests_text(counts[i]), drivers_text(counts[i].drivers)}));
    }
    comment.section("\n" + table_head({"image", "build", "cells", "tests, each once", "drivers"}), rows, "",
                    "image");
}

void add_cells(const RunReport& report, Comment& comment) {
    std::vector<std::string> attempted, skipped;
    for (const auto& cell : report.cells) {
        if (cell.outcome != CellOutcome::skipped) {
            attempted.push_back(
                markdown::row({cell.id, cell.verdict, std::string(outcome_words(cell.outcome)),
                               std::string(to_string(cell.proof)), tests_text(cell)}));
        } else if (cell.chosen) {
            skipped.push_back(fmt::format(
                "- {}: {}\n", plain(cell.id),
                plain(cell.reason.empty() ? cell.verdict : cell.verdict + ": " + clipped(cell.reason, 400))));
        }
    }
    const bool is_open = attempted.size() <= kListedOpenly;
    comment.section((is_open ? "\n" : folded(text::count(attempted.size(), "cell"))) +
                        table_head({"cell", "verdict", "result", "proof", "tests"}),
                    attempted, is_open ? "" : kUnfolded, "cell");
    comment.section(folded(text::count(skipped.size(), "skipped cell")), skipped, kUnfolded, "skipped cell");
}

}  // namespace

std::string run_markdown(const RunReport& report) {
    Comment comment;
    comment.add(fmt::format("**{} of {}**: {}\n\n", report.command, plain(clipped(report.matrix, 60)),
                            plain(closing_line(report))));
    comment.add(totals_table(report));
    comment.section("", failures(report), "", "failure", kForFailures);
    add_images(report, comment);
    add_cells(report, comment);
    if (const auto predicted = drivers_of(report).predicted; !predicted.empty())
        comment.add(fmt::format("\n{} {}: predicted, not run\n", predicted.size() == 1 ? "driver" : "drivers",
                                plain(clipped(text::join(predicted, ", "), 400))));
    return std::move(comment).finish();
}

}  // namespace cudamatrix::report
