#include "report/run_document.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr std::array<std::string_view, 4> kCommands{"render", "build", "test", "run"};
constexpr std::array<std::string_view, 4> kVerdicts{"accepted", "degraded", "rejected", "unknown"};
constexpr std::array kExitCodes{0, 1, 2, 3, 4, 130};

// Where a value stands; the text is made only for a message.
struct Step {
    const Step* above = nullptr;
    std::string_view name;  ///< of a member; empty: an element of a list
    std::size_t index = 0;

    [[nodiscard]] std::string path() const {
        if (above == nullptr) return "$";
        return above->path() + (name.empty() ? fmt::format("[{}]", index) : "." + clipped(name, 60));
    }
};

class Mistakes {
  public:
    explicit Mistakes(std::string_view file) : file_(file) {}

    void add(const Step& at, std::string_view what) {
        if (++number_ > kMostMistakes) return;
        failure_.diagnostics.push_back(
            Diagnostic::error(fmt::format("{}: {}", at.path(), what), {file_, 0, 0}));
    }
    [[nodiscard]] bool empty() const { return number_ == 0; }
    [[nodiscard]] Failure take() && {
        if (number_ > kMostMistakes)
            failure_.diagnostics.back().notes.push_back(
                fmt::format("and {}", text::count(number_ - kMostMistakes, "more mistake")));
        return std::move(failure_);
    }

  private:
    std::string file_;
    std::size_t number_ = 0;
    Failure failure_{ExitCode::bad_input, {}};
};

// A value as a message shows it.
std::string value_text(const Json& json) {
    if (json.is_object()) return "an object";
    if (json.is_array()) return "a list";
    return clipped(to_text(json, false), 60);
}

// An object of the document. What is missing or of another kind is a mistake, and reads as nothing.
class Members {
  public:
    Members(Mistakes& mistakes, const Json& json, const Step& at)
        : mistakes_(mistakes), json_(json), at_(at) {
        if (!json.is_object())
            mistakes.add(at, fmt::format("found {}, expected an object", value_text(json)));
    }

    [[nodiscard]] const Json* find(std::string_view name, bool is_required = true) const {
        const auto* found = member(json_, name);
        if (found == nullptr && is_required && json_.is_object()) mistakes_.add({&at_, name}, "missing");
        return found;
    }
    void wrong(std::string_view name, const Json& found, std::string_view expected) const {
        mistakes_.add({&at_, name}, fmt::format("found {}, expected {}", value_text(found), expected));
    }
    std::string text(std::string_view name) const {
        const auto* found = find(name);
        if (found != nullptr && found->is_string()) return found->get<std::string>();
        if (found != nullptr) wrong(name, *found, "a text");
        return {};
    }
    std::string filled(std::string_view name) const {
        auto value = text(name);
        if (const auto* found = find(name, false); value.empty() && found != nullptr && found->is_string())
            wrong(name, *found, "a text that is not empty");
        return value;
    }
    template <class Values>
    std::string one_of(std::string_view name, const Values& words) const {
        const auto* found = find(name);
        if (found == nullptr) return {};
        if (found->is_string() && std::ranges::count(words, found->get_ref<const std::string&>()) != 0)
            return found->get<std::string>();
        std::vector<std::string> all;
        for (const auto word : words)
            all.emplace_back(word);
        wrong(name, *found, text::join(all, ", "));
        return {};
    }
    template <class Values>
    auto value(std::string_view name, const Values& values) const {
        std::vector<std::string_view> words;
        for (const auto each : values)
            words.push_back(to_string(each));
        return value_named(one_of(name, words), values).value_or(values[0]);
    }
    bool truth(std::string_view name, bool is_required = true) const {
        const auto* found = find(name, is_required);
        if (found != nullptr && !found->is_boolean()) wrong(name, *found, "true or false");
        return found != nullptr && found->is_boolean() && found->get<bool>();
    }
    std::uint64_t whole(std::string_view name) const {
        const auto* found = find(name);
        if (found != nullptr && found->is_number_unsigned()) return found->get<std::uint64_t>();
        if (found != nullptr) wrong(name, *found, "a whole number");
        return 0;
    }
    double number(std::string_view name) const {
        const auto* found = find(name);
        if (found != nullptr && found->is_number() && found->get<double>() >= 0) return found->get<double>();
        if (found != nullptr) wrong(name, *found, "a number that is not negative");
        return 0;
    }
    /// `use` gets each element with its place.
    template <class Use>
    void each(std::string_view name, const Use& use, bool is_required = true) const {
        const auto* found = find(name, is_required);
        if (found == nullptr) return;
        if (!found->is_array()) return wrong(name, *found, "a list");
        const Step list{&at_, name};
        for (std::size_t i = 0; i < found->size(); ++i)
            use((*found)[i], Step{&list, {}, i});
    }
    std::vector<std::string> texts(std::string_view name, bool is_required = true) const {
        std::vector<std::string> out;
        each(
            name,
            [&](const Json& json, const Step& at) {
                if (!json.is_string())
                    return mistakes_.add(at, fmt::format("found {}, expected a text", value_text(json)));
                out.push_back(json.get<std::string>());
            },
            is_required);
        return out;
    }
    /// The object `name`; `use` gets its members.
    template <class Use>
    void object(std::string_view name, const Use& use) const {
        if (const auto* found = find(name)) use(Members(mistakes_, *found, Step{&at_, name}));
    }
    [[nodiscard]] const Json& json() const { return json_; }
    [[nodiscard]] Mistakes& mistakes() const { return mistakes_; }

  private:
    Mistakes& mistakes_;
    const Json& json_;
    const Step& at_;
};

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
    in.each("metrics", [&](const Json& json, const Step& at) {
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
    in.each("tests", [&](const Json& json, const Step& at) {
        cell.tests.push_back(read_test({in.mistakes(), json, at}));
    });
    cell.chosen = in.find("chosen", false) == nullptr || in.truth("chosen");
    if (in.find("last", false) != nullptr) cell.last = in.filled("last");
    return cell;
}

ImageResult read_image(const Members& in) {
    ImageResult image;
    image.id = in.filled("id");
    image.reference = in.text("reference");
    image.digest = in.text("digest");
    image.revision = in.text("revision");
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
    const Step top;
    const Step step{&top, list};
    std::unordered_set<std::string_view> ids;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (const Step at{&step, {}, i}; !ids.insert(results[i].id).second)
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
void compare(Mistakes& mistakes, const Json& found, const Json& written, const Step& at) {
    if (found.is_object() && written.is_object()) {
        for (const auto& [name, value] : found.items()) {
            const Step below{&at, name};
            if (const auto* other = member(written, name)) {
                compare(mistakes, value, *other, below);
            } else {
                mistakes.add(below, "unknown member");
            }
        }
    } else if (found.is_array() && written.is_array() && found.size() == written.size()) {
        for (std::size_t i = 0; i < found.size(); ++i)
            compare(mistakes, found[i], written[i], Step{&at, {}, i});
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
            compare(mistakes_, *found, value, Step{&top_, name});
    }
    void begin_array(std::string_view name) override {
        written_.insert(name);
        list_ = {&top_, name};
        elements_ = cudamatrix::member(found_, name);
        next_ = 0;
    }
    void element(const Json& value) override {
        compare(mistakes_, elements_->at(next_), value, Step{&list_, {}, next_});
        ++next_;
    }
    void end_array() override {}
    void finish() {
        for (const auto& [name, value] : found_.items()) {
            if (written_.count(name) == 0) mistakes_.add(Step{&top_, name}, "unknown member");
        }
    }

  private:
    Mistakes& mistakes_;
    const Json& found_;
    Step top_, list_;
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
    auto json = parse_json(text, text::printable(file));
    if (!json.ok()) {
        auto failure = std::move(json).failure();
        auto& diagnostic = failure.diagnostics.front();
        if (diagnostic.where.line != 0) {
            diagnostic.where.file = file;
            diagnostic.message = "not valid JSON";
        }
        return failure;
    }
    CM_TRY(is_run_report(*json, file));
    Mistakes mistakes(file);
    const Step top;
    const Members in(mistakes, *json, top);
    RunReport report;
    read_head(in, report);
    in.each("images", [&](const Json& each, const Step& at) {
        report.images.push_back(read_image({mistakes, each, at}));
    });
    std::unordered_set<std::string> cells;
    in.each("cells", [&](const Json& each, const Step& at) {
        auto cell = read_cell({mistakes, each, at});
        cell.again = !cells.insert(cell.cell).second;
        report.cells.push_back(std::move(cell));
    });
    if (!mistakes.empty()) return std::move(mistakes).take();
    refuse_twins(mistakes, "images", report.images);
    refuse_twins(mistakes, "cells", report.cells);
    if (!mistakes.empty()) return std::move(mistakes).take();
    Comparison comparison(mistakes, *json);
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
