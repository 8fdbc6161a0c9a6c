// What one cell in a thousand meets: rows that stand beside no other, lists of several words, images and
// packages that say more or less than most; and the small parts of judging, each by itself.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "asked_example.hpp"
#include "base/file.hpp"
#include "folders.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/exclude_fix.hpp"
#include "knowledge/judge/finding_index.hpp"
#include "knowledge/judge/progress.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "matrix/matrix_file.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using F = Field;
namespace fs = std::filesystem;

bool silent(std::string_view rule, const Words& words, const Facts& facts = Facts::embedded()) {
    return ask(rule, words, facts).empty();
}

// A row as with_tables wants it, in flow style.
std::string row(const std::string& columns) {
    return "  - {" + columns + ", source: \"https://example.org/\", confidence: read}\n";
}

Matrix matrix_of(const std::string& text) {
    auto matrix = read_matrix_text("version: 1\n" + text, "matrix.yaml");
    REQUIRE(matrix);
    return *std::move(matrix);
}

}  // namespace

TEST_CASE("what a rule accepts it accepts by a question that it can name") {
    std::size_t questions = 0;
    for (const auto& rule : all_rules()) {
        const auto text =
            file::read(fs::path(tests_dir()) / "verdicts" / (std::string(rule.id) + ".txt"), 1u << 20);
        REQUIRE(text);
        std::vector<std::string> cells{std::string(rule.passes), std::string(rule.fails)};
        for (const auto& line : text::split(*text, '\n')) {
            const auto colon = line.find(": ");
            if (colon != std::string::npos && line.front() != '#' && !line.starts_with("never"))
                cells.push_back(line.substr(colon + 2));
        }
        for (const auto& set : cells) {
            CAPTURE(set);
            const auto matrix = matrix_of("name: example\nset: {" + set + "}\n");
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
    const auto questions = [](std::string_view rule, const std::string& set) {
        std::string out;
        const auto matrix = matrix_of("name: example\nset: {" + set + "}\n");
        for_each_cell(matrix, [&](const Cell& cell) {
            for (const auto& accepted : passes(*rule_named(rule), cell, Facts::embedded(), kToday))
                out += accepted.question + "\n";
            return false;
        });
        return out;
    };
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

TEST_CASE("going: it is asked once") {
    int asked = 0;
    const OnProgress stop = [&](const JudgingProgress&) {
        ++asked;
        return false;
    };
    Progress progress(stop);
    progress.begin("step", 2);
    CHECK_FALSE(progress.next());
    CHECK_FALSE(progress.next());
    CHECK(asked == 1);
    std::string axis;
    for (int i = 0; i < 40; ++i)
        axis += (i == 0 ? "" : ", ") + std::to_string(i + 1);
    const auto matrix =
        matrix_of("axes: {vram_gb: [" + axis + "], shm_gb: [" + axis + "]}\nset: {gpu: T4}\n");
    for (const bool list_cells : {true, false}) {
        const auto stopped =
            judge(matrix, Facts::embedded(), {std::string(kToday), 100'000, list_cells, stop});
        REQUIRE_FALSE(stopped);
        CHECK(stopped.failure().code == ExitCode::interrupted);
    }
}

TEST_CASE("notes of facts: without a source, with several, measured; a waived finding") {
    CHECK(fact_note({"x", {}, "2026-11-21", Confidence::read}) == "fact x (as of 2026-11-21)");
    CHECK(fact_note({"x", {"a", "b", "c"}, "2026-11-21", Confidence::measured}) ==
          "fact x, a and 2 more (as of 2026-11-21, measured)");
    FindingGroup group;
    group.finding.rule = "r";
    group.finding.message = "it fails";
    group.cells = 1;
    group.first_cell = "c";
    group.waived = Waived{"mirrored", "2027-01-01", {"matrix.yaml", 7, 1, 1}};
    const auto text = render_finding(group, {}, false);
    CHECK(text.find("note: waived error: it fails [r, at runtime]") != std::string::npos);
    CHECK(text.find("waived until 2027-01-01 (line 7): mirrored") != std::string::npos);
}

TEST_CASE("excludes: lists of several words, and fields that the cell does not have") {
    const auto matrix = matrix_of(
        "axes: {uses: [[THC, AT_CHECK], [texture-reference]], torch: [1.11.0, 1.10.2]}\ninclude: [{torch: "
        "1.9.0}]\n");
    for_each_cell(matrix, [&](const Cell& cell) {
        Finding finding;
        finding.about = {F::uses, F::torch};
        const auto option = exclude_fix(matrix, cell, finding);
        const auto* uses = cell.get(F::uses);
        if (uses == nullptr) {
            REQUIRE(option);
            CHECK(option->text == "exclude: {torch: \"1.9.0\"}");
        } else {
            CHECK(option.has_value() == (uses->items.size() == 1));
        }
        return true;
    });
}

TEST_CASE("a finding stands where the first field stands that the cell has") {
    const auto matrix = matrix_of("axes: {cuda: [12.4.1]}\n");
    FindingIndex groups(matrix);
    for_each_cell(matrix, [&](const Cell& cell) {
        Finding finding;
        finding.primary = F::flavour;
        for (const auto& about : {std::vector{F::os, F::cuda}, std::vector{F::os}, std::vector<Field>{}}) {
            finding.about = about;
            finding.message += "x";
            static_cast<void>(groups.of(finding, cell, nullptr, [&] { return finding; }));
        }
        return true;
    });
    const auto found = std::move(groups).take();
    REQUIRE(found.size() == 3);
    CHECK(found[0].where.line == 2);
    CHECK(found[1].where.line == 0);
    CHECK(found[2].where.line == 0);
}

TEST_CASE("numbers of variants") {
    CHECK(cuda_number("cu12.4") == 124);
    CHECK(cuda_number("cpu") == 0);
}

TEST_CASE("own rules: values that occur twice, more than three, and none; waivers") {
    const auto rules_of = [](const std::string& text) {
        const auto matrix = matrix_of(text);
        const auto judgement = judge(matrix, Facts::embedded(), {std::string(kToday), 100'000, true, {}});
        std::string out;
        if (!judgement) {
            for (const auto& mistake : judgement.failure().diagnostics)
                out += mistake.message + " | " + mistake.fix + "\n";
            return out;
        }
        for (const auto& group : judgement->findings) {
            if (group.finding.rule == "own")
                out += group.finding.fix_text() + (group.waived ? " waived" : "") + "\n";
        }
        return out;
    };
    CHECK(
        rules_of("axes: {driver: [\"470.161.03\", \"535.183.01\", \"535.183.01\", \"550.54.15\", "
                 "\"570.124.06\", \"580.95.05\"], python: [\"3.9\", \"3.10\", \"3.11\", \"3.12\", \"3.13\", "
                 "\"3.14\"]}\nzip: [[driver, python]]\nrules: [{id: own, require: {driver: \">=500\"}, "
                 "because: x}]\n") ==
        "driver 535.183.01, or driver 550.54.15, or driver 570.124.06, or exclude: {driver: "
        "\"470.161.03\"}\n");
    CHECK(rules_of("set: {driver: \"470.161.03\"}\nrules: [{id: own, require: {driver: \">=500\"}, because: "
                   "x}]\n") == "\n");
    CHECK(rules_of(
              "set: {driver: \"470.161.03\"}\nwaive: [{rule: zzzzzzzz, because: x, until: 2027-01-01}]\n") ==
          "waive: there is no rule zzzzzzzz | `cudamatrix rules list` lists them\n");
    CHECK(
        rules_of("set: {driver: \"470.161.03\"}\nrules: [{id: own, require: {driver: \"550\"}, because: x}]\n"
                 "waive: [{rule: own, because: a, until: 2027-01-01}, {rule: own, because: b, until: "
                 "2027-01-01}]\n") == "driver 550 waived\n");
}

TEST_CASE("images: the official python, tags with one flavour, a digest, a repository of one's own") {
    CHECK(silent("image-tag-exists", {{F::image, "python:3.12-slim-bookworm"}}));
    CHECK(message_of("image-tag-exists", {{F::image, "python:3.12"}}) ==
          "image python:3.12: the facts describe the tags MINOR-slim-DISTRIBUTION only");
    CHECK(fix_of("image-tag-exists", {{F::image, "pytorch/pytorch:1.6.0-cuda10.9-cudnn7-runtime"}}) ==
          "image pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime");
    // Of 2.14.1 the runtime alone is known, which is no way out where 2.14.0 has a devel.
    CHECK(fix_of("image-tag-exists", {{F::image, "pytorch/pytorch:2.14.0-cuda12.9-cudnn9-devel"}}) ==
          "image pytorch/pytorch:2.14.0-cuda12.6-cudnn9-devel, or image "
          "pytorch/pytorch:2.14.0-cuda13.0-cudnn9-devel, or image "
          "pytorch/pytorch:2.14.0-cuda13.2-cudnn9-devel");
    CHECK(verdict_of("image-tag-exists", {{F::image, "pytorch/pytorch:2.14.9-cuda12.6-cudnn9-devel"}}) ==
          Verdict::unknown);
    const auto digest = "@sha256:" + std::string(64, 'a');
    for (const auto& image :
         {"pytorch/pytorch:latest", "python:3.12-slim-bookworm", "registry.example.org/own:1"}) {
        CHECK(silent("pip-installs-into-image", {{F::image, image}, {F::packages, "timm=1.0.9"}}));
        CHECK(silent("torch-compile-has-c-compiler", {{F::image, image}}));
    }
    const std::string runtime = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime";
    CHECK(silent("torch-compile-has-c-compiler", {{F::image, runtime + digest}}));
    const std::string cuda = "nvidia/cuda:12.4.1-runtime-ubuntu22.04";
    CHECK(silent("torch-compile-has-c-compiler", {{F::image, cuda + digest}, {F::torch, "2.6.0+cu124"}}));
    for (const std::string torch : {"9.9.9", "2.6.0+cu113"})
        CHECK(silent("torch-compile-has-c-compiler", {{F::image, cuda}, {F::torch, torch}}));
    CHECK(silent("image-matches-cell", {{F::image, runtime}, {F::torch, "2.6.0"}}));
    CHECK(verdict_of("image-matches-cell", {{F::image, runtime}, {F::torch, "2.5.1+cu121"}}) ==
          Verdict::rejected);
    CHECK(fix_of("image-tag-supported",
                 {{F::family, "nvidia-cuda"}, {F::cuda, "12.6.0"}, {F::os, "ubuntu22.04"}})
              .starts_with("cuda 12.6.3"));
    CHECK(fix_of("image-content-runs",
                 {{F::image, "pytorch/pytorch:2.12.0-cuda12.6-cudnn9-runtime"}, {F::compute, "10.3"}}) != "");
    CHECK(verdict_of("image-content-runs", {{F::image, "nvcr.io/nvidia/pytorch:99.12-py3"},
                                            {F::driver, "470.161.03"}}) == Verdict::unknown);
    CHECK(
        silent("image-content-runs", {{F::image, runtime}, {F::gpu, "RTX 5090"}, {F::torch, "2.7.1+cu128"}}));
    // A warning beside a rejection gets no other tag.
    const auto both = ask("image-content-builds", {{F::image, "nvidia/cuda:11.8.0-devel-ubuntu22.04"},
                                                   {F::torch, "2.6.0+cu124"},
                                                   {F::gpu, "V100"},
                                                   {F::compiler, "gcc-13"}});
    REQUIRE(both.size() == 2);
    for (const auto& finding : both)
        CHECK((finding.fix_text().find("image ") != std::string::npos) ==
              (finding.severity == Severity::error));
}

TEST_CASE("pip-installs-into-image: values of the switch, beside others") {
    const auto verdict = [](std::string env) {
        return verdict_of("pip-installs-into-image", {{F::image, "nvidia/cuda:12.6.3-devel-ubuntu24.04"},
                                                      {F::torch, "2.6.0+cu126"},
                                                      {F::env, std::move(env)}});
    };
    CHECK(verdict("PIP_BREAK_SYSTEM_PACKAGES=true") == Verdict::accepted);
    CHECK(verdict("PIP_BREAK_SYSTEM_PACKAGES=0,HF_HOME=/cache") == Verdict::degraded);
}

TEST_CASE("images and requirements of facts of one's own") {
    const auto facts = with_tables(
        {{"cuda_releases", row("id: cuda-19.1.0, cuda: \"19.1.0\", minor: \"13.5\"")},
         {"cuda_images",
          row("id: cuda-image-19.1.0-x, cuda: \"19.1.0\", status: supported, os: [ubuntu24.04, ubuntu22.04, "
              "debian12], flavours: [base], complete: true") +
              row("id: cuda-image-19.1.1-x, cuda: \"19.1.1\", status: deleted, os: [ubuntu24.04], flavours: "
                  "[base], complete: true")},
         {"cuda_image_requirements",
          row("id: cuda-image-requires-19.1.0-debian, cuda: \"19.1.0\", arch: [x86_64], os: [debian12], "
              "cuda_min: \"19.1\"") +
              row("id: cuda-image-requires-19.1.0-jammy, cuda: \"19.1.0\", arch: [x86_64], os: "
                  "[ubuntu22.04]") +
              row("id: cuda-image-requires-19.1.0-noble, cuda: \"19.1.0\", arch: [x86_64], os: "
                  "[ubuntu24.04], cuda_min: \"19.1\", driver_min: \"900\"") +
              row("id: cuda-image-requires-19.1.0-rocky, cuda: \"19.1.0\", arch: [x86_64], os: "
                  "[rockylinux9], cuda_min: \"19.1\"")}});
    CHECK(silent("image-tag-supported", {{F::image, "nvidia/cuda:19.1.0-base-ubuntu24.04"}}, facts));
    // No driver branch is of that CUDA.
    CHECK(
        fix_of(
            "image-requirement-met",
            {{F::image, "nvidia/cuda:19.1.0-base-debian12"}, {F::driver, "580.95.05"}, {F::gpu, "RTX 4090"}},
            facts)
            .find("driver >=") == std::string::npos);
    // The distributions disagree, and the cell names none.
    CHECK(silent(
        "image-requirement-met",
        {{F::family, "nvidia-cuda"}, {F::cuda, "19.1.0"}, {F::driver, "580.95.05"}, {F::gpu, "RTX 4090"}},
        facts));
    const auto first = with_rows("driver_branches", {"id: driver-r990, branch: 990, newest: \"990.10\""});
    CHECK(verdict_of("image-requirement-met",
                     {{F::image, "nvidia/cuda:12.6.3-base-ubuntu22.04"}, {F::driver, "990.10"}},
                     first) == Verdict::accepted);
    const auto no_since = with_rows("image_policies", {"id: image-policy-holds-compat, policy: holds-compat, "
                                                       "says: \"as before\", values: [x86_64]"});
    CHECK(verdict_of("driver-supports-cuda",
                     {{F::image, "nvidia/cuda:12.4.1-devel-ubuntu22.04"},
                      {F::cuda, "12.4.1"},
                      {F::driver, "470.161.03"},
                      {F::gpu, "T4"}},
                     no_since) == Verdict::degraded);
    const auto no_release =
        with_rows("image_policies", {"id: image-policy-pytorch-c-compiler, policy: pytorch-c-compiler, says: "
                                     "\"as before\", values: [runtime]"});
    CHECK(silent("torch-compile-has-c-compiler",
                 {{F::image, "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"}}, no_release));
}

TEST_CASE("packages of one's own: wheels for no python, demands on themselves, releases nobody opened") {
    const auto facts =
        with_rows("package_releases",
                  {"id: package-acme-1.0, package: acme, version: \"1.0\", requires: [\"torch ==2.5.0\", "
                   "\"numpy <2\"], "
                   "abi: [py3]",
                   "id: package-acme-2.0, package: acme, version: \"2.0\", requires: [\"acme >=1\", \"torch "
                   "==2.6.0\"], "
                   "abi: [py3]",
                   "id: package-closed-1.0, package: closed, version: \"1.0\", requires_python: \">=3.12\"",
                   "id: package-old-1.0, package: old, version: \"1.0\", requires: [], abi: [py314]"});
    CHECK(fix_of("packages-agree", {{F::torch, "2.6.0+cu124"}, {F::packages, "acme=1.0"}}, facts)
              .find("acme 2.0") != std::string::npos);
    CHECK(verdict_of("packages-agree", {{F::packages, "acme=1.0,numpy=99.0"}}, facts) == Verdict::rejected);
    CHECK(verdict_of("packages-agree", {{F::packages, "closed=1.0,acme=2.0"}}, facts) == Verdict::unknown);
    CHECK(verdict_of("package-supports-python", {{F::packages, "closed=1.0"}, {F::python, "3.10"}}, facts) ==
          Verdict::rejected);
    CHECK(message_of("package-supports-python", {{F::packages, "old=1.0"}, {F::python, "3.12"}}, facts)
              .find("any python 3") != std::string::npos);
    CHECK(verdict_of("package-supports-python", {{F::packages, "numpy=2.2.6"}, {F::python, "3.14rc1"}}) !=
          Verdict::rejected);
    const auto pythons = with_rows("pythons", {"id: python-4, python: \"4\""});
    CHECK(verdict_of("package-supports-python", {{F::packages, "numpy=1.26.4"}, {F::python, "3.8"}},
                     pythons) == Verdict::rejected);
    CHECK(fix_of("package-cuda-matches-torch",
                 {{F::torch, "2.6.0+cu124"}, {F::packages, "timm=1.0.9,cupy-cuda11x=13.0.0"}})
              .starts_with("cupy-cuda12x "));
    CHECK(silent("companions-match-torch", {{F::torch, "2.6.0"}, {F::packages, "torchvision=auto"}}));
    CHECK(silent("packages-agree", {{F::torch, "2.6.0"}, {F::packages, "torchvision=auto"}}));
    for (const std::string torch : {"9.9.9", "2.6.0+cu113"})
        CHECK(silent("package-supports-torch", {{F::torch, torch}, {F::packages, "transformers=5.20.0"}}));
    CHECK(silent("package-supports-gpu",
                 {{F::torch, "2.6.0+cu113"}, {F::gpu, "H100"}, {F::packages, "flash-attn=2.7.0"}}));
}

TEST_CASE("floors of one's own: the worst of several counts") {
    const auto torch = with_tables(
        {{"package_releases", row("id: package-acme-1.0, package: acme, version: \"1.0\", requires: []")},
         {"package_torch_floors",
          row("id: package-torch-acme-1, package: acme, versions: \">=1\", torch_min: \"99.1\", severity: "
              "warning, consequence: \"some fails\"") +
              row("id: package-torch-acme-2, package: acme, versions: \">=1\", torch_min: \"99.0\", "
                  "severity: "
                  "error, consequence: \"all fails\"")}});
    const Words acme{{F::torch, "2.6.0"}, {F::packages, "acme=1.0"}};
    CHECK(verdict_of("package-supports-torch", acme, torch) == Verdict::rejected);
    CHECK(fix_of("package-supports-torch", acme, torch).find("torch ") == std::string::npos);
    const auto floors = [](const std::string& first, const std::string& second) {
        return with_rows("package_gpu_floors", {"id: package-gpu-acme-1, package: acme, versions: \">=1\", " +
                                                    first + ", consequence: \"it fails\"",
                                                "id: package-gpu-acme-2, package: acme, versions: \">=1\", " +
                                                    second + ", consequence: \"it fails\""});
    };
    const Words on_t4{{F::gpu, "T4"}, {F::packages, "acme=1.0"}};
    CHECK(verdict_of("package-supports-gpu", on_t4,
                     floors("compute_min: \"8.0\", severity: warning",
                            "compute_min: \"8.0\", severity: "
                            "error")) == Verdict::rejected);
    CHECK(message_of("package-supports-gpu", on_t4,
                     floors("compute_min: \"8.0\", severity: error", "compute_min: \"9.0\", severity: error"))
              .find("9.0") != std::string::npos);
}

TEST_CASE("libraries of wheels: without a wheel, and with PTX") {
    const auto library = [](const std::string& variant, const std::string& code) {
        return with_rows("torch_libraries",
                         {"id: torch-2.6.0+" + variant + "-x86_64-libacme.so, torch: \"2.6.0\", variant: " +
                          variant + ", arch: x86_64, library: libacme.so, purpose: \"the rest\", " + code});
    };
    CHECK(
        message_of("torch-libraries-have-code", {{F::torch, "2.6.0+cu126"}, {F::compute, "7.5"}},
                   library("cu126", "sass: [\"8.0\"], ptx: [\"9.0\"]")) ==
        "libacme.so of torch 2.6.0+cu126 has no code for compute 7.5, which the wheel promises: its SASS is "
        "for 8.0, its PTX for 9.0; the rest fail there");
    CHECK(silent("torch-libraries-have-code", {{F::torch, "2.6.0+cu113"}, {F::compute, "7.5"}},
                 library("cu113", "sass: [\"8.0\"], ptx: []")));
}

TEST_CASE("torch: none for the machine, and companions of a torch without a build") {
    CHECK(silent("driver-supports-cuda",
                 {{F::driver, "550.54.15"}, {F::torch, "1.0.0"}, {F::arch, "aarch64"}}));
    CHECK(fix_of("companions-match-torch", {{F::torch, "2.6.0+cu126"}, {F::packages, "torchvision=0.9.1"}})
              .find("torch 1.8.1") == std::string::npos);
    CHECK(verdict_of("end-of-life", {{F::python, "3.99t"}}) == Verdict::unknown);
    CHECK(fix_of("arch-list-known", {{F::cuda, "12.6.3"}, {F::arch_list, "12.0;Ampere"}}) != "");
}

TEST_CASE("drivers at the edge: Windows between branches, a branch without releases") {
    const auto facts =
        with_rows("driver_branches", {"id: driver-r572, branch: 572, oldest: \"572.10\", newest: \"572.90\"",
                                      "id: driver-r573, branch: 573, cuda: \"12.8\""});
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "572.16"}, {F::cuda, "12.9.1"}, {F::os, "windows"}},
                     facts) != Verdict::rejected);
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "574.10"}, {F::cuda, "12.9.1"}}, facts) !=
          Verdict::rejected);
    const auto triton =
        with_rows("triton_releases", {"id: triton-9.0.0, triton: \"9.0.0\", ptxas: \"12.8\", blackwell_from: "
                                      "\"10.0\", targets: [\"8.0\", \"10.0\"]"});
    CHECK(verdict_of("triton-runs-on-driver",
                     {{F::driver, "470.57.02"}, {F::gpu, "B200"}, {F::packages, "triton=3.3.0"}},
                     triton) != Verdict::accepted);
}
