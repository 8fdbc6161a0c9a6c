#include "base/json.hpp"
#include "report/json_document.hpp"
#include "report/run_report.hpp"
#include "report/run_totals.hpp"

namespace cudamatrix::report {
namespace {

Json image_json(const ImageResult& image) {
    return Json{{"id", image.id},
                {"reference", image.reference},
                {"digest", image.digest},
                {"revision", image.revision},
                {"built", image.built},
                {"reused", image.reused},
                {"runtime_bytes", image.runtime_bytes},
                {"proof_bytes", image.proof_bytes},
                {"seconds", finite_seconds(image.seconds)},
                {"error", image.error},
                {"log", image.log}};
}

Json test_json(const TestResult& test) {
    return Json{{"id", test.id},
                {"part", test.part},
                {"status", to_string(test.status)},
                {"reason", test.reason},
                {"fault", test.fault},
                {"summary", test.summary},
                {"hint", test.hint},
                {"road", test.road},
                {"fatbin", test.fatbin},
                {"milliseconds", finite_seconds(test.milliseconds)},
                {"evidence", test.evidence}};
}

Json cell_json(const ImagesById& images, const CellResult& cell) {
    auto fields = Json::object();
    for (const auto& [name, text] : cell.fields)
        fields[name] = text;
    auto tests = Json::array();
    for (const auto& test : cell.tests)
        tests.push_back(test_json(test));
    const auto* image = images.of(cell);
    return Json{{"id", cell.id},
                {"cell", cell.cell},
                {"fields", std::move(fields)},
                {"verdict", cell.verdict},
                {"findings", cell.findings},
                {"outcome", to_string(cell.outcome)},
                {"reason", cell.reason},
                {"proof", to_string(cell.proof)},
                {"image", cell.image},
                {"image_digest", image == nullptr ? std::string() : image->digest},
                {"image_bytes", image == nullptr ? std::uint64_t{0} : image->runtime_bytes},
                {"log", cell.log},
                {"seconds", finite_seconds(cell.seconds)},
                {"tests", std::move(tests)}};
}

Json outcomes_json(const RunTotals& sums) {
    auto out = Json::object();
    for (std::size_t i = 0; i < sums.outcomes.size(); ++i) {
        out[std::string(to_string(static_cast<CellOutcome>(i)))] = sums.outcomes[i];
    }
    return out;
}

}  // namespace

std::string run_json(const RunReport& report) {
    const auto sums = totals(report);
    JsonDocument document(ToolInfo{report.version, report.facts_date, report.facts_hash});
    document.member("matrix", Json{{"name", report.matrix}, {"cells", sums.cells}});
    document.member("command", report.command);
    document.member("engine", Json{{"name", report.engine}, {"why", report.engine_why}});
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
    document.member("outcomes", outcomes_json(sums));
    document.begin_array("images");
    for (const auto& image : report.images)
        document.element(image_json(image));
    document.end_array();
    document.begin_array("cells");
    const ImagesById images(report);
    for (const auto& cell : report.cells)
        document.element(cell_json(images, cell));
    document.end_array();
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
