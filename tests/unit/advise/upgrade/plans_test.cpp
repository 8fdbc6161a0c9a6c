// Where matrices go, and what the file looks like then.
#include "advise/upgrade/plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "advise/upgrade/outcome.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/matrix_file.hpp"

using namespace cudamatrix;
using namespace cudamatrix::upgrade;

namespace {

const std::string kDay = "2025-06-30";

struct Judged {
    Matrix matrix;
    Judgement judgement;
};

Result<Matrix> reread(std::string_view source) {
    return read_matrix_text(source, "m.yaml");
}

Result<Judged> judged(std::string_view source) {
    CM_TRY_ASSIGN(auto matrix, reread(source));
    auto out = Judged{std::move(matrix), {}};
    CM_TRY_ASSIGN(out.judgement, judge_whole(out.matrix, Facts::embedded(), {.today = kDay}));
    return out;
}

Outcome outcome(std::string_view source, Aim aim, const Wanted& wanted = {}) {
    const auto before = judged(source);
    REQUIRE(before.ok());
    const auto facts = Facts::embedded();
    Fleet fleet(before->matrix, before->judgement, facts, kDay, wanted);
    const auto plan = plan_for(fleet, aim);
    REQUIRE(plan.ok());
    auto out = carried_out(fleet, *plan, reread);
    REQUIRE(out.ok());
    return *std::move(out);
}

std::string steps(const Outcome& out) {
    std::vector<std::string> lines;
    for (const auto& [field, before, now] : out.steps)
        lines.push_back(fmt::format("{} {}>{}", field, before, now));
    return text::join(lines, ", ");
}

std::string after(std::string_view source, Aim aim, const Wanted& wanted = {}) {
    return outcome(source, aim, wanted).source;
}

std::vector<std::string> comments(std::string_view source) {
    std::vector<std::string> out;
    for (const auto& line : text::split(source, '\n')) {
        if (const auto at = line.find('#'); at != std::string::npos) out.push_back(line.substr(at));
    }
    return out;
}

constexpr std::string_view kStack = R"(# our stack
version: 1
name: stack
expect: {cells: 4, keys: 5}   # counted
axes:
  gpu: [T4, GTX 1080 Ti]   # what we own
  python:
    - "3.9"   # old images
    - "3.11"
set: {driver: "550.54.14", torch: 2.5.0+cu124, packages: {torchvision: "0.20.0", numpy: "1.26.4"}}  # pinned
)";

constexpr std::string_view kZipped = R"(version: 1
axes:
  cuda: [12.1.0, 12.4.0]
  torch:
    - 2.3.0+cu121
    - 2.4.0+cu124  # now
  gpu: H100
zip: [[cuda, torch]]
set: {driver: "570"}
)";

// What the python becomes has to do for the torch that stays, too.
constexpr std::string_view kMixed = R"(version: 1
axes:
  torch: [2.0.1+cu118, 2.4.1+cu124]  # two
  gpu: [T4, L4]
set: {driver: "550.54.14", python: "3.11"}
)";

constexpr std::string_view kRows = R"(version: 1
include:
  - {driver: "550", gpu: T4, torch: 2.4.0+cu124}
  - {driver: "550", gpu: A100, torch: 2.4.0+cu124}  # the big one
)";

}  // namespace

TEST_CASE("hold: every value to the newest of its line; packages that go with torch follow") {
    const auto out = outcome(kStack, Aim::hold);
    CHECK(steps(out) == "torch 2.5.0+cu124>2.5.1+cu124, torchvision 0.20.0>0.20.1");
    CHECK(out.source ==
          text::replace_all(text::replace_all(std::string(kStack), "2.5.0+cu124", "\"2.5.1+cu124\""),
                            "0.20.0", "0.20.1"));
    CHECK(out.changes.same == 4);
    CHECK(out.changes.replaced.size() == 4);
    CHECK(out.changes.gone.empty());
}

TEST_CASE("next: no cell gets worse, and the cells are counted again") {
    const auto out = outcome(kStack, Aim::next);
    // 2.7.1+cu126 is the last build of that day with code for the GTX 1080 Ti; numpy 1.26.4 is older than
    // python 3.13.
    CHECK(steps(out) ==
          "python >3.12, driver 550.54.14>575.51.02, torch 2.5.0+cu124>2.7.1+cu126, torchvision "
          "0.20.0>0.22.1");
    CHECK(out.changes.moved.empty());
    CHECK(out.source.find("expect: {cells: 6, keys: 5}   # counted\n") != std::string::npos);
    CHECK(out.source.find("    - \"3.9\"   # old images\n    - \"3.11\"\n    - \"3.12\"\n") !=
          std::string::npos);
}

constexpr std::string_view kOld = R"(version: 1
axes:
  gpu: [K80, T4]
  python: ["3.8", "3.9"]
set: {driver: "470.161.03", torch: 1.12.1+cu113}
)";

TEST_CASE("ended rows of an axis are dropped, unless keep names a cell of them") {
    CHECK(steps(outcome(kOld, Aim::next)) == "python 3.8>, python >3.11, torch 1.12.1+cu113>1.13.1+cu117");
    const auto kept = std::string(kOld) + "keep: [{python: \"3.8\"}]\n";
    CHECK(steps(outcome(kept, Aim::next)) == "python >3.11, torch 1.12.1+cu113>1.13.1+cu117");
}

TEST_CASE("ambitious: the newest with which anything works; what is lost is said") {
    const auto out = outcome(kOld, Aim::ambitious);
    CHECK(steps(out) ==
          "python 3.8>, python >3.13, driver 470.161.03>535.43.02, torch 1.12.1+cu113>2.7.1+cu126");
    REQUIRE(out.changes.moved.size() == 1);
    CHECK(out.changes.moved.front().worse);
    CHECK(out.changes.moved.front().now.verdict == "rejected");
}

TEST_CASE("where nothing works, next is what does") {
    const auto source =
        "version: 1\nset: {driver: \"470.161.03\", gpu: T4, torch: 2.4.0+cu124, python: \"3.11\"}\n";
    const auto out = outcome(source, Aim::next);
    CHECK(steps(out) == "driver 470.161.03>535.43.02, torch 2.4.0+cu124>2.7.1+cu126, python 3.11>3.13");
    CHECK(out.verdicts[0] == 1);
}

std::string with_set(std::string_view set) {
    return fmt::format("version: 1\nset: {{{}}}\n", set);
}

TEST_CASE("what goes together moves together: torch and toolkit, toolkit and image") {
    // Each alone breaks the other: CUDA 11 and 12.
    CHECK(steps(outcome(with_set("driver: \"570.86.15\", gpu: A100, torch: 2.1.2+cu118, cuda: 11.8.0, os: "
                                 "ubuntu22.04, family: nvidia-cuda, flavour: devel"),
                        Aim::next)) ==
          "driver 570.86.15>575.51.02, torch 2.1.2+cu118>2.7.1+cu126, cuda 11.8.0>12.6.3");
    const auto image = with_set(
        "driver: \"570\", gpu: L4, cuda: 12.1.0, os: ubuntu22.04, image: \"nvidia/cuda:12.1.0-base-ubuntu22.04\"");
    CHECK(
        steps(outcome(image, Aim::hold)) ==
        "cuda 12.1.0>12.1.1, image nvidia/cuda:12.1.0-base-ubuntu22.04>nvidia/cuda:12.1.1-base-ubuntu22.04");
    CHECK(
        steps(outcome(image, Aim::wanted, {{Field::cuda, "12.4.1"}})) ==
        "cuda 12.1.0>12.4.1, image nvidia/cuda:12.1.0-base-ubuntu22.04>nvidia/cuda:12.4.1-base-ubuntu22.04");
}

TEST_CASE("rows of include that name the row of an axis move with it") {
    const auto source = std::string(R"(version: 1
axes: {driver: ["535.54.03", "550.54.14"], gpu: [T4]}
include:
  - {driver: "535.54.03", gpu: L4}
  - {driver: "535.86.10", gpu: L4}
set: {torch: 2.5.1+cu124}
)");
    const auto facts = Facts::embedded();
    const std::string newest(lookup::driver(facts, "535")->branch->text("newest"));
    const std::string today = "2026-11-27";
    const auto matrix = reread(source);
    const auto before = judge_whole(*matrix, facts, {.today = today});
    Fleet fleet(*matrix, *before, facts, today);
    const auto out = carried_out(fleet, *plan_for(fleet, Aim::hold), reread);
    REQUIRE(out.ok());
    CHECK(out->source.find(fmt::format(
              "  - {{driver: \"{}\", gpu: L4}}\n  - {{driver: \"535.86.10\", gpu: L4}}\n", newest)) !=
          std::string::npos);
    // A zipped row is meant only where it is named as a whole.
    const auto zipped = std::string(R"(version: 1
axes: {cuda: [12.1.0, 12.4.0], torch: [2.3.0+cu121, 2.4.0+cu124]}
zip: [[cuda, torch]]
include:
  - {cuda: 12.4.0, torch: 2.4.0+cu124, gpu: L4}
  - {cuda: 12.4.0, torch: 2.5.0+cu124, gpu: L4}
set: {driver: "570", gpu: T4}
)");
    const auto held = after(zipped, Aim::hold);
    CHECK(
        held.find(
            "  - {cuda: \"12.4.1\", torch: \"2.4.1+cu124\", gpu: L4}\n  - {cuda: 12.4.0, torch: 2.5.0+cu124, gpu: L4}\n") !=
        std::string::npos);
}

TEST_CASE("a cell with one limit gets no other one") {
    // The image has ended; python 3.12 would end torch.compile of torch 2.2.
    CHECK(steps(outcome(
              with_set("driver: \"575\", gpu: A100, torch: 2.2.2+cu121, cuda: 12.1.0, python: \"3.11\", os: "
                       "ubuntu22.04, family: nvidia-cuda, flavour: devel"),
              Aim::hold)) == "cuda 12.1.0>12.1.1");
}

TEST_CASE("a host does not move to a driver that ends before its own") {
    CHECK(steps(outcome(with_set("driver: \"535.54.03\", gpu: A100, torch: 2.7.1+cu126, python: \"3.13\""),
                        Aim::next))
              .empty());
}

TEST_CASE("where nothing works with anything newer, next is hold") {
    CHECK(steps(outcome(with_set("driver: \"450.51.05\", gpu: K80, torch: 2.4.0+cu124, python: \"3.11\""),
                        Aim::next)) == "torch 2.4.0+cu124>2.4.1+cu124");
}

TEST_CASE("a minor stays one, with its build") {
    CHECK(steps(outcome(with_set("driver: \"575\", gpu: A100, torch: 2.6+cu126, python: \"3.13\""),
                        Aim::next)) == "torch 2.6+cu126>2.7+cu126");
}

TEST_CASE("wanted: these values; an axis with several gets one more row, zipped fields together") {
    CHECK(after(kZipped, Aim::wanted, {{Field::torch, "2.5.1+cu124"}, {Field::cuda, "12.6.3"}}) ==
          R"(version: 1
axes:
  cuda: [12.1.0, 12.4.0, "12.6.3"]
  torch:
    - 2.3.0+cu121
    - 2.4.0+cu124  # now
    - "2.5.1+cu124"
  gpu: H100
zip: [[cuda, torch]]
set: {driver: "570"}
)");
    CHECK(after(kZipped, Aim::wanted, {{Field::driver, "575"}}) ==
          text::replace_all(std::string(kZipped), "570", "575"));
    CHECK(after(kRows, Aim::wanted, {{Field::torch, "2.6.0+cu124"}}) ==
          text::replace_all(std::string(kRows), "2.4.0+cu124", "\"2.6.0+cu124\""));
}

TEST_CASE("wanted: what cannot be is refused") {
    const auto refused = [](std::string_view source, const Wanted& wanted) {
        const auto before = judged(source);
        REQUIRE(before.ok());
        const auto facts = Facts::embedded();
        Fleet fleet(before->matrix, before->judgement, facts, kDay, wanted);
        const auto plan = plan_for(fleet, Aim::wanted);
        return plan.ok() ? std::string("made") : plan.failure().diagnostics.front().message;
    };
    CHECK(
        refused(kZipped, {{Field::python, "3.13"}}) ==
        "--to python=3.13: no axis and no value under set has the field, and rows of include do not agree in "
        "it");
    CHECK(refused(kZipped, {{Field::cuda, "12.1.0"}, {Field::torch, "2.3.0+cu121"}}) ==
          "--to: the axis has these values already");
    CHECK(
        refused(text::replace_all(std::string(kRows), "gpu: A100, torch: 2.4.0", "gpu: A100, torch: 2.5.0"),
                {{Field::torch, "2.6.0+cu124"}}) ==
        "--to torch=2.6.0+cu124: no axis and no value under set has the field, and rows of include do not agree "
        "in it");
}

TEST_CASE("what no edit is sure of is said, and the file stays") {
    const auto refusal = [](std::string_view source) {
        const auto out = outcome(source, Aim::next);
        CHECK(out.source == "");
        return out.refusal;
    };
    CHECK(refusal(text::replace_all(std::string(kStack), "expect:", "\"expect\":")) ==
          "cannot count expect again by itself");
    CHECK(refusal(R"(version: 1
axes:
  torch: [2.4.0+cu124, 2.3.1+cu121]
  packages:
    - torchvision: "0.19.0"
      numpy: "1.26.4"
    - torchvision: "0.18.1"
      numpy: "1.26.4"
zip: [[torch, packages]]
set: {driver: "570", gpu: T4, python: "3.11"}
)") == "cannot add packages torchvision: \"0.22.1\" by itself");
}

TEST_CASE("every edit keeps every comment, is judged as it was promised, and leaves nothing to do again") {
    for (const auto source : {kStack, kZipped, kMixed, kRows}) {
        for (const auto aim : {Aim::hold, Aim::next, Aim::ambitious}) {
            CAPTURE(source);
            CAPTURE(to_string(aim));
            const auto out = outcome(source, aim);
            CHECK(out.refusal == "");
            CHECK(comments(out.source) == comments(source));
            const auto again = judged(out.source);
            REQUIRE(again.ok());
            CHECK(again->judgement.verdicts == out.verdicts);
            CHECK(steps(outcome(out.source, Aim::hold)) == "");
            if (aim != Aim::ambitious)
                CHECK(std::ranges::none_of(out.changes.moved, &diff::MovedVerdict::worse));
        }
    }
}

TEST_CASE("a matrix of which no fact knows a newer value stays as it is") {
    const auto source = "version: 1\nset: {gpu: T4, compute: \"7.5\", packages: {own: \"1.0\"}}\n";
    for (const auto aim : {Aim::hold, Aim::next, Aim::ambitious}) {
        const auto out = outcome(source, aim);
        CHECK(steps(out) == "");
        CHECK(out.source == source);
    }
}
