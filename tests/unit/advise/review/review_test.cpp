// What a review finds, on days of the past, so that newer facts do not move it.
#include "advise/review/review.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"

using namespace cudamatrix;
using namespace cudamatrix::review;

namespace {

Result<Matrix> reread(std::string_view source) {
    return read_matrix_text(source, "m.yaml");
}

Review reviewed(std::string_view source, const std::string& today, const std::string& since = {}) {
    const auto matrix = reread(source);
    REQUIRE(matrix.ok());
    const auto facts = Facts::embedded();
    const auto judgement = judge_whole(*matrix, facts, {.today = today});
    REQUIRE(judgement.ok());
    auto review = review_of(
        {*matrix, *judgement, facts, today, since.empty() ? months_later(today, -3) : since, reread, {}});
    REQUIRE(review.ok());
    return *std::move(review);
}

std::string lines(const std::vector<Event>& events) {
    std::vector<std::string> out;
    for (const auto& event : events)
        out.push_back(
            fmt::format("{} {}: {} ({})", event.day, event.subject, to_string(event.kind), event.cells));
    return text::join(out, "\n");
}

bool has_kind(const std::vector<Event>& events, EventKind kind) {
    return std::ranges::any_of(events, [&](const Event& event) { return event.kind == kind; });
}

const Move* move_to(const Review& review, std::string_view now) {
    const auto found = std::ranges::find_if(review.moves, [&](const Move& move) { return move.now == now; });
    return found == review.moves.end() ? nullptr : &*found;
}

std::string rules_of(const std::vector<Reason>& reasons) {
    std::vector<std::string> out;
    for (const auto& reason : reasons)
        out.push_back(fmt::format("{} {}", reason.rule, reason.cells));
    return text::join(out, ", ");
}

constexpr std::string_view kStack = R"(version: 1
axes:
  driver: ["535.183.01", "550.54.15"]
  gpu: [T4, GTX 1080 Ti]
set: {cuda: 12.6.0, torch: 2.6.0+cu126, python: "3.9", os: debian11, image: "nvidia/cuda:12.6.0-base-ubuntu22.04"}
waive: [{rule: image-matches-cell, because: a test, until: 2025-09-30}]
)";

}  // namespace

TEST_CASE("the calendar has what is over and what ends within a year, each once, with its cells") {
    const auto out = reviewed(kStack, "2025-06-30");
    CHECK(lines(out.calendar) ==
          "2024-08-14 Debian 11: standard support ends (4)\n"
          "2024-09-05 image nvidia/cuda:12.6.0-base-ubuntu22.04: no longer supported (4)\n"
          "2025-03-05 image nvidia/cuda:12.6.0-base-ubuntu22.04: may be deleted by NVIDIA (4)\n"
          "2025-04 driver branch 550: end of life (2)\n"
          "2025-09-30 waiver of image-matches-cell (a test): waiver ends (4)\n"
          "2025-10-31 python 3.9: end of life (4)\n"
          "2026-06 driver branch 535: end of life (2)");
    CHECK(out.horizon == "2026-06-30");
}

TEST_CASE("a day of the past knows no end that NVIDIA had not announced") {
    const auto calendar = reviewed(kStack, "2024-08-01").calendar;
    CHECK_FALSE(has_kind(calendar, EventKind::deletion));
    CHECK_FALSE(has_kind(calendar, EventKind::superseded));
    // No fact says when 12.8.1 was moved: its update came out on 2026-04-21.
    const auto image = "version: 1\nset: {image: \"nvidia/cuda:12.8.1-base-ubuntu22.04\"}\n";
    CHECK(lines(reviewed(image, "2026-04-20").calendar).empty());
    CHECK(lines(reviewed(image, "2026-04-21").calendar) ==
          "2026-04-21 image nvidia/cuda:12.8.1-base-ubuntu22.04: no longer supported (1)\n"
          "2026-10-21 image nvidia/cuda:12.8.1-base-ubuntu22.04: may be deleted by NVIDIA (1)");
}

TEST_CASE("a thing is supported on its last day, an image may be deleted from its day on") {
    const Event end{"2026-06", EventKind::end, "x"}, deletion{"2026-06-30", EventKind::deletion, "x"};
    CHECK_FALSE(is_past(end, "2026-06-30"));
    CHECK(is_past(end, "2026-07-01"));
    CHECK_FALSE(is_past(deletion, "2026-06-29"));
    CHECK(is_past(deletion, "2026-06-30"));
}

TEST_CASE("what happened: behind the first day, up to and on the last, of the kinds of things in use") {
    const auto only_driver = "version: 1\nset: {driver: \"535.183.01\", gpu: T4}\n";
    CHECK(lines(reviewed(only_driver, "2025-06-30", "2024-06-30").happened).find("torch") ==
          std::string::npos);
    const auto torch = "version: 1\nset: {torch: 2.5.0+cu124}\n";
    CHECK(lines(reviewed(torch, "2025-01-29", "2024-10-17").happened) ==
          "2024-10-29 torch 2.5.1: released (0)\n2025-01-29 torch 2.6.0: released (0)");
    CHECK(lines(reviewed(torch, "2025-01-28", "2024-10-29").happened).empty());
}

TEST_CASE("each newer value alone: cells gained and lost, by rule") {
    const auto out = reviewed(
        "version: 1\naxes: {gpu: [T4, K80]}\nset: {driver: \"470.161.03\", torch: 1.12.1+cu113, python: \"3.8\"}\n",
        "2025-06-30");
    const auto* torch = move_to(out, "2.7.1+cu126");
    REQUIRE(torch != nullptr);
    CHECK(torch->field == Field::torch);
    CHECK(torch->before == "1.12.1+cu113");
    CHECK(torch->released == "2025-06-04");
    CHECK(torch->gained == 0);
    CHECK(torch->lost == 2);
    CHECK(torch->working == 0);
    REQUIRE(rules_of(torch->lost_to).starts_with("torch-supports-python 2, driver-supports-cuda 2"));
    CHECK(torch->lost_to.front().message.find("torch 2.7.1+cu126 has no wheel for python 3.8") == 0);
    // With another python the build counts that does not need a newer driver.
    CHECK(
        move_to(reviewed("version: 1\nset: {driver: \"470.161.03\", torch: 1.12.1+cu113, python: \"3.9\"}\n",
                         "2025-06-30"),
                "2.7.1+cu118") != nullptr);
    CHECK_FALSE(torch->lost_to.front().facts.empty());
    CHECK(move_to(out, "2.8.0+cu128") == nullptr);  // not out yet
    const auto too_old =
        reviewed("version: 1\naxes: {gpu: [T4, K80]}\nset: {driver: \"470.161.03\", torch: 2.4.0+cu124}\n",
                 "2025-06-30");
    const auto* driver = move_to(too_old, "575.51.02");
    REQUIRE(driver != nullptr);
    CHECK(driver->gained == 1);
    CHECK(driver->lost == 0);
    CHECK(rules_of(driver->gained_from) == "driver-supports-cuda 1");
}

TEST_CASE("requirements are found by asking about drivers and GPUs") {
    const auto out = reviewed(
        "version: 1\naxes: {gpu: [T4, RTX 3090]}\nset: {driver: \"550.54.15\", torch: 2.5.1+cu124, vram_gb: "
        "8}\n",
        "2024-11-04");
    REQUIRE(out.requirements.size() == 1);
    const auto& found = out.requirements.front();
    CHECK(found.stack == std::vector<std::pair<std::string, std::string>>{{"torch", "2.5.1+cu124"}});
    CHECK(found.cells == 2);
    CHECK(found.oldest_driver == "525.60.13");
    CHECK(found.best_driver.starts_with("565."));  // of 550 and those behind it the one that lasts longest
    CHECK(found.least_compute == "5.2");           // those of 5.0 have less memory
    CHECK(found.most_compute == "9.0");
    CHECK(found.vram_gb == "8");
    CHECK(found.gpus == std::vector<std::string>{"T4", "RTX 3090"});
}

TEST_CASE("cells that do not work ask for nothing, and nothing was chosen") {
    const auto out =
        reviewed("version: 1\nset: {driver: \"450.51.05\", gpu: K80, torch: 2.4.0+cu124}\n", "2025-06-30");
    CHECK(out.requirements.empty());
    CHECK(out.chosen.empty());
    REQUIRE(out.rejected.size() == 1);
    CHECK(out.rejected.front().values == std::vector<std::pair<Field, std::string>>{
                                             {Field::torch, "2.4.0+cu124"}, {Field::driver, "450.51.05"}});
    CHECK(rules_of(out.rejected.front().because).find("torch-ships-compute 1") != std::string::npos);
}

TEST_CASE("a value that works in one cell is not rejected, and says what speaks for it") {
    const auto out =
        reviewed("version: 1\naxes: {gpu: [K80, T4]}\nset: {driver: \"550.54.15\", torch: 2.4.0+cu124}\n",
                 "2024-11-04");
    CHECK(out.rejected.empty());
    REQUIRE(out.chosen.size() == 2);
    CHECK(out.chosen.front().value == "2.4.0+cu124");
    CHECK(std::ranges::any_of(out.chosen.front().passed, [](const Passed& passed) {
        return passed.rule == "torch-built-for-cuda" && passed.sentence == "torch 2.4.0+cu124 was published";
    }));
}

TEST_CASE("what ends within 60 days makes a plan of four parts, in the time that is left") {
    const auto source = "version: 1\nset: {python: \"3.9\", torch: 2.6.0+cu124}\n";
    CHECK_FALSE(reviewed(source, "2025-08-31").emergency);
    const auto plan = reviewed(source, "2025-09-01").emergency;
    REQUIRE(plan);
    CHECK(lines(plan->because) == "2025-10-31 python 3.9: end of life (1)");
    CHECK(plan->deadline == "2025-10-31");
    REQUIRE(plan->steps.size() == 4);
    CHECK(plan->steps.front().from == "2025-09-01");
    CHECK(plan->steps.back().to == "2025-09-28");
    CHECK(text::join(plan->steps[1].commands.front(), " ") == "cudamatrix upgrade m.yaml --to next --write");
    // Twelve days are left: three for each.
    const auto late = reviewed(source, "2025-10-19").emergency;
    REQUIRE(late);
    CHECK(late->steps[1].from == "2025-10-22");
    CHECK(late->steps.back().to == "2025-10-30");
    CHECK_FALSE(reviewed(source, "2025-11-01").emergency);  // over is over
}

TEST_CASE("an image that may vanish any day is copied first") {
    const auto out = reviewed(kStack, "2025-10-15");
    REQUIRE(out.copies.size() == 1);
    CHECK(out.copies.front().reference == "nvidia/cuda:12.6.0-base-ubuntu22.04");
    CHECK(out.copies.front().deletable == "2025-03-05");
    REQUIRE(out.emergency);
    CHECK(out.emergency->deadline == "2025-10-31");  // python 3.9: the first end that has a day
    CHECK(text::join(out.emergency->steps.front().commands.front(), " ") ==
          "skopeo copy --all docker://docker.io/nvidia/cuda:12.6.0-base-ubuntu22.04 "
          "docker://registry.example.org/nvidia/cuda:12.6.0-base-ubuntu22.04");
    CHECK(reviewed(kStack, "2025-06-30").emergency->deadline.empty());
}

TEST_CASE("what moves by itself: a waiver ends") {
    const auto moved = reviewed(kStack, "2025-06-30").by_itself.moved;
    REQUIRE(moved.size() == 2);  // the others are rejected as it is
    CHECK(std::ranges::all_of(moved, [](const diff::MovedVerdict& verdict) { return verdict.worse; }));
    CHECK(reviewed("version: 1\nset: {gpu: T4, torch: 2.5.1+cu124}\n", "2025-06-30").by_itself.moved.empty());
}

TEST_CASE("the edited file of each way gives the cells that it promises") {
    for (const auto& way : reviewed(kStack, "2025-06-30").ways) {
        REQUIRE_FALSE(way.source.empty());
        const auto matrix = reread(way.source);
        REQUIRE(matrix.ok());
        const auto now = judge_whole(*matrix, Facts::embedded(), {.today = "2025-06-30"});
        REQUIRE(now.ok());
        CHECK(now->verdicts == way.verdicts);
    }
}

TEST_CASE("a fact that was looked up long ago is named once") {
    const auto out = reviewed(kStack, "2029-01-01");
    REQUIRE_FALSE(out.aged.empty());
    std::vector<std::string> ids;
    for (const auto& fact : out.aged)
        ids.push_back(fact.id);
    std::ranges::sort(ids);
    CHECK(std::ranges::adjacent_find(ids) == ids.end());
    CHECK(reviewed("version: 1\nset: {gpu: T4}\n", "2026-11-24").aged.empty());
}
