// allocator-setting-known-to-torch.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "allocator-setting-known-to-torch";

// Asked with the parts of the map as the reader makes them: a value may hold commas.
Findings asked(const std::string& torch, const std::string& variable, const std::string& value) {
    Value env;
    env.text = variable + "=" + value;
    env.items = {{variable, value}};
    const Value build{torch, {}, {}};
    Cell cell;
    cell.set(Field::torch, &build);
    cell.set(Field::env, &env);
    return evaluate(*rule_named(kRule), cell, Facts::embedded(), kToday);
}

std::string cuda_conf(const std::string& torch, const std::string& value) {
    const auto findings = asked(torch, "PYTORCH_CUDA_ALLOC_CONF", value);
    return findings.size() == 1 ? findings[0].message : fmt::format("({} findings)", findings.size());
}

}  // namespace

TEST_CASE("allocator-setting-known-to-torch rejects options that torch stops at") {
    CHECK(cuda_conf("2.0.1", "expandable_segments:True") ==
          "torch 2.0.1 stops at the option expandable_segments in PYTORCH_CUDA_ALLOC_CONF: only torch 2.1.0 "
          "and newer know it");
    const auto findings = asked("2.0.1", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::error);
    CHECK(findings[0].fix_text() == "torch 2.1.0");
    CHECK(cuda_conf("2.1.0", "roundup_bypass_threshold_mb:64") ==
          "torch 2.1.0 stops at the option roundup_bypass_threshold_mb in PYTORCH_CUDA_ALLOC_CONF: only "
          "torch 1.13.0 to 2.0.1 know it");
    CHECK(cuda_conf("1.13.1", "max_split_size_mb:128, backend :native") ==
          "torch 1.13.1 stops at the option backend in PYTORCH_CUDA_ALLOC_CONF: only torch 2.0.0 and newer "
          "know it");
    CHECK(asked("1.13.1", "PYTORCH_CUDA_ALLOC_CONF", "backend:native,expandable_segments:True").size() == 2);
}

TEST_CASE("allocator-setting-known-to-torch rejects values that torch stops at") {
    CHECK(cuda_conf("2.6.0", "expandable_segments:Maybe") ==
          "torch 2.6.0 stops at expandable_segments:Maybe in PYTORCH_CUDA_ALLOC_CONF: it takes True, False");
    CHECK(cuda_conf("2.6.0", "max_split_size_mb:64,backend:fast") ==
          "torch 2.6.0 stops at backend:fast in PYTORCH_CUDA_ALLOC_CONF: it takes native, cudaMallocAsync");
    CHECK(asked("2.6.0", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:true").size() == 1);
    CHECK(asked("2.6.0", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:").size() == 1);
    // A torch that does not know the option stops at the option.
    CHECK(cuda_conf("2.0.1", "expandable_segments:Maybe").find("stops at the option") != std::string::npos);
}

TEST_CASE("allocator-setting-known-to-torch warns of variables that are not read") {
    const auto old = asked("1.9.0", "PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64");
    REQUIRE(old.size() == 1);
    CHECK(old[0].severity == Severity::warning);
    CHECK(old[0].message ==
          "torch 1.9.0 does not heed PYTORCH_CUDA_ALLOC_CONF in its CUDA allocator: only torch 1.10.0 and "
          "newer do");
    CHECK(old[0].fix_text() == "torch 1.10.0");
    const auto renamed = asked("2.9.1", "PYTORCH_ALLOC_CONF", "expandable_segments:True");
    REQUIRE(renamed.size() == 1);
    CHECK(renamed[0].severity == Severity::warning);
}

TEST_CASE("allocator-setting-known-to-torch accepts the others") {
    for (const auto* value :
         {"", "expandable_segments:True", "expandable_segments:True,max_split_size_mb:128",
          "garbage_collection_threshold:0.8,max_split_size_mb:512", "backend:cudaMallocAsync",
          "roundup_power2_divisions:4", "max_split_size_mb:64,",
          "roundup_power2_divisions:[256:1,512:2,>:8], expandable_segments: False"}) {
        CAPTURE(value);
        CHECK(asked("2.6.0", "PYTORCH_CUDA_ALLOC_CONF", value).empty());
        CHECK(asked("2.15.0", "PYTORCH_ALLOC_CONF", value).empty());
    }
    CHECK(asked("2.0.1", "OTHER", "expandable_segments:True").empty());
    CHECK(asked("none", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True").empty());
    CHECK(asked("2.99.0", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True").empty());
    CHECK(asked("2.0.1+cpu", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True").empty());
    CHECK(asked("2.0.1+cu127", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True").empty());
    CHECK(ask(kRule, {{Field::torch, "2.0.1"}}).empty());
}

TEST_CASE("allocator-setting-known-to-torch does not guess") {
    CHECK(cuda_conf("2.6.0", "expandable_segment:True") ==
          "no fact knows the option expandable_segment in PYTORCH_CUDA_ALLOC_CONF (did you mean "
          "expandable_segments?): whether torch 2.6.0 does is unknown");
    CHECK(cuda_conf("2.6.0", "qwertyuiop:1") ==
          "no fact knows the option qwertyuiop in PYTORCH_CUDA_ALLOC_CONF: whether torch 2.6.0 does is "
          "unknown");
    CHECK(cuda_conf("2.6.0", "PYTORCH_ALLOC_CONF:1").find("no fact knows the option") == 0);
    CHECK(cuda_conf("2.6.0", "expandable_segments=True") ==
          "no fact knows the option expandable_segments=True in PYTORCH_CUDA_ALLOC_CONF, which has no ':' "
          "before its value (did you mean expandable_segments:VALUE?): whether torch 2.6.0 does is unknown");
    CHECK(cuda_conf("2.6.0", "backend:native,True") ==
          "no fact knows the option True in PYTORCH_CUDA_ALLOC_CONF, which has no ':' before its value: "
          "whether torch 2.6.0 does is unknown");
    CHECK(cuda_conf("2.6.0", ":x") ==
          "no fact knows the option :x in PYTORCH_CUDA_ALLOC_CONF: whether torch 2.6.0 does is unknown");
}

TEST_CASE("allocator-setting-known-to-torch warns of an option that the system does not support") {
    const auto on = [](const std::string& os, const std::string& value) {
        return verdict_of(kRule, {{Field::torch, "2.6.0+cu124"},
                                  {Field::os, os},
                                  {Field::env, "PYTORCH_CUDA_ALLOC_CONF=" + value}});
    };
    CHECK(message_of(kRule, {{Field::torch, "2.6.0+cu124"},
                             {Field::os, "windows11"},
                             {Field::env, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"}}) ==
          "torch 2.6.0 does nothing with expandable_segments in PYTORCH_CUDA_ALLOC_CONF on Windows 11: it "
          "warns "
          "\"expandable_segments not supported on this platform\", and memory fragments as without it");
    CHECK(on("windows11", "expandable_segments:True") == Verdict::degraded);
    CHECK(on("windows11", "expandable_segments:False") == Verdict::accepted);
    CHECK(on("windows11", "max_split_size_mb:128") == Verdict::accepted);
    CHECK(on("ubuntu22.04", "expandable_segments:True") == Verdict::accepted);
}
