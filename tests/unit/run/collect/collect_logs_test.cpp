// What the suite printed on machines that this program does not see.
#include "unit/run/collect/collect_site.hpp"

using namespace cudamatrix;
using namespace cudamatrix::collect_site;

TEST_CASE("collect: logs of the suite, of several cells in any order, between other lines") {
    Site site;
    const auto a = site.lines(site.cells[0]);
    const auto b = site.lines(site.cells[2]);
    std::string mixed = "pulling image\r\n\n2026-11-27 start\n";
    for (std::size_t i = 0; i < a.size(); ++i) {
        mixed += to_text(a[i], false) + "\r\n" + to_text(b[i], false) + "\n";
        if (i == 3) mixed += "{\"level\":\"info\"}\nslurmstepd: words\n";
    }
    site.write("slurm-1.out", mixed);
    site.write("pods/0.log", site.log(site.cells[1]) + site.log(site.cells[3]));
    const auto all = site.all();
    CHECK(all.logs == 2);
    CHECK(all.reports == 0);
    CHECK(all.unanswered.empty());
    CHECK(all.report.exit_code == 4);
    CHECK(all.report.command == "test");
    CHECK(all.report.day.empty());  // a log has none
    CHECK_FALSE(all.report.gpu);
    for (const auto& cell : all.report.cells) {
        CHECK(cell.outcome == CellOutcome::passed_without_gpu);
        CHECK(cell.proof == Proof::interpreted);
        CHECK(cell.reason.empty());
        CHECK(cell.seconds > 0);
        CHECK(fs::exists(cell.log));
    }
    REQUIRE(all.notes.size() == 1);
    CHECK(site.short_of(render(all.notes[0], {})) ==
          "slurm-1.out:1:1: note: 4 lines of 1 log are not of the suite: left out\n");
}

TEST_CASE("collect: a log must be asked for by the plan") {
    Site site;
    const auto cell = site.cells[0];
    const auto id = [&](bool gpu) { return site.tests.at({cell, gpu}).plan_id; };
    const auto run_as = [&](const std::string& run) {
        site.spoilt("a.log", cell, [&](std::vector<Json>& lines) {
            for (auto& line : lines)
                line["run"] = run;
        });
        return site.refused();
    };
    const auto expected = [&](const std::string& shown) {
        return fmt::format(
            "a.log:1:1: error: cell {} was asked as \"{}\", the plan asks it as {} (with a GPU) or {} "
            "(without){}",
            cell, shown, id(true), id(false), kFix);
    };
    CHECK(run_as("20261127T120000Z-17") == expected("20261127T120000Z-17"));
    CHECK(run_as("") == expected(""));
    CHECK(run_as("\x1b[2J") == expected("?[2J"));
    CHECK(run_as(site.tests.at({site.cells[1], false}).plan_id).starts_with("a.log:1:1: error: cell "));
    CHECK(run_as(id(false).substr(0, 15)).starts_with("a.log:1:1: error: cell "));
    site.spoilt("a.log", cell, [](std::vector<Json>& lines) { lines[2]["run"] = "other"; });
    CHECK(site.refused().starts_with("a.log:3:1: error: cell "));
    site.spoilt("a.log", cell, [](std::vector<Json>& lines) { lines[2]["cell"] = "nobody"; });
    CHECK(site.refused() ==
          fmt::format("a.log:3:1: error: cell nobody is not in the plan of matrix.yaml{}", kFix));
    // Another level asks more.
    site.write("a.log", site.log(cell));
    CHECK(site.all().logs == 1);
    site.world.settings.level = "full";
    CHECK(site.refused().starts_with(
        fmt::format("a.log:1:1: error: cell {} was asked as \"{}\", ", cell, id(false))));
}

TEST_CASE("collect: lines that cannot be believed make the cell red") {
    struct Row {
        std::function<void(std::vector<Json>&)> spoil;
        std::string reason;
    };
    Site site;
    const auto cell = site.cells[0];
    const auto cannot = [](const std::string& why) {
        return "the suite's output cannot be believed: " + why;
    };
    const auto lines = site.lines(cell);
    const std::vector<Row> rows{
        {[](auto& all) { all.pop_back(); },
         cannot("the totals are missing: the suite did not come to its end")},
        {[](auto& all) { all.back()["exit"] = 1; },
         cannot("no test is red, but the suite ended with exit code 1")},
        {[](auto& all) { all.back()["exit"] = 137; },
         cannot("no test is red, but the suite ended with exit code 137")},
        {[](auto& all) { all.back().erase("exit"); }, cannot("the totals do not say the exit code")},
        {[](auto& all) { all.back()["totals"]["pass"] = 1; },
         cannot("the totals say 1 pass, the lines say ")},
        {[](auto& all) { all.erase(all.begin()); }, cannot("line 1 comes before the plan")},
        {[](auto& all) { all[1]["v"] = 2; }, cannot("line 2 is not of version 1")},
        {[](auto& all) { all.push_back(all[1]); },
         cannot(fmt::format("line {} comes after the totals", lines.size() + 1))},
        {[](auto& all) { all[0]["plan"].erase(0); }, cannot("the plan lacks ")},
        {[](auto& all) {
             all[1]["status"] = "fail";
             all[1]["summary"] = "broken";
         },
         ": broken"},
    };
    for (const auto& row : rows) {
        site.spoilt("a.log", cell, row.spoil);
        const auto result = site.judged(cell);
        CHECK(result.outcome == CellOutcome::failed);
        CHECK(result.proof == Proof::built);
        CHECK_MESSAGE(result.reason.find(row.reason) != std::string::npos,
                      result.reason << " / " << row.reason);
        CHECK(site.all().report.exit_code == 1);
    }
    // Cut at any line, and inside of one, it has no end.
    const auto whole = Site::text_of(lines);
    for (const auto size : {whole.size() - 3, whole.size() / 2, whole.find('\n') + 1}) {
        site.write("a.log", whole.substr(0, size));
        CHECK(site.judged(cell).outcome == CellOutcome::failed);
    }
}

TEST_CASE("collect: a GPU is believed where it was asked for and is the cell's") {
    Site site;
    const auto cell = site.cells[0];
    const auto seen = [&](const char* cc, const char* driver, bool asked = true) {
        site.spoilt(
            "a.log", cell,
            [&](std::vector<Json>& lines) {
                if (cc != nullptr) say_gpu(lines, cc, driver);
                if (asked) return;
                for (auto& line : lines)
                    line["run"] = site.tests.at({cell, false}).plan_id;
            },
            true);
        return site.judged(cell);
    };
    const auto good = seen("7.5", "550.54.15");
    CHECK(good.outcome == CellOutcome::passed);
    CHECK(good.proof == Proof::ran);
    CHECK(site.all().report.gpu);
    struct Row {
        CellResult found;
        std::string reason;
    };
    for (
        const auto& [found, reason] : {
            Row{seen("9.0", "550.54.15"),
                "it ran on a GPU that is not the cell's: its compute capability is 9.0 (NVIDIA X), the cell's 7.5"},
            Row{seen("7.5", "570.86.15"),
                "it ran on a GPU that is not the cell's: its driver is 570.86.15, the cell's 550.54.15"},
            Row{seen("7.5", "\x1b[2J"),
                "it ran on a GPU that is not the cell's: its driver is ?[2J, the cell's 550.54.15"},
            Row{seen(nullptr, nullptr), "its lines are of a GPU, and they do not say of which"},
            Row{seen("7.5", "550.54.15", false), "its lines are of a GPU, and it was asked to use none"},
        }) {
        CHECK(found.outcome == CellOutcome::errored);
        CHECK(found.proof == Proof::built);
        CHECK(found.reason == reason);
        CHECK(found.tests.empty());
    }
    CHECK_FALSE(site.all().report.gpu);
    CHECK(site.all().report.exit_code == 1);
}

TEST_CASE(
    "collect: of a cell that is there twice the last result stands, a tested one before one that is not") {
    Site site;
    const auto cell = site.cells[0];
    const auto good = site.log(cell);
    auto failing = site.lines(cell);
    failing[1]["status"] = "fail";
    const auto bad = Site::text_of(failing);
    const auto cut = good.substr(0, good.size() / 2);
    const auto outcome = [&](const std::string& first, const std::string& second) {
        site.write("a.log", first);
        site.write("b.log", second);
        const auto of_two = site.judged(cell).outcome;
        fs::remove(site.results() / "b.log");
        site.write("a.log", first + "\n" + second);
        CHECK(site.judged(cell).outcome == of_two);  // started again in the same log
        return of_two;
    };
    CHECK(outcome(good, bad) == CellOutcome::failed);
    CHECK(outcome(bad, good) == CellOutcome::passed_without_gpu);
    CHECK(outcome(cut, good) == CellOutcome::passed_without_gpu);
    CHECK(outcome(good, cut) == CellOutcome::failed);
    // As it is with a report: the folder of the machine comes after the log.
    site.write("a.log", bad);
    site.machine("machine", site.images[0]);
    CHECK(site.judged(cell).outcome == CellOutcome::passed_without_gpu);
    // What lies beside a report is of that report.
    CHECK(site.all().logs == 1);
    site.write("machine/z.out", bad);
    CHECK(site.judged(cell).outcome == CellOutcome::failed);
}

TEST_CASE("collect: 200 hostile values are refused or cleaned") {
    Site site;
    const auto cell = site.cells[0];
    const std::vector<Json> values{"\x1b[2J\x1b[31mPASS",
                                   "line\nbreak\r::error::x",
                                   "\xe2\x80\xae"
                                   "evil",
                                   std::string("nul\0x", 5),
                                   std::string(100'000, 'x'),
                                   std::string(5'000, '\n'),
                                   nullptr,
                                   true,
                                   -1,
                                   1e300,
                                   Json::array(),
                                   Json::object(),
                                   Json::array({Json::array({Json::array({1})})}),
                                   Json{{"run", "x"}, {"cell", "y"}, {"v", 1}},
                                   "passed",
                                   "pass",
                                   4'294'967'296,
                                   "{\"v\":1}",
                                   "../../etc/passwd",
                                   "\xc2\x9b"
                                   "31m"};
    const std::vector<std::string> members{"summary", "hint", "reason",   "part", "status",
                                           "id",      "t_ms", "evidence", "gpu",  "checks"};
    std::size_t tried = 0;
    for (const auto& value : values) {
        for (const auto& name : members) {
            site.spoilt("a.log", cell, [&](std::vector<Json>& lines) { lines[1][name] = value; });
            ++tried;
            const auto collected = site.collect({site.results().string()});
            REQUIRE_MESSAGE(collected.ok(), name);
            const auto& result = cell_of(*collected, cell);
            CHECK(result.outcome != CellOutcome::planned);
            CHECK(result.outcome != CellOutcome::passed);
            const auto text = report::run_text(collected->report, {}) + report::run_json(collected->report);
            for (const auto* bad : {"\x1b", "\xe2\x80\xae", "\xc2\x9b", "\r"})
                CHECK_MESSAGE(text.find(bad) == std::string::npos, name);
            CHECK(text.size() < 300'000);
        }
    }
    CHECK(tried == 200);
    // Of the names of run and cell nothing but the plan's is taken.
    for (const auto& value : values) {
        for (const auto* name : {"run", "cell"}) {
            site.spoilt("a.log", cell, [&](std::vector<Json>& lines) { lines[1][name] = value; });
            const auto collected = site.collect({site.results().string()});
            if (value.is_string()) {
                REQUIRE_FALSE(collected.ok());
                const auto said = World::render_failure(collected.failure());
                CHECK(said.find('\x1b') == std::string::npos);
                CHECK(said.size() < 1000);
            } else {  // no line of the suite: its result is missing
                REQUIRE(collected.ok());
                CHECK(cell_of(*collected, cell).outcome == CellOutcome::failed);
            }
        }
    }
}
