// What `explain -v` prints under "passed". tests/passed.txt has one sentence of each form and rule, with the
// cell that it was printed for, and what a reader said of it: true or false, as it stands.
//
//     true driver-supports-cuda: driver: 550.54.15, cuda: 12.4.1
//       driver 550.54.15 runs CUDA 12.4.1
//
// CUDAMATRIX_UPDATE_GOLDEN=1 rewrites it; a sentence of a new form is then marked `?`, for a reader.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "entries.hpp"
#include "knowledge/judge/evaluate.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

std::string sentences(std::string_view rule, const std::string& set) {
    std::string out;
    const auto matrix = read_cell(set);
    for_each_cell(matrix, [&](const Cell& cell) {
        for (const auto& accepted : passes(*rule_named(rule), cell, Facts::embedded(), kToday))
            out += accepted.sentence + "\n";
        return false;
    });
    return out;
}

}  // namespace

namespace {

std::filesystem::path passed_path() {
    return std::filesystem::path(tests_dir()) / "passed.txt";
}

// Two sentences of a rule have one form where they differ in names and versions only: words that are not
// plain small letters, the word before such a one, and the word after "a".
std::string form_of(std::string_view rule, const std::string& sentence) {
    const auto words = text::split(sentence, ' ');
    const auto is_value = [](std::string_view word) {
        return word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-,:()") != std::string::npos;
    };
    std::string out(rule);
    bool was_name = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool is_name = is_value(words[i]) || (i + 1 < words.size() && is_value(words[i + 1])) ||
                             (i > 0 && words[i - 1] == "a");
        if (!is_name || !was_name) out += is_name ? " #" : " " + words[i];
        was_name = is_name;
    }
    return out;
}

struct Sentence {
    std::string mark;  // true, false or ?
    std::string rule;
    std::string cell;
    std::string text;
};

std::vector<Sentence> known_sentences() {
    std::vector<Sentence> out;
    const auto text = file::read(passed_path(), 1u << 20);
    if (!text) return out;
    for (const auto& line : text::split(*text, '\n')) {
        if (line.empty() || line.front() == '#') continue;
        if (line.starts_with("  ")) {
            REQUIRE_FALSE(out.empty());
            out.back().text = line.substr(2);
            continue;
        }
        const auto blank = line.find(' '), colon = line.find(": ");
        REQUIRE_MESSAGE((blank != std::string::npos && colon != std::string::npos), line);
        out.push_back(
            {line.substr(0, blank), line.substr(blank + 1, colon - blank - 1), line.substr(colon + 2), {}});
    }
    return out;
}

void write_sentences(const std::vector<Sentence>& sentences) {
    std::string out;
    for (const auto& sentence : sentences)
        out += fmt::format("{} {}: {}\n  {}\n", sentence.mark, sentence.rule, sentence.cell, sentence.text);
    REQUIRE(file::write(passed_path(), out));
}

// The sentences of all forms that the cells of tests/verdicts make a rule say.
std::vector<Sentence> all_forms() {
    std::vector<Sentence> out;
    std::set<std::string> forms;
    for (const auto& rule : all_rules()) {
        std::vector<std::string> cells{std::string(rule.passes), std::string(rule.fails)};
        for (const auto& entry : read_entries(rule.id)) {
            if (!has_own_facts(entry)) cells.insert(cells.end(), entry.cells.begin(), entry.cells.end());
        }
        for (const auto& set : cells) {
            CAPTURE(set);
            const auto matrix = read_cell(set);
            for_each_cell(matrix, [&](const Cell& cell) {
                if (!applies(rule, cell)) return false;
                for (const auto& accepted : passes(rule, cell, Facts::embedded(), kToday)) {
                    CHECK(accepted.rule == rule.id);
                    CHECK(accepted.sentence.find("whether ") == std::string::npos);
                    CHECK_FALSE(accepted.facts.empty());
                    CHECK_FALSE(accepted.about.empty());
                    if (forms.insert(form_of(rule.id, accepted.sentence)).second)
                        out.push_back({"?", std::string(rule.id), set, accepted.sentence});
                }
                return false;
            });
        }
    }
    return out;
}

}  // namespace

TEST_CASE("passed: every sentence is true as it is printed") {
    auto known = known_sentences();
    std::set<std::string> forms;
    for (const auto& sentence : known) {
        CAPTURE(sentence.cell);
        CHECK_MESSAGE(sentence.mark == "true", sentence.text);
        const auto said = text::split(sentences(sentence.rule, sentence.cell), '\n');
        CHECK_MESSAGE(std::find(said.begin(), said.end(), sentence.text) != said.end(), sentence.text);
        forms.insert(form_of(sentence.rule, sentence.text));
    }
    for (const auto& sentence : all_forms()) {
        if (forms.contains(form_of(sentence.rule, sentence.text))) continue;
        CHECK_MESSAGE(updating(), "no reader has judged: " << sentence.text);
        known.push_back(sentence);
    }
    CHECK(known.size() > 100);
    if (!updating()) return;
    std::erase_if(known, [](const Sentence& sentence) {
        const auto said = text::split(sentences(sentence.rule, sentence.cell), '\n');
        return std::find(said.begin(), said.end(), sentence.text) == said.end();
    });
    std::stable_sort(known.begin(), known.end(),
                     [](const auto& a, const auto& b) { return a.rule < b.rule; });
    write_sentences(known);
}

TEST_CASE("acceptances of what stands aside") {
    CHECK(sentences("torch-published-for-arch", "torch: 2.6.0+cu113, arch: x86_64") ==
          "torch 2.6.0+cu113 is published for x86_64\n");
    CHECK(
        sentences("torch-compile-has-c-compiler",
                  "family: nvidia-cuda, cuda: 12.4.1, os: ubuntu22.04, flavour: devel, torch: 2.6.0+cu124") ==
        "image docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04 holds a C compiler for "
        "torch.compile\n");
    // What the cell says itself is not said of the image again.
    CHECK(sentences(
              "image-content-builds",
              "image: \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\", torch: 2.6.0+cu124, uses: [THC]") ==
          "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel: torch 2.6.0+cu124, built with CUDA "
          "12.4, and nvcc of CUDA 12.4.1 have one major\n");
    // Nor what its own torch is asked.
    const std::string thc =
        "image: \"nvidia/cuda:11.8.0-devel-ubuntu22.04\", torch: 1.10.2+cu113, uses: [THC]";
    CHECK(sentences("image-content-builds", thc) ==
          "image nvidia/cuda:11.8.0-devel-ubuntu22.04: torch 1.10.2+cu113, built with CUDA 11.3, "
          "and nvcc of CUDA 11.8.0 have one major\n");
    CHECK(sentences("apis-available", thc) == "torch 1.10.2+cu113 has not removed THC\n");
    // Nothing is claimed of what no fact dates.
    for (const auto* undated : {"cuda: 8.0.61", "cuda: 13.0.2", "os: windows", "os: macos"})
        CHECK(sentences("end-of-life", undated).empty());
    for (const auto* dated : {"os: ubuntu24.04", "python: \"3.12\"", "driver: 580.95.05"})
        CHECK_FALSE(sentences("end-of-life", dated).empty());
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
