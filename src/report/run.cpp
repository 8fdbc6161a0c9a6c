#include "report/run_reports.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kFailuresShown = 40;  // of all cells together; the other formats have them all
constexpr std::size_t kEvidenceLines = 5;

std::string seconds_text(double seconds) {
    return fmt::format("{:.1f}", finite_seconds(seconds));
}

std::string size_text(std::uint64_t bytes) {
    return bytes == 0 ? "-" : text::human_bytes(bytes);
}

// The last lines of a test's output, each cut to the terminal.
std::string evidence_tail(std::string_view evidence, std::size_t width) {
    std::string out;
    for (const auto& line : text::last_lines(evidence, kEvidenceLines))
        out += "      | " + clipped(text::trim(line), width - 8) + "\n";
    return out;
}

std::string failure_text(const TestResult& test, const TextOptions& options) {
    std::string out = "    " + clipped(test_name(test), options.width - 14) + "  " +
                      coloured(to_string(test.status), Colour::red, options.colour) + "\n";
    std::vector<std::string> why;
    if (!test.reason.empty()) why.push_back(test.reason);
    if (!test.fault.empty()) why.push_back("fault " + test.fault);
    auto line = text::join(why, ", ");
    if (!test.summary.empty()) line += (line.empty() ? "" : ": ") + test.summary;
    if (!line.empty()) out += wrapped(line, 6, options.width, 4);
    if (!test.hint.empty()) out += wrapped("hint: " + test.hint, 6, options.width, 4);
    return out + evidence_tail(test.evidence, options.width);
}

std::string cells_part(const RunReport& report, const TextOptions& options) {
    TextTable table({{"CELL"}, {"VERDICT"}, {"PROOF"}, {"SECONDS", true}, {"TESTS", false, true}});
    for (const auto& cell : report.cells) {
        if (cell.outcome == CellOutcome::skipped) continue;
        table.add({cell.id, cell.verdict, std::string(to_string(cell.proof)), seconds_text(cell.seconds),
                   tests_text(cell)},
                  colour_of(to_string(cell.outcome)));
    }
    return table.empty() ? std::string() : table.render(options.width, options.colour) + "\n";
}

std::string failures_part(const RunReport& report, const TextOptions& options) {
    std::string out;
    std::size_t shown = 0, hidden = 0;
    for (const auto& image : report.images) {
        if (image.error.empty()) continue;
        out += "  " + clipped("image " + image.id, options.width - 2) + "\n" +
               wrapped(image.error, 6, options.width, 8);
        if (!image.log.empty()) out += wrapped("log: " + image.log, 6, options.width, 2);
    }
    for (const auto& cell : report.cells) {
        if (cell.outcome != CellOutcome::failed && cell.outcome != CellOutcome::errored) continue;
        std::string body = cell.reason.empty() ? "" : wrapped(cell.reason, 4, options.width, 4);
        if (!cell.image.empty()) body += wrapped("image: " + cell.image, 4, options.width, 2);
        for (const auto& test : cell.tests) {
            if (!is_failure(test.status)) continue;
            if (++shown > kFailuresShown) {
                ++hidden;
                continue;
            }
            body += failure_text(test, options);
        }
        if (!cell.log.empty()) body += wrapped("log: " + cell.log, 4, options.width, 2);
        out += "  " + clipped_middle(cell.id, options.width - 2) + "\n" + body;
    }
    if (out.empty()) return out;
    if (hidden != 0)
        out +=
            fmt::format("  and {}: see the JSON or JUnit report\n", text::count(hidden, "more failing test"));
    return "failures\n" + out + "\n";
}

// One reason for hundreds of cells is said once.
bool is_not_rendered(const CellResult& cell) {
    return cell.outcome == CellOutcome::skipped && cell.chosen &&
           cell.reason.starts_with("cannot be rendered: ");
}

// Where one image of many was chosen the others are no news: they are counted.
std::string skipped_part(const RunReport& report, const TextOptions& options) {
    std::string out;
    std::size_t not_chosen = 0;
    std::unordered_map<std::string, std::size_t> not_rendered;  // 0: said
    for (const auto& cell : report.cells) {
        if (is_not_rendered(cell)) ++not_rendered[cell.verdict + cell.reason];
    }
    for (const auto& cell : report.cells) {
        if (cell.outcome != CellOutcome::skipped) continue;
        if (!cell.chosen) {
            ++not_chosen;
            continue;
        }
        std::string others;
        if (is_not_rendered(cell)) {
            const auto all = std::exchange(not_rendered[cell.verdict + cell.reason], 0);
            if (all == 0) continue;
            if (all > 1) others = fmt::format(" and {}", text::count(all - 1, "more cell"));
        }
        auto why = wrapped(cell.reason.empty() ? cell.verdict : cell.verdict + ": " + cell.reason, 4,
                           options.width, 3);
        if (why.find(cell.verdict) == 4) {
            why.replace(4, cell.verdict.size(),
                        coloured(cell.verdict, colour_of(cell.verdict), options.colour));
        }
        out += "  " + clipped_middle(cell.id, options.width - 2 - others.size()) + others + "\n" + why;
    }
    if (not_chosen != 0)
        out += fmt::format("  {}\n    not chosen\n",
                           text::count(not_chosen, out.empty() ? "cell" : "more cell"));
    return out.empty() ? out : "skipped\n" + out + "\n";
}

// "sass 7.5", "ptx 9.0 via JIT" or "none: ..." in words.
std::string would_run(std::string code_path) {
    if (code_path.starts_with("sass ")) return "would run native SASS " + code_path.substr(5);
    if (code_path.starts_with("none")) return "would not run" + code_path.substr(4);
    if (!code_path.starts_with("ptx ")) return "would run " + code_path;
    constexpr std::string_view jit = " via JIT";
    if (const auto at = code_path.find(jit); at != std::string::npos) code_path.erase(at, jit.size());
    return "would run JIT-compiled PTX " + code_path.substr(4);
}

std::string code_paths_part(const RunReport& report, const TextOptions& options) {
    TextTable table({{"CELL"}, {"CODE"}, {"SEEN BY"}});
    for (const auto& cell : report.cells) {
        for (const auto& test : cell.tests) {
            if (!test.code_path.empty()) table.add({cell.id, would_run(test.code_path), test.id});
        }
    }
    return table.empty() ? std::string() : table.render(options.width, options.colour) + "\n";
}

std::string images_part(const RunReport& report, const std::vector<ImageCounts>& counts,
                        const TextOptions& options) {
    TextTable table(
        {{"IMAGE"}, {"BUILD"}, {"RUNTIME", true}, {"PROOF", true}, {"SECONDS", true}, {"CELLS", true}});
    TextTable tests({{"IMAGE"}, {"TESTS"}, {"DRIVERS"}});
    for (std::size_t i = 0; i < report.images.size(); ++i) {
        const auto& image = report.images[i];
        table.add({image.id, std::string(build_word(image)), size_text(image.runtime_bytes),
                   size_text(image.proof_bytes), seconds_text(image.seconds),
                   std::to_string(counts[i].cells)});
        if (counts[i].tested) tests.add({image.id, tests_text(counts[i]), drivers_text(counts[i].drivers)});
    }
    std::string out;
    for (const auto* each : {&table, &tests}) {
        if (!each->empty()) out += each->render(options.width, options.colour) + "\n";
    }
    return out;
}

// What was not tried on a GPU, and is therefore no more than a prediction.
std::string predictions_part(const RunReport& report, const TextOptions& options) {
    TextCounts reasons;
    for (const auto& cell : report.cells) {
        if (cell.outcome == CellOutcome::passed_without_gpu && !cell.reason.empty())
            add_to(reasons, cell.reason);
    }
    std::string out;
    for (const auto& [reason, cells] : reasons)
        out += wrapped(fmt::format("{}: {}", text::count(cells, "cell"), reason), 0, options.width, 3);
    const auto predicted = drivers_of(report).predicted;
    if (predicted.empty()) return out;
    return out +
           wrapped(fmt::format("{} {}: predicted, not run", predicted.size() == 1 ? "driver" : "drivers",
                               text::join(predicted, ", ")),
                   0, options.width, 4);
}

std::string heading(const RunReport& report, const TextOptions& options) {
    std::string out = clipped(fmt::format("{} of {}", report.command, report.matrix), options.width) + "\n";
    if (!report.engine.empty()) {
        out +=
            wrapped("engine " + report.engine + (report.engine_why.empty() ? "" : ": " + report.engine_why),
                    0, options.width, 2);
    }
    return out + "\n";
}

// Paths are not wrapped: they are to be copied.
std::string places(const RunReport& report) {
    if (report.output.empty()) return {};
    const auto folder = text::printable(report.output);
    auto out = "output: " + folder + "\n";
    const auto logged = std::ranges::find_if(
        report.cells, [](const CellResult& cell) { return cell.log.find('/') != std::string::npos; });
    if (logged != report.cells.end()) {
        out += fmt::format("logs: {}/{}\n", folder,
                           text::printable(logged->log.substr(0, logged->log.rfind('/'))));
    }
    return out;
}

}  // namespace

std::string run_text(const RunReport& report, const TextOptions& wanted) {
    TextOptions options = wanted;
    options.width = std::max<std::size_t>(options.width, 40);
    const auto closing = closing_line(report);
    const auto word = closing.substr(0, closing.find(':'));
    return heading(report, options) + cells_part(report, options) + code_paths_part(report, options) +
           images_part(report, counts_by_image(report), options) + skipped_part(report, options) +
           failures_part(report, options) + predictions_part(report, options) +
           coloured(word, colour_of(word), options.colour) + closing.substr(word.size()) + "\n" +
           places(report);
}

namespace {

Json tests_json(const TestCounts& counts) {
    auto skipped = Json::object();
    for (const auto& [reason, number] : counts.skipped)
        skipped[reason] = number;
    return Json{{"failed", counts.failed},
                {"passed", counts.passed},
                {"interpreted", counts.interpreted},
                {"needs_gpu", counts.need_gpu},
                {"skipped", std::move(skipped)}};
}

Json drivers_json(const DriversOfRun& drivers) {
    return Json{{"run", drivers.run}, {"predicted", drivers.predicted}};
}

Json image_json(const ImageResult& image, const ImageCounts& counts) {
    Json json{{"id", image.id},
              {"reference", image.reference},
              {"digest", image.digest},
              {"revision", image.revision},
              {"inputs", image.inputs},
              {"proof_inputs", image.proof_inputs},
              {"built", image.built},
              {"reused", image.reused},
              {"runtime_bytes", image.runtime_bytes},
              {"proof_bytes", image.proof_bytes},
              {"seconds", finite_seconds(image.seconds)},
              {"error", image.error},
              {"log", image.log},
              {"cells", counts.cells},
              {"tests", tests_json(counts.tests)},
              {"drivers", drivers_json(counts.drivers)}};
    if (image.not_run) json["not_run"] = true;
    return json;
}

Json cell_json(const ImagesById& images, const CellResult& cell) {
    auto fields = Json::object();
    for (const auto& [name, text] : cell.fields)
        fields[name] = text;
    auto tests = json_list(cell.tests, test_json);
    const auto* image = images.of(cell);
    Json json{{"id", cell.id},
              {"cell", cell.cell},
              {"fields", std::move(fields)},
              {"verdict", cell.verdict},
              {"findings", cell.findings},
              {"fixes", cell.fixes},
              {"outcome", to_string(cell.outcome)},
              {"reason", cell.reason},
              {"proof", to_string(cell.proof)},
              {"image", cell.image},
              {"image_digest", image == nullptr ? std::string() : image->digest},
              {"image_bytes", image == nullptr ? std::uint64_t{0} : image->runtime_bytes},
              {"log", cell.log},
              {"seconds", finite_seconds(cell.seconds)},
              {"counts", tests_json(count_tests(cell))},
              {"tests", std::move(tests)}};
    if (!cell.chosen) json["chosen"] = false;
    if (!cell.last.empty()) json["last"] = cell.last;
    return json;
}

Json outcomes_json(const RunTotals& sums) {
    auto out = Json::object();
    for (std::size_t i = 0; i < sums.outcomes.size(); ++i) {
        out[std::string(to_string(static_cast<CellOutcome>(i)))] = sums.outcomes[i];
    }
    return out;
}

}  // namespace

void write_run(const RunReport& report, DocumentSink& document) {
    const auto sums = totals(report);
    document.member("matrix", Json{{"name", report.matrix}, {"cells", sums.cells}});
    document.member("command", report.command);
    document.member("engine", Json{{"name", report.engine}, {"why", report.engine_why}});
    if (!report.day.empty()) document.member("day", report.day);
    document.member("gpu", report.gpu);
    document.member("result", to_string(sums.result));
    document.member("exit_code", report.exit_code);
    document.member("seconds", finite_seconds(report.seconds));
    document.member("output", report.output);
    document.member("verdicts", Json{{"accepted", sums.accepted},
                                     {"degraded", sums.degraded},
                                     {"rejected", sums.rejected},
                                     {"unknown", sums.unknown}});
    document.member("not_rendered", sums.not_rendered);
    document.member("not_chosen", sums.not_chosen);
    document.member("outcomes", outcomes_json(sums));
    document.member("drivers", drivers_json(drivers_of(report)));
    document.begin_array("images");
    const auto counts = counts_by_image(report);
    for (std::size_t i = 0; i < report.images.size(); ++i)
        document.element(image_json(report.images[i], counts[i]));
    document.end_array();
    document.begin_array("cells");
    const ImagesById images(report);
    for (const auto& cell : report.cells)
        document.element(cell_json(images, cell));
    document.end_array();
}

std::string run_json(const RunReport& report) {
    JsonDocument document(ToolInfo{report.version, report.facts_date, report.facts_hash});
    write_run(report, document);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
