#include "run/job/journal.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;
namespace fs = std::filesystem;

namespace {

struct Scratch : test::TempFolder {
    fs::path path = *this / "journal.jsonl";
};

CellResult cell(const std::string& id) {
    CellResult result;
    result.id = id;
    result.outcome = CellOutcome::passed_without_gpu;
    result.proof = Proof::loaded;
    result.log = "logs/" + id + ".log";
    result.seconds = 1.5;
    result.tests.push_back({"static.fatbin",
                            "static",
                            TestStatus::pass,
                            "",
                            "",
                            "sass 7.5",
                            "",
                            "sass 7.5",
                            {"sass 7.5", "ptx 9.0@7.8"},
                            "",
                            12});
    result.tests.push_back(
        {"cmp.vadd", "gpu", TestStatus::skip, "no_device", "", "no GPU here", "", "", {}, "", 0});
    return result;
}

Journal opened(const fs::path& path) {
    auto journal = Journal::open(path);
    REQUIRE(journal.ok());
    return std::move(*journal);
}

}  // namespace

TEST_CASE("journal: what is appended is found again under the same key, whole") {
    const Scratch scratch;
    auto journal = opened(scratch.path);
    REQUIRE(journal.append(cell("a"), "k1").ok());
    REQUIRE(journal.append(cell("b"), "k2").ok());
    const auto again = opened(scratch.path);
    CHECK(again.size() == 2);
    const auto* found = again.find("a", "k1");
    REQUIRE(found != nullptr);
    CHECK(found->outcome == CellOutcome::passed_without_gpu);
    CHECK(found->proof == Proof::loaded);
    CHECK(found->log == "logs/a.log");
    CHECK(found->seconds == 1.5);
    REQUIRE(found->tests.size() == 2);
    CHECK(found->tests[0].fatbin == std::vector<std::string>{"sass 7.5", "ptx 9.0@7.8"});
    CHECK(found->tests[0].code_path == "sass 7.5");
    CHECK(found->tests[1].status == TestStatus::skip);
    CHECK(found->tests[1].reason == "no_device");
}

TEST_CASE("journal: how fast a GPU was is found again, and a line with half of it is not taken") {
    const Scratch scratch;
    auto measured = cell("a");
    measured.tests[1].metrics = {{"copy", 98.5, "GB/s", 5, 0.006, "cudaMemcpy", 100, 0.985, 0.97},
                                 {"up", 25, "GB/s", 5, 0}};
    auto journal = opened(scratch.path);
    REQUIRE(journal.append(measured, "k").ok());
    const auto again = opened(scratch.path);
    REQUIRE(again.find("a", "k") != nullptr);
    const auto& metrics = again.find("a", "k")->tests[1].metrics;
    REQUIRE(metrics.size() == 2);
    CHECK(metrics[0].name == "copy");
    CHECK(metrics[0].value == 98.5);
    CHECK(metrics[0].n == 5);
    CHECK(metrics[0].rsd == 0.006);
    CHECK(metrics[0].roof == "cudaMemcpy");
    CHECK(metrics[0].roof_value == 100);
    CHECK(metrics[0].ratio == doctest::Approx(0.985));
    CHECK(metrics[0].goal == 0.97);
    CHECK(metrics[1].roof.empty());
    CHECK(again.find("a", "k")->tests[0].metrics.empty());

    std::stringstream content;
    content << std::ifstream(scratch.path).rdbuf();
    auto line = content.str();
    const std::string unit = R"("unit":"GB/s",)";
    REQUIRE(line.find(unit) != std::string::npos);
    std::ofstream(scratch.path) << line.erase(line.find(unit), unit.size());
    CHECK(opened(scratch.path).size() == 0);
}

TEST_CASE("journal: how long steps took is found again; the last time counts, and a red one is not usual") {
    const Scratch scratch;
    auto journal = opened(scratch.path);
    CHECK(journal.usual_seconds("build") < 0);
    REQUIRE(journal.append(StepRecord{"build", "a", true, 10}).ok());
    REQUIRE(journal.append(StepRecord{"build", "a", true, 20}).ok());
    REQUIRE(journal.append(StepRecord{"build", "b", true, 40}).ok());
    REQUIRE(journal.append(StepRecord{"build", "c", false, 1}).ok());
    REQUIRE(journal.append(StepRecord{"proof", "a", true, 7}).ok());
    REQUIRE(journal.append(cell("a"), "k").ok());
    const auto again = opened(scratch.path);
    REQUIRE(again.last_step("build", "a") != nullptr);
    CHECK(again.last_step("build", "a")->seconds == 20);
    CHECK_FALSE(again.last_step("build", "c")->good);
    CHECK(again.last_step("stage", "a") == nullptr);
    CHECK(again.last_step("build", "d") == nullptr);
    CHECK(again.usual_seconds("build") == 30);
    CHECK(again.usual_seconds("test") == 1.5);  // the line of a cell says it
    CHECK(again.usual_seconds("base") < 0);
    CHECK(again.size() == 1);  // cells
}

TEST_CASE("journal: another key, another cell and a missing file find nothing") {
    const Scratch scratch;
    CHECK(opened(scratch.path).size() == 0);
    auto journal = opened(scratch.path);
    REQUIRE(journal.append(cell("a"), "k1").ok());
    const auto again = opened(scratch.path);
    CHECK(again.find("a", "k2") == nullptr);
    CHECK(again.find("b", "k1") == nullptr);
}

TEST_CASE("journal: the last line of a cell counts") {
    const Scratch scratch;
    auto journal = opened(scratch.path);
    REQUIRE(journal.append(cell("a"), "old").ok());
    auto failed = cell("a");
    failed.outcome = CellOutcome::failed;
    REQUIRE(journal.append(failed, "new").ok());
    const auto again = opened(scratch.path);
    CHECK(again.find("a", "old") == nullptr);
    REQUIRE(again.find("a", "new") != nullptr);
    CHECK(again.find("a", "new")->outcome == CellOutcome::failed);
}

TEST_CASE("journal: cut at every byte it still loads, and never shows more than before") {
    const Scratch scratch;
    auto journal = opened(scratch.path);
    for (const auto* id : {"a", "b", "c"})
        REQUIRE(journal.append(cell(id), "k").ok());
    const auto whole = test::bytes_of(scratch.path);
    std::size_t before = 0;
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        std::ofstream(scratch.path, std::ios::trunc) << whole.substr(0, cut);
        const auto loaded = opened(scratch.path);
        REQUIRE(loaded.size() >= before);
        before = loaded.size();
    }
    CHECK(before == 3);
}

TEST_CASE("journal: a torn last line is not continued by the next one") {
    const Scratch scratch;
    {
        auto journal = opened(scratch.path);
        REQUIRE(journal.append(cell("a"), "k").ok());
        REQUIRE(journal.append(cell("b"), "k").ok());
    }
    const auto whole = test::bytes_of(scratch.path);
    std::ofstream(scratch.path, std::ios::trunc) << whole.substr(0, whole.size() - 20);
    auto journal = opened(scratch.path);
    CHECK(journal.size() == 1);
    REQUIRE(journal.append(cell("c"), "k").ok());
    const auto again = opened(scratch.path);
    CHECK(again.find("a", "k") != nullptr);
    CHECK(again.find("b", "k") == nullptr);
    CHECK(again.find("c", "k") != nullptr);
}

TEST_CASE("journal: lines that are not ours are passed over") {
    const Scratch scratch;
    auto journal = opened(scratch.path);
    REQUIRE(journal.append(cell("a"), "k").ok());
    const auto good = test::bytes_of(scratch.path);
    for (const std::string bad :
         {"\xff\xfe\n", "{}\n", "[1,2]\n", "null\n", "{\"v\":1,\"cell\":\"x\",\"outcome\":\"passed\"}\n",
          "{\"v\":2,\"cell\":\"x\",\"outcome\":\"passed\",\"proof\":\"ran\",\"tests\":[]}\n",
          "{\"v\":1,\"cell\":\"x\",\"outcome\":\"great\",\"proof\":\"ran\",\"tests\":[]}\n",
          "{\"v\":1,\"cell\":\"x\",\"outcome\":\"passed\",\"proof\":\"ran\",\"tests\":[7]}\n"}) {
        std::ofstream(scratch.path, std::ios::trunc) << bad << good;
        const auto again = opened(scratch.path);
        CHECK(again.size() == 1);
        CHECK(again.find("a", "k") != nullptr);
    }
}

TEST_CASE("journal: a folder in its place is an environment failure, on reading and on writing") {
    const Scratch scratch;
    fs::create_directory(scratch.path);
    const auto journal = Journal::open(scratch.path);
    REQUIRE_FALSE(journal.ok());
    CHECK(journal.failure().code == ExitCode::environment);
    auto elsewhere = opened(scratch / "missing" / "journal.jsonl");
    const auto written = elsewhere.append(cell("a"), "k");
    REQUIRE_FALSE(written.ok());
    CHECK(written.failure().code == ExitCode::environment);
}

TEST_CASE("journal: a symbolic link in its place is not followed when writing") {
    const Scratch scratch;
    const auto target = scratch / "precious";
    std::ofstream(target) << "";
    auto journal = opened(scratch.path);
    fs::create_symlink(target, scratch.path);
    CHECK_FALSE(journal.append(cell("a"), "k").ok());
    CHECK(fs::file_size(target) == 0);
}
