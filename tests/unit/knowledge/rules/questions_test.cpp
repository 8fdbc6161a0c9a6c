// What rules accept, they accept by a question that they can name, resting on facts.
#include <doctest/doctest.h>

#include <string>

#include "entries.hpp"
#include "knowledge/judge/evaluate.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

std::string questions(std::string_view rule, const std::string& set) {
    std::string out;
    const auto matrix = read_cell(set);
    for_each_cell(matrix, [&](const Cell& cell) {
        for (const auto& accepted : passes(*rule_named(rule), cell, Facts::embedded(), kToday))
            out += accepted.question + "\n";
        return false;
    });
    return out;
}

}  // namespace

TEST_CASE("what a rule accepts it accepts by a question that it can name") {
    std::size_t questions = 0;
    for (const auto& rule : all_rules()) {
        std::vector<std::string> cells{std::string(rule.passes), std::string(rule.fails)};
        for (const auto& entry : read_entries(rule.id))
            cells.insert(cells.end(), entry.cells.begin(), entry.cells.end());
        for (const auto& set : cells) {
            CAPTURE(set);
            const auto matrix = read_cell(set);
            for_each_cell(matrix, [&](const Cell& cell) {
                if (!applies(rule, cell)) return false;
                for (const auto& accepted : passes(rule, cell, Facts::embedded(), kToday)) {
                    ++questions;
                    CHECK(accepted.rule == rule.id);
                    CHECK(accepted.question.find("whether ") != std::string::npos);
                    CHECK_FALSE(accepted.facts.empty());
                    CHECK_FALSE(accepted.about.empty());
                }
                return false;
            });
        }
    }
    CHECK(questions > 100);
}

TEST_CASE("acceptances of what stands aside") {
    CHECK(questions("torch-published-for-arch", "torch: 2.6.0+cu113, arch: x86_64") ==
          "whether torch 2.6.0+cu113 is published for x86_64\n");
    CHECK(
        questions("torch-compile-has-c-compiler",
                  "family: nvidia-cuda, cuda: 12.4.1, os: ubuntu22.04, flavour: devel, torch: 2.6.0+cu124") ==
        "whether image docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04 holds a C compiler for "
        "torch.compile\n");
    // What the cell says itself is not said of the image again.
    CHECK(questions(
              "image-content-builds",
              "image: \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\", torch: 2.6.0+cu124, uses: [THC]") ==
          "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel: whether CUDA 12.4.1 has THC\n"
          "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel: whether torch 2.6.0+cu124, built with CUDA "
          "12.4, and nvcc of CUDA 12.4.1 have one major\n");
    // Nor what its own torch is asked.
    const std::string thc =
        "image: \"nvidia/cuda:11.8.0-devel-ubuntu22.04\", torch: 1.10.2+cu113, uses: [THC]";
    CHECK(questions("image-content-builds", thc) ==
          "image nvidia/cuda:11.8.0-devel-ubuntu22.04: whether CUDA 11.8.0 has THC\n"
          "image nvidia/cuda:11.8.0-devel-ubuntu22.04: whether torch 1.10.2+cu113, built with CUDA 11.3, "
          "and nvcc of CUDA 11.8.0 have one major\n");
    CHECK(questions("apis-available", thc) == "whether torch 1.10.2+cu113 has THC\n");
    // Nothing is claimed of what no fact dates.
    for (const auto* undated : {"cuda: 8.0.61", "cuda: 13.0.2", "os: windows", "os: macos"})
        CHECK(questions("end-of-life", undated).empty());
    for (const auto* dated : {"os: ubuntu24.04", "python: \"3.12\"", "driver: 580.95.05"})
        CHECK_FALSE(questions("end-of-life", dated).empty());
}

TEST_CASE("an answer vanishes where no answer to its question is left") {
    Finding error;
    error.rule = "a";
    error.message = "x";
    auto note = error;
    note.severity = Severity::note;
    auto other = error;
    other.rule = "b";
    CHECK(vanished(error, {}));
    CHECK(vanished(error, {other}));
    CHECK_FALSE(vanished(error, {error}));
    CHECK(vanished(error, {note}));
    CHECK(vanished(note, {note}));
}
