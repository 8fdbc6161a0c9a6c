// Reports of several machines, files that are none, and what nobody answered.
#include "unit/run/collect/collect_site.hpp"

using namespace cudamatrix;
using namespace cudamatrix::collect_site;

TEST_CASE("collect: the reports of two machines are the whole matrix") {
    Site site;
    site.machine("one", site.images[0]);
    site.machine("two", site.images[1]);
    const auto all = site.all();
    CHECK(all.reports == 2);
    CHECK(all.logs == 0);
    CHECK(all.unanswered.empty());
    CHECK(all.notes.empty());
    CHECK(all.report.exit_code == 4);
    CHECK(all.report.command == "run");
    CHECK(all.report.output.empty());
    CHECK(all.report.day == "2026-11-21");
    REQUIRE(all.report.images.size() == 2);
    for (const auto& image : all.report.images)
        CHECK(image.built);
    REQUIRE(all.report.cells.size() == 4);
    for (const auto& cell : all.report.cells) {
        CHECK(cell.outcome == CellOutcome::passed_without_gpu);
        CHECK(fs::exists(cell.log));
    }
    CHECK(collect::unanswered_text(all.unanswered).empty());
}

TEST_CASE("collect: what no machine answered is named, and the exit code is 1") {
    Site site;
    site.machine("one", site.images[0]);
    const auto half = site.all();
    CHECK(half.unanswered == std::vector<std::string>{site.cells[2], site.cells[3]});
    CHECK(half.report.exit_code == 1);
    CHECK(cell_of(half, site.cells[2]).outcome == CellOutcome::planned);
    CHECK(collect::unanswered_text(half.unanswered) ==
          fmt::format("no machine answered: 2 cells\n  {}\n  {}\n", site.cells[2], site.cells[3]));
    // Those that were not chosen are not missing.
    site.world.settings.choice.images = {site.images[0]};
    CHECK(site.all().unanswered.empty());
    CHECK(site.all().report.exit_code == 4);
}

TEST_CASE("collect: twenty of those without an answer are named") {
    CHECK(collect::unanswered_text({"a"}) == "no machine answered: 1 cell\n  a\n");
    const auto text = collect::unanswered_text(std::vector<std::string>(23, "a\x1b[2J"));
    CHECK(text.starts_with("no machine answered: 23 cells\n  a?[2J\n"));
    CHECK(text.ends_with("\n  a?[2J\n  and 3 more cells\n"));
    CHECK(std::ranges::count(text, '\n') == 22);
}

TEST_CASE("collect: an image that the environment kept a machine from building is no answer") {
    Site site;
    site.machine("one", site.images[0]);
    site.machine("two", site.images[1]);
    const auto given_up = [](Json& json) {
        auto& image = json["images"][0];
        image["built"] = false;
        image["digest"] = "";
        image["error"] = "the base cannot be made";
        image["not_run"] = true;
        json["exit_code"] = 3;
        json["cells"].erase(json["cells"].begin(), json["cells"].end());
        for (const auto* derived : {"result", "verdicts", "outcomes", "drivers", "not_chosen"})
            json.erase(derived);
        json["matrix"]["cells"] = 0;
        for (const auto* derived : {"cells", "tests", "drivers"})
            image.erase(derived);
    };
    site.change("two", given_up);
    auto some = site.all();
    CHECK(some.unanswered == std::vector<std::string>{site.cells[2], site.cells[3]});
    CHECK(some.report.exit_code == 3);
    // Another machine had it.
    site.machine("three", site.images[1]);
    fs::rename(site.results() / "two", site.results() / "zwei");
    some = site.all();
    CHECK(some.unanswered.empty());
    CHECK(some.report.exit_code == 4);
}

TEST_CASE("collect: unanswered asks the merged report alone") {
    RunReport plan;
    for (const auto* id : {"a", "b", "c", "d", "e"}) {
        auto& cell = plan.cells.emplace_back();
        cell.id = id;
        cell.image = "i";
        cell.outcome = CellOutcome::planned;
    }
    plan.cells[4].outcome = CellOutcome::skipped;
    auto merged = plan;
    merged.cells[0].outcome = CellOutcome::failed;
    merged.cells[1].outcome = CellOutcome::skipped;
    merged.cells[2].outcome = CellOutcome::errored;
    merged.cells.erase(merged.cells.begin() + 3);
    CHECK(collect::unanswered(plan, merged) == std::vector<std::string>{"b", "d"});
    merged.images.emplace_back().id = "i";
    merged.images[0].not_run = true;
    CHECK(collect::unanswered(plan, merged) == std::vector<std::string>{"a", "b", "c", "d"});
    merged.cells[0].tests.emplace_back();
    CHECK(collect::unanswered(plan, merged) == std::vector<std::string>{"b", "c", "d"});
    CHECK(collect::unanswered(plan, {}) == std::vector<std::string>{"a", "b", "c", "d"});
    CHECK(collect::unanswered({}, merged).empty());
}

TEST_CASE("collect: a report of another origin is refused") {
    Site site;
    site.machine("one", site.images[0]);
    const auto before = site.report_of("one");
    const auto refused_with = [&](const std::function<void(Json&)>& with) {
        site.write("one/report.json", to_text(before));
        site.change("one", with);
        return site.refused();
    };
    CHECK(refused_with([](Json& json) { json["version"] = "0.0.1"; })
              .starts_with(
                  "one/report.json: error: the version of cudamatrix is 0.0.1, that of matrix.yaml is "));
    CHECK(refused_with([](Json& json) { json["facts"]["hash"] = "0123456789ab"; })
              .starts_with("one/report.json: error: the hash of the facts is 0123456789ab, that of "
                           "matrix.yaml is "));
    CHECK(refused_with([](Json& json) { json["matrix"]["name"] = "three"; }) ==
          "one/report.json: error: the matrix is three, that of matrix.yaml is two\n"
          "  fix: merge reports of one matrix\n");
    const auto inputs = before["images"][0]["inputs"].get<std::string>().substr(0, 12);
    const auto image = site.images[0];
    CHECK(
        refused_with([](Json& json) { json["images"][0]["inputs"] = std::string(64, 'c'); }) ==
        fmt::format("one/report.json: error: image {} was made of other files: the inputs of its runtime are "
                    "cccccccccccc, by the plan {}{}",
                    image, inputs, kFix));
    CHECK(
        refused_with([](Json& json) { json["images"][0].erase("inputs"); }) ==
        fmt::format("one/report.json: error: image {} was made of other files: the inputs of its runtime are "
                    "not said, by the plan {}{}",
                    image, inputs, kFix));
    CHECK(refused_with([](Json& json) { json["images"][0]["proof_inputs"] = std::string(64, 'd'); })
              .starts_with(
                  fmt::format("one/report.json: error: image {} was made of other files: the inputs of "
                              "its proof are dddddddddddd, by the plan ",
                              image)));
    CHECK(refused_with([&](Json& json) {
              json["images"].push_back(json["images"][0]);
              auto& other = json["images"][1];
              other["id"] = "debian99";
              for (const auto* derived : {"cells", "tests", "drivers"})
                  other.erase(derived);
          }) ==
          fmt::format("one/report.json: error: image debian99 is not in the plan of matrix.yaml{}", kFix));
    CHECK(refused_with([](Json& json) { json["cells"][0]["id"] = "nobody"; }) ==
          fmt::format("one/report.json: error: cell nobody is not in the plan of matrix.yaml{}", kFix));
    const auto cell = before["cells"][0]["id"].get<std::string>();
    CHECK(refused_with([](Json& json) { json["cells"][0]["fields"]["gpu"] = "L4"; }) ==
          fmt::format("one/report.json: error: cell {} has other fields than in the plan{}", cell, kFix));
    CHECK(refused_with([](Json& json) {
              json["cells"][0]["verdict"] = "degraded";
              json.erase("verdicts");
          }) == fmt::format("one/report.json: error: cell {} is degraded here, by the plan accepted{}", cell,
                            kFix));
    CHECK(refused_with([](Json& json) {
              json["images"].clear();
          }).starts_with("one/report.json: error: $.cells"));
    CHECK(refused_with([](Json& json) {
              json["images"].clear();
              for (auto& each : json["cells"]) {
                  each.erase("image_digest");
                  each.erase("image_bytes");
              }
          }) ==
          fmt::format("one/report.json: error: cell {} was tested, and the report does not say what its "
                      "image {} was made of{}",
                      cell, image, kFix));
    CHECK(refused_with([&](Json& json) {
              json["cells"][0]["image"] = site.images[1];
              json["cells"][0].erase("image_digest");
              json["cells"][0].erase("image_bytes");
              for (const auto* derived : {"cells", "tests", "drivers"})
                  json["images"][0].erase(derived);
          }) == fmt::format("one/report.json: error: cell {} was tested in image {}, by the plan in {}{}",
                            cell, site.images[1], image, kFix));
    // And by the way: as it was it is taken.
    site.write("one/report.json", to_text(before));
    CHECK(site.all().unanswered.size() == 2);
}

TEST_CASE("collect: a report of before another lock is refused") {
    Site site;
    site.machine("one", site.images[0]);
    site.world.answer("base.txt", "apt=2.6.3\nlibc6=2.36-10\n");
    REQUIRE(site.world.lock(true).ok());
    const auto said = site.refused();
    CHECK(said.starts_with(
        fmt::format("one/report.json: error: image {} was made of other files: ", site.images[0])));
    CHECK(said.ends_with(kFix));
    fs::remove(site.world.lock_file());
    CHECK(site.refused().starts_with(
        fmt::format("one/report.json: error: image {} was made of other files: ", site.images[0])));
}

TEST_CASE("collect: what is cut or no report is refused") {
    Site site;
    site.machine("one", site.images[0]);
    const auto whole = content_of(site.results() / "one/report.json");
    for (const auto size : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 3}) {
        site.write("one/report.json", whole.substr(0, size));
        CHECK(site.refused().find("one/report.json:") == 0);
        CHECK(site.refused().find("error: not valid JSON") != std::string::npos);
    }
    site.write("one/report.json", "{}");
    CHECK(site.refused().starts_with("one/report.json: error: $.schema_version: missing"));
    site.write("one/report.json", std::string("\x7f"
                                              "ELF\0\1\xff\xfe",
                                              8));
    CHECK(site.refused() == "cudamatrix: error: one/report.json: byte 6 is not valid UTF-8\n");
}

TEST_CASE("collect: a file that is neither is refused, in a folder it is left out and said") {
    Site site;
    const std::string fix = "\n  fix: give report.json of an output folder, or what the suite printed\n";
    for (const auto& content : {std::string(), std::string("words\n"), std::string("{}\n[]\n{\"v\":1}\n"),
                                std::string("\0\xff\xfe{\n\0", 6), std::string(200'000, '[')}) {
        site.write("x.log", content);
        CHECK(site.refused({site.file("x.log")}) ==
              "x.log:1:1: error: neither a report of cudamatrix nor a log with lines of its suite" + fix);
        CHECK(site.refused() ==
              "results: error: no report.json and no line of the suite\n"
              "  fix: name the folder to which the results of the machines were copied\n");
    }
    site.write("y.txt", "words");
    site.write("z.jsonl", site.log(site.cells[0]));
    site.write("unread.md", site.log(site.cells[1]));
    const auto some = site.all();
    CHECK(some.logs == 1);
    CHECK(some.unanswered.size() == 3);
    REQUIRE(some.notes.size() == 1);
    CHECK(site.short_of(render(some.notes[0], {})) ==
          "x.log: note: this and 1 more file hold no line of the suite: left out\n");
}

TEST_CASE("collect: nothing there is refused") {
    Site site;
    CHECK(site.refused() ==
          "results: error: no report.json and no log in this folder\n"
          "  fix: name the folder to which the results of the machines were copied\n");
    CHECK(site.refused({site.file("gone")}).find("results/gone") == std::string::npos);
    CHECK(site.refused({site.file("gone")}).find("cannot read gone") != std::string::npos);
    // Links are not followed, neither to folders nor to files.
    site.write("one.log", site.log(site.cells[0]));
    const auto elsewhere = site.world.folder() / "elsewhere";
    fs::rename(site.results(), elsewhere);
    fs::create_directories(site.results());
    fs::create_symlink(elsewhere, site.results() / "folder");
    fs::create_symlink(elsewhere / "one.log", site.results() / "one.log");
    CHECK(site.refused().starts_with("results: error: no report.json and no log in this folder"));
    CHECK(site.of({(site.results() / "one.log").string()}).logs == 1);  // named, it is meant
}
