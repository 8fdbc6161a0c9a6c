// Where nothing can be suggested: every smallest conflict, and the least that helps.
#include <functional>
#include <set>

#include "base/text.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"
#include "unit/knowledge/solve/rows.hpp"

using namespace cudamatrix;
using namespace cudamatrix::solve;

namespace {

// Everything that the facts name between two bounds, for counting cell by cell what a search has found or
// ruled out.
struct Everything {
    std::set<Version> drivers;
    std::vector<std::pair<Version, std::string>> torches;  ///< release, and as a cell names its build
    std::set<std::string> pythons;

    explicit Everything(const Facts& facts) {
        for (const auto& [table, column] : {std::pair{"driver_branches", "oldest"},
                                            {"driver_branches", "newest"},
                                            {"cuda_releases", "min_driver_linux"},
                                            {"cuda_releases", "bundled_driver_linux"},
                                            {"cuda_families", "min_driver_linux"}}) {
            for (const auto& row : facts.rows(table)) {
                if (const auto driver = Version::parse(row.text(column))) drivers.insert(*driver);
            }
        }
        for (const auto& row : facts.rows("torch_wheels")) {
            if (row.text("arch") != "x86_64" || !row.has("cuda")) continue;
            torches.emplace_back(*Version::parse(row.text("torch")),
                                 fmt::format("{}+{}", row.text("torch"), row.text("variant")));
            for (const auto python : row.list("pythons"))
                pythons.emplace(python);
        }
    }

    // Cells of that GPU, with drivers and torches for which the conditions hold, that could be used.
    std::uint64_t usable(std::string_view gpu, const std::function<bool(const Version&)>& driver,
                         const std::function<bool(const Version&)>& torch) const {
        std::vector<std::string> some_drivers, some_torches;
        for (const auto& each : drivers) {
            if (driver(each)) some_drivers.push_back('"' + each.text() + '"');
        }
        for (const auto& [release, build] : torches) {
            if (torch(release)) some_torches.push_back('"' + build + '"');
        }
        if (some_drivers.empty() || some_torches.empty()) return 0;
        std::vector<std::string> some_pythons;
        for (const auto& python : pythons)
            some_pythons.push_back('"' + python + '"');
        const auto matrix = read_matrix_text(
            fmt::format(
                "version: 1\naxes:\n  driver: [{}]\n  torch: [{}]\n  python: [{}]\nset: {{gpu: {}}}\n",
                text::join(some_drivers, ", "), text::join(some_torches, ", "),
                text::join(some_pythons, ", "), gpu),
            "matrix.yaml");
        REQUIRE(matrix);
        JudgeOptions options{std::string(kToday)};
        options.list_cells = false;
        const auto judged = judge(*matrix, Facts::embedded(), options);
        REQUIRE(judged);
        return judged->count(Verdict::accepted) + judged->count(Verdict::degraded);
    }
};

// What a person reads of a suggestion that found nothing.
std::string why_nothing(const Suggestion& suggestion) {
    std::string out;
    for (const auto& clash : suggestion.clashes) {
        out += text::join(clash.constraints, " and ") + "\n";
        for (const auto& reason : clash.reasons)
            out += fmt::format("  {}: {}\n", reason.rule, reason.example.message);
    }
    for (const auto& remedy : suggestion.remedies)
        out += fmt::format("{}: {} {}\n", text::join(remedy.changes, " and "),
                           to_string(remedy.stack.verdict), remedy.stack.row);
    return out;
}

// The demands that conflict with the rules that say so, and the changes that help.
std::string demands_and_changes(const Suggestion& suggestion) {
    std::string out;
    for (const auto& clash : suggestion.clashes) {
        std::vector<std::string> rules;
        for (const auto& reason : clash.reasons)
            rules.emplace_back(reason.rule);
        out += fmt::format("{}: {}\n", text::join(clash.constraints, " and "), text::join(rules, ", "));
    }
    for (const auto& remedy : suggestion.remedies)
        out += text::join(remedy.changes, " and ") + "\n";
    return out;
}

}  // namespace

TEST_CASE("driver 470 and torch 2.8: every smallest conflict and the least that helps") {
    const auto found =
        suggested({{{Field::gpu, "T4"}, {Field::driver, "470.161.03"}, {Field::torch, ">=2.8"}}, {}});
    CHECK(found.stacks.empty());
    CHECK(found.all_clashes);
    CHECK(why_nothing(found) == R"(driver 470.161.03 and torch >=2.8
  driver-supports-cuda: driver 470.161.03 is too old for torch 2.15.0+cu132 (CUDA 13.2): CUDA 13 needs >= 580.65.06
driver >= 525.60.13: accepted {driver: "525.60.13", gpu: "T4", torch: "2.14.0+cu126", python: "3.14"}
torch >= 2.7.1: degraded {driver: "470.161.03", gpu: "T4", torch: "2.7.1+cu118", python: "3.13"}
)");
}

TEST_CASE("driver 470 and an H200: no torch is at fault") {
    const auto found =
        suggested({{{Field::gpu, "H200"}, {Field::driver, "470.161.03"}, {Field::torch, ">=2.0"}}, {}});
    CHECK(found.stacks.empty());
    CHECK(found.all_clashes);
    CHECK(why_nothing(found) == R"(gpu H200 and driver 470.161.03
  driver-supports-gpu: driver 470.161.03 does not know H200 (compute 9.0): driver branch 520 is the first with Hopper
driver >= 550.163.01: accepted {driver: "550.163.01", gpu: "H200", torch: "2.14.0+cu126", python: "3.14"}
gpu A10: degraded {driver: "470.161.03", gpu: "A10", torch: "2.7.1+cu118", python: "3.13"}
)");
}

TEST_CASE(
    "driver 470 and torch 2.8, driver 470 and an H200: counted cell by cell, no smaller conflict and no "
    "smaller change") {
    const Everything everything(Facts::embedded());
    const auto version = [](const char* text) { return *Version::parse(text); };
    const auto any = [](const Version&) { return true; };
    const auto from = [&](const char* first) {
        return [least = version(first)](const Version& each) { return each >= least; };
    };
    const auto is = [&](const char* one) {
        return [same = version(one)](const Version& each) { return each == same; };
    };
    const auto between = [&](const char* first, const char* end) {
        return [low = version(first), high = version(end)](const Version& each) {
            return each > low && each < high;
        };
    };
    const auto old = is("470.161.03");
    CHECK(everything.drivers.count(version("470.161.03")) ==
          0);  // a release inside of its branch: as its neighbours
    auto all = everything;
    all.drivers.insert(version("470.161.03"));

    CHECK(all.usable("T4", old, from("2.8")) == 0);
    CHECK(all.usable("T4", any, from("2.8")) > 0);
    CHECK(all.usable("T4", old, any) > 0);
    CHECK(all.usable("T4", between("470.161.03", "525.60.13"), from("2.8")) == 0);
    CHECK(all.usable("T4", is("525.60.13"), from("2.8")) > 0);
    CHECK(all.usable("T4", old, between("2.7.1", "99")) == 0);
    CHECK(all.usable("T4", old, is("2.7.1")) > 0);

    CHECK(all.usable("H200", old, any) == 0);  // whatever the torch: it is no part of the conflict
    CHECK(all.usable("H200", any, from("2.0")) > 0);
    CHECK(all.usable("A10", old, from("2.0")) > 0);
    CHECK(all.usable("H200", between("470.161.03", "550.163.01"), from("2.0")) == 0);
    CHECK(all.usable("H200", is("550.163.01"), from("2.0")) > 0);
}

TEST_CASE("every demand of a conflict is needed, and no system is proposed that no image is rendered on") {
    // On Windows torch 2.5.1 has wheels for python 3.8.
    const auto found = suggested(
        {{{Field::gpu, "B200"}, {Field::torch, "2.5.1"}, {Field::python, "3.8"}, {Field::os, "rockylinux9"}},
         {}});
    CHECK(found.stacks.empty());
    CHECK(found.all_clashes);
    CHECK(demands_and_changes(found) == R"(gpu B200 and torch 2.5.1: torch-ships-compute
torch 2.5.1 and python 3.8: torch-supports-python
gpu B200 and python 3.8: torch-supports-python, torch-ships-compute
torch >= 2.7.0 and python >= 3.9
gpu GH200 and torch <= 2.4.1
gpu GH200 and python >= 3.9
)");
    // One that is asked for is searched.
    const auto musl = suggested({{{Field::torch, "2.5.1"}, {Field::os, "alpine3.20"}}, {}});
    CHECK(musl.stacks.empty());
    CHECK(demands_and_changes(musl) == R"(os alpine3.20: wheel-runs-on-libc
os ubuntu24.04
)");
}

TEST_CASE("a change of the driver comes before another GPU") {
    const auto found = suggested({{{Field::gpu, "RTX 5090"}, {Field::driver, "565"}}, {"flash-attn"}});
    CHECK(found.stacks.empty());
    CHECK(demands_and_changes(found) == R"(gpu RTX 5090 and driver 565: driver-supports-gpu
driver >= 570.124.06
gpu GH200
)");
}

TEST_CASE("what a few rules decide takes few steps") {
    for (const Query& query :
         {Query{{{Field::gpu, "GTX 1080 Ti"}}, {"flash-attn"}},
          Query{{{Field::gpu, "V100"}, {Field::torch, ">=2.4"}, {Field::python, "3.12"}}, {"flash-attn"}},
          Query{{{Field::gpu, "T4"},
                 {Field::driver, "470"},
                 {Field::cuda, "13.0.2"},
                 {Field::os, "ubuntu18.04"}},
                {}},
          Query{{{Field::gpu, "B200"},
                 {Field::driver, "550"},
                 {Field::torch, ">=2.7"},
                 {Field::cuda, "12.8.1"},
                 {Field::os, "ubuntu24.04"},
                 {Field::python, "3.13"}},
                {}}}) {
        std::uint64_t tried = 0;
        SuggestOptions options{kToday, 5};
        options.on_progress = [&](const JudgingProgress& progress) {
            tried = progress.done;
            return tried < 200'000;
        };
        const auto found = suggest(Facts::embedded(), query, options);
        REQUIRE(found);
        CHECK(found->stacks.empty());
        CHECK(found->clashes.size() == 1);
        CHECK(tried < 100'000);
    }
}

TEST_CASE("of many demands at once the search is limited, and says so") {
    const auto found = suggested({{{Field::gpu, "P100"},
                                   {Field::driver, "390"},
                                   {Field::torch, ">=2"},
                                   {Field::python, "3.7"},
                                   {Field::cuda, "12.4.1"},
                                   {Field::os, "debian12"}},
                                  {"transformers", "flash-attn"}});
    CHECK(found.stacks.empty());
    CHECK(found.all_clashes);
    CHECK_FALSE(found.all_remedies);
    // Of driver 390 and cuda 12.4.1 one rule says it, but the driver alone is enough.
    CHECK(demands_and_changes(found) == R"(gpu P100 and need flash-attn: package-supports-gpu
torch >=2 and python 3.7: torch-supports-python
driver 390: driver-supports-cuda, torch-ships-compute
driver >= 525.60.13 and torch >= 1.13.1 and without flash-attn
driver >= 525.60.13 and python >= 3.8 and without flash-attn
gpu Tesla T4 and driver >= 525.60.13 and torch >= 1.13.1
gpu Tesla T4 and driver >= 525.60.13 and python >= 3.8
)");
    CHECK_FALSE(suggested({{{Field::gpu, "A100"}, {Field::driver, "450"}}, {"vllm>=0.8"}}).all_clashes);
}

TEST_CASE("every remedy is a stack that check accepts") {
    for (const Query& query :
         {Query{{{Field::gpu, "RTX 5090"}, {Field::torch, "<2.6"}}, {}},
          Query{{{Field::gpu, "K80"}, {Field::driver, "580"}, {Field::python, "3.13"}},
                {"transformers==4.27.4"}},
          Query{{{Field::torch, "1.12.1+cu118"}}, {}},
          Query{{{Field::driver, "470.161.03"}, {Field::torch, ">=2.8"}, {Field::python, "2.7"}}, {}}}) {
        const auto found = suggested(query);
        REQUIRE(found.stacks.empty());
        CHECK_FALSE(found.clashes.empty());
        CHECK_FALSE(found.remedies.empty());
        for (const auto& clash : found.clashes) {
            CHECK_FALSE(clash.reasons.empty());
            for (const auto& reason : clash.reasons) {
                CAPTURE(reason.example.message);
                CHECK_FALSE(reason.facts.empty());
            }
        }
        for (const auto& remedy : found.remedies) {
            CAPTURE(remedy.stack.row);
            CHECK_FALSE(remedy.changes.empty());
            const auto verdict = verdict_of_row(remedy.stack.row, Facts::embedded());
            CHECK(verdict == remedy.stack.verdict);
            CHECK(verdict <= kGoodEnough);
        }
    }
}
