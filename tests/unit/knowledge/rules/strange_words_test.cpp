// Words that the reader would refuse: the rules hold without its fence, and what they cannot tell they leave
// to the rule that asks for it.
#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using F = Field;

// The same with `packages` as they are, which the reader would not let in.
Findings ask_raw(std::string_view rule_id, const Words& words,
                 std::vector<std::pair<std::string, std::string>> packages,
                 const Facts& facts = Facts::embedded()) {
    std::deque<Value> values;
    Cell cell;
    for (const auto& [field, text] : words)
        cell.set(field, &values.emplace_back(Value{text, {}, {}}));
    Value list{"packages", {}, std::move(packages)};
    cell.set(F::packages, &list);
    const auto* rule = rule_named(rule_id);
    REQUIRE(rule != nullptr);
    REQUIRE(applies(*rule, cell));
    return evaluate(*rule, cell, facts, kToday);
}

}  // namespace

TEST_CASE("words that are no versions and no known choices") {
    const struct {
        const char* rule;
        Words words;
        Verdict verdict;
    } cases[] = {
        {"compiler-supported-by-cuda", {{F::cuda, "12.4.1"}, {F::compiler, "icc-2021"}}, Verdict::unknown},
        {"compiler-supported-by-cuda", {{F::cuda, "12.4.1"}, {F::compiler, "gcc"}}, Verdict::unknown},
        {"compiler-known-broken", {{F::cuda, "11.5.2"}, {F::compiler, "icc-1"}}, Verdict::accepted},
        {"torch-takes-compiler", {{F::torch, "2.6.0"}, {F::compiler, "icc-1"}}, Verdict::accepted},
        {"forward-compatibility-hardware",
         {{F::cuda_compat, "12.4"}, {F::host_class, "console"}},
         Verdict::unknown},
        {"compiler-in-archive",
         {{F::family, "gentoo"}, {F::os, "debian12"}, {F::compiler, "gcc-10"}},
         Verdict::accepted},
        {"compiler-in-archive",
         {{F::family, "debian"}, {F::os, "debian12"}, {F::compiler, "icc-1"}},
         Verdict::accepted},
        {"image-requirement-met",
         {{F::image, "nvidia/cuda:12.6.3-base-ubuntu22.04"},
          {F::driver, "99999.1"},
          {F::gpu, "T4"},
          {F::toolkit, "1.17.8"}},
         Verdict::accepted},
        {"mig-one-device", {{F::gpu, "T4"}, {F::mig, "0"}}, Verdict::accepted},
        {"mig-one-device", {{F::gpu, "A100"}, {F::mig, "some"}}, Verdict::accepted},
        {"driver-supports-cuda",
         {{F::driver, "new"}, {F::cuda, "12.4.1"}, {F::os, "windows11"}},
         Verdict::unknown},
        {"torch-built-for-cuda", {{F::torch, "nightly"}}, Verdict::unknown},
        {"driver-supports-cuda", {{F::driver, "newest"}, {F::cuda, "12.4.1"}}, Verdict::unknown},
        {"driver-supports-gpu", {{F::driver, "newest"}, {F::gpu, "T4"}}, Verdict::accepted},
        {"cuda-supports-compute", {{F::cuda, "12.4.1"}, {F::compute, "ampere"}}, Verdict::unknown},
        {"cuda-compat-matches-driver",
         {{F::driver, "535.183.01"}, {F::cuda_compat, "new"}},
         Verdict::unknown},
        {"glibc-supported-by-cuda", {{F::cuda, "12.8.1"}, {F::glibc, "new"}}, Verdict::unknown},
        {"torch-supports-python", {{F::torch, "2.6.0"}, {F::python, "three"}}, Verdict::unknown},
        {"package-supports-python", {{F::python, "three"}, {F::packages, "numpy=2.2.6"}}, Verdict::unknown},
        {"container-toolkit-vulnerable", {{F::toolkit, "newest"}}, Verdict::accepted},
        {"dynamo-supports-python", {{F::torch, "2.6.0"}, {F::python, "three"}}, Verdict::accepted},
        {"compiler-known-broken", {{F::cuda, "11.5.2"}, {F::compiler, "gcc"}}, Verdict::accepted},
        {"compiler-supported-by-cuda", {{F::cuda, "11.5.2"}, {F::compiler, "gcc"}}, Verdict::unknown},
        {"compiler-known-broken", {{F::cuda, "11.5.2"}, {F::compiler, "gcc-new"}}, Verdict::accepted},
        {"compiler-supported-by-cuda", {{F::cuda, "11.5.2"}, {F::compiler, "gcc-new"}}, Verdict::unknown},
        {"compiler-supported-by-cuda", {{F::cuda, "11.5.2"}, {F::compiler, "icc-1"}}, Verdict::unknown},
        {"mig-one-device", {{F::mig, "1x"}}, Verdict::accepted},
        {"mig-one-device", {{F::mig, ""}}, Verdict::accepted},
        {"packages-agree", {{F::packages, "transformers=4.27.4"}, {F::python, "three"}}, Verdict::accepted},
        {"driver-supports-cuda",
         {{F::driver, "551.61-beta"}, {F::cuda, "12.4.1"}, {F::os, "windows"}},
         Verdict::unknown},
        {"cuda-compat-matches-driver",
         {{F::driver, "460.80"}, {F::cuda_compat, "11.3"}, {F::host_class, "console"}},
         Verdict::degraded},
        {"toolkit-available",
         {{F::family, "gentoo"}, {F::os, "beos5"}, {F::cuda, "12.4.1"}},
         Verdict::unknown},
        {"image-requirement-met",
         {{F::image, "nvidia/cuda:12.4.1-base-ubuntu22.04"}, {F::driver, "newest"}},
         Verdict::accepted},
        {"packages-agree",
         {{F::torch, "2.6.0+cu118"}, {F::packages, "xformers=0.0.28"}, {F::arch, "riscv64"}},
         Verdict::rejected},
    };
    for (const auto& each : cases) {
        CAPTURE(std::string(each.rule) + " " + each.words.front().second);
        CHECK(verdict_of(each.rule, each.words) == each.verdict);
    }
    CHECK_FALSE(stage_named("lunch"));
}

TEST_CASE("releases of packages that are no versions are unknown to packages-agree and to no other rule") {
    const Words words{{F::torch, "2.6.0"}, {F::cuda, "12.4.1"}, {F::driver, "550.54.15"}, {F::gpu, "T4"}};
    const auto of = [&](std::string_view rule) {
        return ask_raw(rule, words,
                       {{"numpy", "newest"},
                        {"flash-attn", "newest"},
                        {"triton", "newest"},
                        {"torchvision", "newest"},
                        {"cupy-cuda12x", "newest"},
                        {"transformers", "newest"},
                        {"timm", "1.0.9"},
                        {"nvidia-nvvm", "newest"},
                        {"nvidia-cuda-nvcc", "13.0.88"}});
    };
    CHECK(verdict_of(of("packages-agree")) == Verdict::unknown);
    CHECK(of("numpy-abi").empty());
    CHECK(of("package-supports-gpu").empty());
    CHECK(of("package-supports-torch").empty());
    CHECK(of("package-cuda-matches-torch").empty());
    CHECK(of("triton-matches-torch").empty());
    CHECK(verdict_of(of("triton-runs-on-driver")) == Verdict::unknown);
    CHECK(verdict_of(of("companions-match-torch")) == Verdict::unknown);
    CHECK(verdict_of(of("toolkit-wheels-one-release")) == Verdict::degraded);
    CHECK(verdict_of(ask_raw("numpy-abi", {{F::torch, "2.2.2"}},
                             {{"numpy", "2.2.6"}, {"opencv-python", "newest"}})) != Verdict::accepted);
    CHECK(ask_raw("numpy-abi", {}, {{"numpy", "2.2.6"}, {"opencv-python", "newest"}}).empty());
}

TEST_CASE("a pin that is no version stands in no way out's way") {
    const auto facts = with_rows(
        "package_releases",
        {"id: package-acme-1.0, package: acme, version: \"1.0\", requires: [\"torch ==2.6.0\"], abi: [py3]",
         "id: package-acme-2.0, package: acme, version: \"2.0\", requires: [\"torch ==2.5.1\", \"numpy "
         "<2\"], abi: [py3]"});
    const auto ways_out = [&](const std::string& numpy) {
        std::string out;
        for (const auto& finding :
             ask("packages-agree", {{F::torch, "2.5.1"}, {F::packages, "acme=1.0,numpy=" + numpy}}, facts)) {
            if (finding.severity == Severity::error) out += finding.message + " | " + finding.fix_text();
        }
        return out;
    };
    const std::string needs = "acme 1.0 needs torch ==2.6.0; the cell has torch 2.5.1 | torch 2.6.0, or ";
    CHECK(ways_out("1.26.4") == needs + "acme 2.0, or leave acme out");
    CHECK(ways_out("2.2.6") == needs + "leave acme out");
    CHECK(ways_out("2.1000000000000000000") == needs + "acme 2.0, or leave acme out");  // 19 digits
}

TEST_CASE("an option of the allocator may have a list of pairs") {
    const std::string list = "roundup_power2_divisions:[256:1,512:2,>:8], expandable_segments: False";
    const Value env{"PYTORCH_CUDA_ALLOC_CONF=" + list, {}, {{"PYTORCH_CUDA_ALLOC_CONF", list}}};
    const Value torch{"2.6.0", {}, {}};
    Cell cell;
    cell.set(F::torch, &torch);
    cell.set(F::env, &env);
    CHECK(evaluate(*rule_named("allocator-setting-known-to-torch"), cell, Facts::embedded(), kToday).empty());
}
