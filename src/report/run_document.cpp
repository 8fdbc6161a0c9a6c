#include "report/run_document.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/json_members.hpp"
#include "report/layout.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::array<std::string_view, 4> kCommands{"render", "build", "test", "run"};
constexpr std::array<std::string_view, 4> kVerdicts{"accepted", "degraded", "rejected", "unknown"};
constexpr std::array kExitCodes{0, 1, 2, 3, 4, 130};

Metric read_metric(const Members& in) {
    Metric metric;
    metric.name = in.text("name");
    metric.value = in.number("value");
    metric.unit = in.text("unit");
    metric.n = in.whole("n");
    metric.rsd = in.number("rsd");
    if (in.find("roof", false) == nullptr) return metric;
    metric.roof = in.filled("roof");
    metric.roof_value = in.number("roof_value");
    metric.ratio = in.number("ratio");
    if (in.find("goal", false) != nullptr) metric.goal = in.number("goal");
    return metric;
}

TestResult read_test(const Members& in) {
    TestResult test;
    test.id = in.text("id");
    test.part = in.text("part");
    test.status = in.value("status", kTestStatuses);
    test.reason = in.text("reason");
    test.fault = in.text("fault");
    test.summary = in.text("summary");
    test.hint = in.text("hint");
    test.code_path = in.text("code_path");
    test.fatbin = in.texts("fatbin");
    test.milliseconds = in.number("milliseconds");
    in.each("metrics", [&](const Json& json, const JsonPlace& at) {
        test.metrics.push_back(read_metric({in.mistakes(), json, at}));
    });
    test.evidence = in.text("evidence");
    return test;
}

CellResult read_cell(const Members& in) {
    CellResult cell;
    cell.id = in.filled("id");
    cell.cell = in.filled("cell");
    in.object("fields", [&](const Members& fields) {
        if (!fields.json().is_object()) return;
        for (const auto& [name, value] : fields.json().items())
            cell.fields.emplace_back(name, fields.text(name));
    });
    cell.verdict = in.one_of("verdict", kVerdicts);
    cell.findings = in.texts("findings");
    cell.fixes = in.texts("fixes", false);
    if (!cell.fixes.empty() && cell.fixes.size() != cell.findings.size())
        in.wrong("fixes", *in.find("fixes"), "one for each of findings");
    cell.outcome = in.value("outcome", kCellOutcomes);
    cell.reason = in.text("reason");
    cell.proof = in.value("proof", kProofs);
    cell.image = in.text("image");
    cell.log = in.text("log");
    cell.seconds = in.number("seconds");
    in.each("tests", [&](const Json& json, const JsonPlace& at) {
        cell.tests.push_back(read_test({in.mistakes(), json, at}));
    });
    cell.chosen = in.find("chosen", false) == nullptr || in.truth("chosen");
    if (in.find("last", false) != nullptr) cell.last = in.filled("last");
    return cell;
}

// Reports of before have none.
std::string read_inputs(const Members& in, std::string_view name) {
    const auto* found = in.find(name, false);
    if (found == nullptr) return {};
    auto hash = in.text(name);
    if (!hash.empty() && !is_sha256(hash)) in.wrong(name, *found, "64 hex digits");
    return hash;
}

ImageResult read_image(const Members& in) {
    ImageResult image;
    image.id = in.filled("id");
    image.reference = in.text("reference");
    image.digest = in.text("digest");
    image.revision = in.text("revision");
    image.inputs = read_inputs(in, "inputs");
    image.proof_inputs = read_inputs(in, "proof_inputs");
    image.built = in.truth("built");
    image.reused = in.truth("reused");
    image.runtime_bytes = in.whole("runtime_bytes");
    image.proof_bytes = in.whole("proof_bytes");
    image.seconds = in.number("seconds");
    image.error = in.text("error");
    image.log = in.text("log");
    image.not_run = in.truth("not_run", false);
    return image;
}

template <class Result>
void refuse_twins(Mistakes& mistakes, std::string_view list, const std::vector<Result>& results) {
    const JsonPlace top;
    const JsonPlace step{&top, list};
    std::unordered_set<std::string_view> ids;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (const JsonPlace at{&step, {}, i}; !ids.insert(results[i].id).second)
            mistakes.add(at, fmt::format("the id {} stands there twice", clipped(results[i].id, 100)));
    }
}

void read_head(const Members& in, RunReport& report) {
    in.one_of("tool", std::array<std::string_view, 1>{"cudamatrix"});
    report.version = in.text("version");
    in.object("facts", [&](const Members& facts) {
        report.facts_date = facts.text("date");
        report.facts_hash = facts.text("hash");
    });
    in.object("matrix", [&](const Members& matrix) {
        report.matrix = matrix.text("name");
        (void)matrix.whole("cells");
    });
    report.command = in.one_of("command", kCommands);
    in.object("engine", [&](const Members& engine) {
        report.engine = engine.text("name");
        report.engine_why = engine.text("why");
    });
    if (const auto* day = in.find("day", false)) {
        report.day = in.filled("day");
        if (!report.day.empty() && !is_date(report.day)) in.wrong("day", *day, "a day, YYYY-MM-DD");
    }
    report.gpu = in.truth("gpu");
    report.seconds = in.number("seconds");
    report.output = in.text("output");
    const auto* code = in.find("exit_code");
    if (code == nullptr) return;
    if (code->is_number_integer() &&
        std::ranges::any_of(kExitCodes, [&](int each) { return *code == each; })) {
        report.exit_code = code->get<int>();
    } else {
        in.wrong("exit_code", *code, "0, 1, 2, 3, 4 or 130");
    }
}

// `written` is what we would write for what we read of `found`: a member that it lacks has no meaning, and
// another value contradicts the rest of the report. What `found` lacks is of a newer report.
void compare(Mistakes& mistakes, const Json& found, const Json& written, const JsonPlace& at) {
    if (found.is_object() && written.is_object()) {
        for (const auto& [name, value] : found.items()) {
            const JsonPlace below{&at, name};
            if (const auto* other = member(written, name)) {
                compare(mistakes, value, *other, below);
            } else {
                mistakes.add(below, "unknown member");
            }
        }
    } else if (found.is_array() && written.is_array() && found.size() == written.size()) {
        for (std::size_t i = 0; i < found.size(); ++i)
            compare(mistakes, found[i], written[i], JsonPlace{&at, {}, i});
    } else if (found != written) {
        mistakes.add(at, fmt::format("found {}, but by the rest of the report it is {}", value_text(found),
                                     value_text(written)));
    }
}

// Holds what is found in a document against what we would write into it.
class Comparison final : public DocumentSink {
  public:
    Comparison(Mistakes& mistakes, const Json& found) : mistakes_(mistakes), found_(found) {}

    void member(std::string_view name, const Json& value) override {
        written_.insert(name);
        if (const auto* found = cudamatrix::member(found_, name))
            compare(mistakes_, *found, value, JsonPlace{&top_, name});
    }
    void begin_array(std::string_view name) override {
        written_.insert(name);
        list_ = {&top_, name};
        elements_ = cudamatrix::member(found_, name);
        next_ = 0;
    }
    void element(const Json& value) override {
        compare(mistakes_, elements_->at(next_), value, JsonPlace{&list_, {}, next_});
        ++next_;
    }
    void end_array() override {}
    void finish() {
        for (const auto& [name, value] : found_.items()) {
            if (written_.count(name) == 0) mistakes_.add(JsonPlace{&top_, name}, "unknown member");
        }
    }

  private:
    Mistakes& mistakes_;
    const Json& found_;
    JsonPlace top_, list_;
    const Json* elements_ = nullptr;  ///< read, so it is a list with as many elements as are written
    std::size_t next_ = 0;
    std::unordered_set<std::string_view> written_;
};

// Another kind of report, or another version of it, in one message: none of its values would be as expected.
Status is_run_report(const Json& json, std::string_view file) {
    const auto fail = [&](const std::string& what) {
        return Failure{ExitCode::bad_input,
                       {Diagnostic::error(what, {std::string(file), 0, 0})
                            .with_fix("give what render, build, test or run wrote with --format json, or "
                                      "report.json of their output folder")}};
    };
    if (!json.is_object()) return fail(fmt::format("$: found {}, expected an object", value_text(json)));
    const auto* version = member(json, "schema_version");
    if (version == nullptr) return fail("$.schema_version: missing: this is no report of cudamatrix");
    if (*version != 1)
        return fail(fmt::format("$.schema_version: found {}, expected 1", value_text(*version)));
    if (member(json, "command") == nullptr)
        return fail("$.command: missing: this is no report of render, build, test or run");
    return Done{};
}

}  // namespace

Result<RunReport> read_run_json(std::string_view text, std::string_view file) {
    CM_TRY_ASSIGN(const auto json, parse_report(text, file));
    CM_TRY(is_run_report(json, file));
    Mistakes mistakes(file);
    const JsonPlace top;
    const Members in(mistakes, json, top);
    RunReport report;
    read_head(in, report);
    in.each("images", [&](const Json& each, const JsonPlace& at) {
        report.images.push_back(read_image({mistakes, each, at}));
    });
    std::unordered_set<std::string> cells;
    in.each("cells", [&](const Json& each, const JsonPlace& at) {
        auto cell = read_cell({mistakes, each, at});
        cell.again = !cells.insert(cell.cell).second;
        report.cells.push_back(std::move(cell));
    });
    if (!mistakes.empty()) return std::move(mistakes).take();
    refuse_twins(mistakes, "images", report.images);
    refuse_twins(mistakes, "cells", report.cells);
    if (!mistakes.empty()) return std::move(mistakes).take();
    Comparison comparison(mistakes, json);
    const Json facts{{"date", report.facts_date}, {"hash", report.facts_hash}};
    const std::pair<std::string_view, Json> head[] = {
        {"schema_version", 1}, {"tool", "cudamatrix"}, {"version", report.version}, {"facts", facts}};
    for (const auto& [name, value] : head)
        comparison.member(name, value);
    write_run(report, comparison);
    comparison.finish();
    if (!mistakes.empty()) return std::move(mistakes).take();
    return report;
}

}  // namespace cudamatrix::report
