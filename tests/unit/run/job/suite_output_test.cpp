#include "run/job/suite_output.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "base/json.hpp"
#include "base/text.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

// The lines of a good run without a GPU, to be spoilt one thing at a time.
struct Lines {
    Json plan{
        {"v", 1},
        {"run", "r1"},
        {"cell", "c1"},
        {"plan", {"env.vars", "static.fatbin", "cmp.vadd"}},
        {"parts", {{"env.vars", {"load"}}, {"static.fatbin", {"static"}}, {"cmp.vadd", {"gpu", "cpu"}}}}};
    std::vector<Json> results{
        result("env.vars", "load", "pass"),
        result("static.fatbin", "static", "pass"),
        result("cmp.vadd", "gpu", "skip"),
        result("cmp.vadd", "cpu", "pass"),
    };
    Json totals{{"v", 1},
                {"run", "r1"},
                {"cell", "c1"},
                {"totals", {{"pass", 3}, {"fail", 0}, {"skip", 1}, {"lines", 4}}},
                {"exit", 4}};

    static Json result(const char* id, const char* part, const char* status) {
        Json line{{"v", 1},       {"run", "r1"},      {"cell", "c1"},       {"id", id},
                  {"part", part}, {"status", status}, {"summary", "words"}, {"t_ms", 12}};
        if (std::string(status) == "skip") line["reason"] = "no_device";
        if (std::string(status) == "pass")
            line["checks"] = Json::array({Json{{"name", "value"}, {"ok", true}}});
        return line;
    }
    // The totals as they would be for the results as they are.
    void recount(int exit) {
        auto counts = Json::object();
        for (const auto& line : results) {
            const auto status = line["status"].get<std::string>();
            counts[status] = (counts.contains(status) ? counts[status].get<int>() : 0) + 1;
        }
        totals["totals"] = counts;
        totals["exit"] = exit;
    }
    [[nodiscard]] std::vector<std::string> all() const {
        std::vector<std::string> lines{to_text(plan, false)};
        for (const auto& line : results)
            lines.push_back(to_text(line, false));
        lines.push_back(to_text(totals, false));
        return lines;
    }
};

SuiteOutput read_lines(const std::vector<std::string>& lines, std::optional<int> exit_code = 4) {
    SuiteReader reader({"r1", "c1", {"env.vars", "static.fatbin"}});
    for (const auto& line : lines)
        reader.take(line);
    return std::move(reader).finish(exit_code);
}

CellResult concluded(const SuiteOutput& output, bool gpu = false) {
    CellResult cell;
    conclude(output, gpu, cell);
    return cell;
}

// Good lines, one thing of them spoilt, and the problem that they must show.
struct Spoilt {
    std::function<void(Lines&)> spoil;
    std::string expected;
};

// The one problem that the spoilt lines must show, and the cell must be red.
void check_problem(const Lines& lines, const std::string& expected, std::optional<int> exit_code = 4) {
    const auto output = read_lines(lines.all(), exit_code);
    INFO(text::join(output.problems, "\n"));
    REQUIRE_FALSE(output.problems.empty());
    CHECK(output.problems.front() == expected);
    const auto cell = concluded(output);
    CHECK(cell.outcome == CellOutcome::failed);
    CHECK(cell.proof == Proof::none);
}

}  // namespace

TEST_CASE("suite output: a good run without a GPU is passed_without_gpu, never passed") {
    const auto output = read_lines(Lines().all());
    CHECK(output.problems.empty());
    REQUIRE(output.tests.size() == 4);
    CHECK(output.tests[0].milliseconds == 12);
    const auto cell = concluded(output);
    CHECK(cell.outcome == CellOutcome::passed_without_gpu);
    CHECK(cell.proof == Proof::loaded);
    CHECK(cell.reason.empty());
}

TEST_CASE("suite output: kernels that passed on the GPU that was given are ran") {
    Lines lines;
    lines.results[2] = Lines::result("cmp.vadd", "gpu", "pass");
    lines.recount(0);
    const auto output = read_lines(lines.all(), 0);
    CHECK(output.problems.empty());
    CHECK(concluded(output, true).outcome == CellOutcome::passed);
    CHECK(concluded(output, true).proof == Proof::ran);
    // Where no GPU was handed in, nobody ran on one, whatever the image says.
    CHECK(concluded(output, false).outcome == CellOutcome::passed_without_gpu);
}

TEST_CASE("suite output: kernels that the interpreter executed are interpreted, also where a GPU was given") {
    Lines lines;
    lines.plan["parts"]["cmp.vadd"] = {"gpu", "cpu", "interpreted"};
    for (const auto* status : {"pass", "skip", "fail"}) {
        lines.results.resize(4);
        lines.results.push_back(Lines::result("cmp.vadd", "interpreted", status));
        const bool fails = std::string(status) == "fail";
        lines.recount(fails ? 1 : 4);
        const auto output = read_lines(lines.all(), fails ? 1 : 4);
        CHECK(output.problems.empty());
        for (const bool gpu : {false, true}) {
            const auto cell = concluded(output, gpu);
            CHECK(cell.outcome == (fails ? CellOutcome::failed : CellOutcome::passed_without_gpu));
            CHECK(cell.proof == (fails                           ? Proof::none
                                 : std::string(status) == "pass" ? Proof::interpreted
                                                                 : Proof::loaded));
        }
    }
}

TEST_CASE("suite output: what static.fatbin found is kept") {
    Lines lines;
    SUBCASE("in its own programs") {
        lines.results[1]["evidence"] = {{"fatbin", {"sass 7.5", "ptx 9.0@7.8"}}, {"code_path", "sass 7.5"}};
    }
    SUBCASE("in a file that it was asked to look into") {
        lines.results[1]["evidence"]["files"] = Json::array(
            {Json{{"path", "x"}, {"code_path", "sass 7.5"}, {"fatbin", {"sass 7.5", "ptx 9.0@7.8"}}}});
    }
    const auto output = read_lines(lines.all());
    CHECK(output.tests[1].code_path == "sass 7.5");
    CHECK(output.tests[1].fatbin == std::vector<std::string>{"sass 7.5", "ptx 9.0@7.8"});
}

TEST_CASE("suite output: each red status makes its cell red, by its own name") {
    struct Row {
        const char* status;
        CellOutcome outcome;
        int exit;
    };
    for (const auto& row : {Row{"fail", CellOutcome::failed, 1}, Row{"crash", CellOutcome::failed, 1},
                            Row{"timeout", CellOutcome::failed, 1}, Row{"error", CellOutcome::errored, 3}}) {
        Lines lines;
        lines.results[1] = Lines::result("static.fatbin", "static", row.status);
        lines.results[1]["fault"] = "F6";
        lines.results[1]["summary"] = "no code for 9.0";
        lines.recount(row.exit);
        const auto output = read_lines(lines.all(), row.exit);
        CHECK(output.problems.empty());
        const auto cell = concluded(output);
        CHECK(cell.outcome == row.outcome);
        CHECK(cell.reason == "static.fatbin (F6): no code for 9.0");
        CHECK(cell.proof == Proof::none);
    }
}

TEST_CASE("suite output: a result for a test that was not planned is no result") {
    for (const char* id : {"forged.pass", "env.vars"}) {  // an unknown id, an unknown part
        Lines lines;
        lines.results.push_back(Lines::result(id, "gpu", "pass"));
        lines.recount(4);
        const auto output = read_lines(lines.all());
        REQUIRE(output.problems.size() == 2);  // the totals count a line that does not count
        CHECK(output.tests.size() == 4);
        CHECK(concluded(output).outcome == CellOutcome::failed);
    }
}

TEST_CASE("suite output: a second result for the same test does not replace the first") {
    Lines lines;
    lines.results[1] = Lines::result("static.fatbin", "static", "fail");
    lines.results.push_back(Lines::result("static.fatbin", "static", "pass"));
    lines.recount(1);
    const auto output = read_lines(lines.all(), 1);
    CHECK(output.problems.front() == "static.fatbin/static has two results");
    CHECK(output.tests[1].status == TestStatus::fail);
}

TEST_CASE("suite output: one thing of a good run is wrong") {
    const std::vector<Spoilt> all{
        // A planned test without a line; a plan without a test that we know must be there.
        {[](Lines& lines) {
             lines.results.pop_back();
             lines.recount(4);
         },
         "cmp.vadd/cpu was planned and has no result"},
        {[](Lines& lines) {
             lines.plan["plan"] = {"env.vars", "cmp.vadd"};
             lines.plan["parts"].erase("static.fatbin");
             lines.results.erase(lines.results.begin() + 1);
             lines.recount(4);
         },
         "the plan lacks static.fatbin"},
        // Totals that do not fit the lines.
        {[](Lines& lines) { lines.totals["totals"]["pass"] = 4; }, "the totals say 4 pass, the lines say 3"},
        {[](Lines& lines) { lines.totals["totals"]["fail"] = 1; }, "the totals say 1 fail, the lines say 0"},
        {[](Lines& lines) { lines.totals["totals"]["pass"] = "three"; },
         "the totals say \"three\" pass, the lines say 3"},
        {[](Lines& lines) { lines.totals["totals"].erase("pass"); },
         "the totals say no pass, the lines say 3"},
        {[](Lines& lines) { lines.totals["totals"] = 7; }, "the totals are not an object"},
        {[](Lines& lines) { lines.totals.erase("exit"); }, "the totals do not say the exit code"},
        // A pass that proves nothing.
        {[](Lines& lines) { lines.results[0].erase("checks"); },
         "env.vars/load says pass and lists no check"},
        {[](Lines& lines) { lines.results[0]["checks"][0]["ok"] = false; },
         "env.vars/load says pass, and its check value does not hold"},
        {[](Lines& lines) { lines.results[0]["checks"][0]["ok"] = "true"; },
         "env.vars/load says pass, and its check value does not hold"},
        // An excuse and a status that do not exist.
        {[](Lines& lines) { lines.results[2]["reason"] = "did not feel like it"; },
         "cmp.vadd was skipped for a reason that does not exist: did not feel like it"},
        {[](Lines& lines) { lines.results[0]["status"] = "Passed"; },
         "env.vars has no known status: Passed"}};
    for (const auto& [spoil, expected] : all) {
        Lines lines;
        spoil(lines);
        check_problem(lines, expected);
    }
}

TEST_CASE("suite output: the exit code is a second witness") {
    check_problem(Lines(), "the totals say exit code 4, it was 1", 1);
    check_problem(Lines(), "the totals say exit code 4, it was 137", 137);
    Lines lines;
    lines.results[1] = Lines::result("static.fatbin", "static", "fail");
    lines.recount(4);
    check_problem(lines, "a test is red, but the suite ended with exit code 4");
    lines = Lines();
    lines.recount(3);
    check_problem(lines, "no test is red, but the suite ended with exit code 3", 3);
}

TEST_CASE("suite output: a run that was cut off is never green") {
    const auto lines = Lines().all();
    for (std::size_t kept = 0; kept < lines.size(); ++kept) {
        const auto output =
            read_lines({lines.begin(), lines.begin() + static_cast<long>(kept)}, std::nullopt);
        CHECK_FALSE(output.problems.empty());
        CHECK(concluded(output).outcome == CellOutcome::failed);
    }
    CHECK(read_lines({}, 0).problems.front() == "the suite printed nothing");
}

TEST_CASE("suite output: a text cut at any byte is never green") {
    const auto whole = text::join(Lines().all(), "\n");
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        const auto output = read_lines(text::split(whole.substr(0, cut), '\n'), 4);
        REQUIRE_FALSE(output.problems.empty());
    }
}

TEST_CASE("suite output: lines about another run or cell do not count") {
    for (const auto* name : {"run", "cell"}) {
        Lines lines;
        lines.results[0][name] = "other";
        const auto output = read_lines(lines.all());
        CHECK(output.problems.front() == "line 2 is about another run or cell");
        CHECK(output.tests.size() == 3);
    }
}

TEST_CASE("suite output: nothing but skips proves nothing") {
    Lines lines;
    for (const std::size_t i : {0u, 1u, 3u}) {
        lines.results[i]["status"] = "skip";
        lines.results[i]["reason"] = "no_nvcc";
    }
    lines.recount(5);
    const auto output = read_lines(lines.all(), 5);
    CHECK(concluded(output).outcome == CellOutcome::failed);
}

TEST_CASE("suite output: lines in the wrong order") {
    const auto good = Lines().all();
    auto lines = good;
    std::swap(lines[0], lines[1]);
    CHECK(read_lines(lines).problems.front() == "line 1 comes before the plan");
    lines = good;
    lines.push_back(lines[1]);
    CHECK(read_lines(lines).problems.front() == "line 7 comes after the totals");
    lines = good;
    lines.insert(lines.begin() + 2, lines[0]);
    CHECK(read_lines(lines).problems.front() == "line 3 is a second plan");
}

TEST_CASE("suite output: what is no line of ours") {
    const auto good = Lines().all();
    const std::vector<std::pair<std::string, std::string>> bad{
        {"hello", "line 2 is not a JSON object: hello"},
        {"[]", "line 2 is not a JSON object: []"},
        {"\x1b[2J\x1b[31mPassed", "line 2 is not a JSON object: ?[2J?[31mPassed"},
        {"{\"v\":1,\"id\":\"\xff\xfe\"}", "line 2 is not a JSON object: {\"v\":1,\"id\":\"??\"}"},
        {"{\"v\":2}", "line 2 is not of version 1"},
        {"{}", "line 2 is not of version 1"},
        {std::string(100, '['), "line 2 is not a JSON object: " + std::string(80, '[')},
        {std::string(64 * 1024, 'x'), "line 2 is longer than 64 KiB"},
    };
    for (const auto& [line, expected] : bad) {
        auto lines = good;
        lines.insert(lines.begin() + 1, line);
        const auto output = read_lines(lines);
        REQUIRE_FALSE(output.problems.empty());
        CHECK(output.problems.front() == expected);
        CHECK(concluded(output).outcome == CellOutcome::failed);
    }
}

TEST_CASE("suite output: escape sequences, bad ids and endless texts do not reach a report") {
    Lines lines;
    lines.results[0]["summary"] = "\x1b[31m]]>" + std::string(100'000 / 4, 'x');
    lines.results[0]["evidence"] = {{"stderr_tail", "a\x07\nb"}};
    lines.results[1]["t_ms"] = -5;
    lines.results[2]["t_ms"] = "soon";
    const auto output = read_lines(lines.all());
    CHECK(output.problems.empty());
    CHECK(output.tests[0].summary.substr(0, 8) == "?[31m]]>");
    CHECK(output.tests[0].summary.size() == 2000);
    CHECK(output.tests[0].evidence == "stderr_tail: a??b");
    CHECK(output.tests[1].milliseconds == 0);
    CHECK(output.tests[2].milliseconds == 0);
}

TEST_CASE("suite output: a flood of lines is bounded") {
    SuiteReader reader({"r1", "c1", {}});
    for (int i = 0; i < 100'000; ++i)
        reader.take("junk");
    const auto output = std::move(reader).finish(std::nullopt);
    CHECK(output.problems.size() == 20);
    CHECK(output.tests.empty());
}

TEST_CASE("suite output: empty lines do no harm") {
    auto lines = Lines().all();
    lines.insert(lines.begin() + 1, "");
    lines.push_back("  ");
    CHECK(read_lines(lines).problems.empty());
}

TEST_CASE("suite output: what a log adds: numbers of its lines, the exit code that the totals say, the GPU") {
    const auto lines = Lines().all();
    SuiteReader reader({"r1", "c1", {"env.vars"}});
    CHECK_FALSE(reader.stated_exit());
    reader.take(lines[0], 10);
    reader.take(lines[0], 12);
    reader.take("words", 15);
    for (std::size_t i = 1; i < lines.size(); ++i)
        reader.take(lines[i]);
    CHECK(reader.stated_exit() == 4);
    const auto output = std::move(reader).finish(4);
    REQUIRE(output.problems.size() == 2);
    CHECK(output.problems[0] == "line 12 is a second plan");
    CHECK(output.problems[1] == "line 15 is not a JSON object: words");
    for (const auto& odd : {Json(-1), Json(256), Json(std::int64_t{1} << 40)}) {
        Lines other;
        other.totals["exit"] = odd;
        SuiteReader one({"r1", "c1", {}});
        for (const auto& line : other.all())
            one.take(line);
        CHECK_FALSE(one.stated_exit());
    }
    Lines seen;
    seen.results[0]["gpu"] = Json{{"name", "Tesla\x1b T4"}, {"cc", "7.5"}, {"driver", "550.54.15"}};
    const auto with_gpu = read_lines(seen.all());
    CHECK(with_gpu.gpu);
    CHECK(with_gpu.gpu_seen.name == "Tesla? T4");
    CHECK(with_gpu.gpu_seen.compute == "7.5");
    CHECK(with_gpu.gpu_seen.driver == "550.54.15");
    CHECK(with_gpu.device == "Tesla? T4, compute capability 7.5, driver 550.54.15");
}
