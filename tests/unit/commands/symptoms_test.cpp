// What rows of matrix/facts/symptoms.yaml name exists: rules, facts and probes of doctor.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "folders.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/rules/rule.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;

namespace {

bool is_rule(std::string_view id) {
    return std::ranges::any_of(rules::all_rules(), [&](const auto& rule) { return rule.id == id; });
}

bool is_fact(const Facts& facts, std::string_view name) {
    return facts.table(name) != nullptr || facts.row(name).has_value();
}

/// The names by which the probes of `doctor` begin their lines.
std::set<std::string, std::less<>> probes() {
    std::set<std::string, std::less<>> out;
    for (const auto& file :
         std::filesystem::directory_iterator(std::string(source_dir()) + "/src/run/doctor")) {
        const auto source = test::bytes_of(file.path());
        for (std::size_t at = 0; (at = source.find("{\"", at)) != source.npos; ++at) {
            const auto end = source.find('"', at + 2);
            const auto name = source.substr(at + 2, end - at - 2);
            if (source.substr(end, 10) == "\", Health:" || source.substr(end, 2) == "\",") out.insert(name);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("what a row of symptoms names exists") {
    const auto facts = Facts::embedded();
    const auto known = probes();
    for (const auto* probe : {"driver", "gpu", "toolkit", "device-nodes", "libraries", "shared-memory"})
        CHECK(known.contains(probe));
    CHECK(!known.contains("no-such-probe"));
    CHECK(!is_rule("no-such-rule"));
    CHECK(!is_fact(facts, "no-such-fact"));
    for (const auto& row : facts.rows("symptoms")) {
        CAPTURE(row.id());
        for (const auto rule : row.list("rules")) {
            CAPTURE(rule);
            CHECK(is_rule(rule));
        }
        for (const auto fact : row.list("facts")) {
            CAPTURE(fact);
            CHECK(is_fact(facts, fact));
        }
        for (const auto probe : row.list("probes")) {
            CAPTURE(probe);
            CHECK(known.contains(probe));
        }
    }
}

TEST_CASE("rows of symptoms are about programs of the list, and have a thread") {
    const std::set<std::string_view> programs{"apt",        "cuda",        "cudnn",  "docker", "driver",
                                              "flash-attn", "gcc",         "glibc",  "nccl",   "numpy",
                                              "nvcc",       "onnxruntime", "pip",    "podman", "tensorflow",
                                              "timm",       "torch",       "triton", "uv",     "xformers"};
    for (const auto& row : Facts::embedded().rows("symptoms")) {
        CAPTURE(row.id());
        CHECK(programs.contains(row.text("program")));
        CHECK(row.text("source").starts_with("https://"));
        CHECK(!row.text("fix").ends_with("."));
    }
}
