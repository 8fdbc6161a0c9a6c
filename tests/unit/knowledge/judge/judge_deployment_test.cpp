// What images and services add to cells is judged like what cells say, and said at its own place.

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"

using namespace cudamatrix;

namespace {

std::vector<Diagnostic> added_by(const std::string& yaml) {
    auto matrix = read_matrix_text("version: 1\n" + yaml, "matrix.yaml");
    REQUIRE_MESSAGE(matrix.ok(), (matrix.ok() ? "" : matrix.failure().diagnostics.front().message));
    JudgeOptions options;
    options.today = "2026-11-21";
    auto judgement = judge(*matrix, Facts::embedded(), options);
    REQUIRE(judgement.ok());
    judge_deployment(*matrix, Facts::embedded(), options.today, *judgement);
    return judgement->deployment;
}

// "line:column: severity: message", one line each.
std::string said(const std::string& yaml) {
    std::string out;
    for (const auto& each : added_by(yaml)) {
        REQUIRE_FALSE(each.message.empty());
        out += fmt::format("{}:{}: {}: {}\n", each.where.line, each.where.column, to_string(each.severity),
                           each.message);
    }
    return out;
}

const std::string kOld = "set: {driver: \"550.54.15\", gpu: T4, torch: 2.0.1+cu118, python: \"3.11\"}\n";
const std::string kNew = "set: {driver: \"550.54.15\", gpu: T4, torch: 2.6.0+cu124, python: \"3.11\"}\n";
const std::string kTwo =
    "axes: {torch: [2.0.1+cu118, 2.6.0+cu124]}\nset: {driver: \"550.54.15\", gpu: T4, python: \"3.11\"}\n";
const std::string kConf = "{PYTORCH_CUDA_ALLOC_CONF: \"expandable_segments:True\"}";
const std::string kStops =
    "torch 2.0.1 stops at the option expandable_segments in PYTORCH_CUDA_ALLOC_CONF: only torch 2.1.0 and "
    "newer "
    "know it [allocator-setting-known-to-torch, at runtime]\n";

}  // namespace

TEST_CASE("an allocator setting that torch does not know is an error at the variable") {
    CHECK(said(kOld + "services: [{name: s, environment: " + kConf + "}]\n") ==
          "3:36: error: services: s: " + kStops);
    CHECK(said(kOld + "images: [{name: a, env: " + kConf + "}]\n") == "3:26: error: images: a: " + kStops);
    CHECK(said(kNew + "services: [{name: s, environment: " + kConf + "}]\n").empty());
    CHECK(said(kNew + "images: [{name: a, env: " + kConf + "}]\n").empty());
    const std::string blackwell = "set: {gpu: RTX 5070 Ti}\n";
    CHECK(said(blackwell + "images: [{name: a, env: {TORCH_CUDA_ARCH_LIST: \"8.9;9.0\"}}]\n") ==
          "3:26: error: images: a: code built with TORCH_CUDA_ARCH_LIST 8.9;9.0 has nothing for RTX 5070 Ti "
          "(compute 12.0) [arch-list-covers-gpu, at runtime]\n");
    CHECK(said(blackwell + "images: [{name: a, env: {TORCH_CUDA_ARCH_LIST: \"12.0\"}}]\n").empty());
    CHECK(said(kOld + "services: [{name: s, environment: {HF_HOME: /cache}}]\n").empty());
}

TEST_CASE("only cells that the entry is for count, and a waiver accepts the finding") {
    CHECK(said(kTwo + "images: [{name: a, when: {torch: \">=2.1\"}, env: " + kConf + "}]\n").empty());
    CHECK_FALSE(said(kTwo + "images: [{name: a, when: {torch: \"<2.1\"}, env: " + kConf + "}]\n").empty());
    // A rejected cell is passed over, not the end.
    const std::string rejected_first = text::replace_all(kTwo, "[2.0.1", "[2.6.0+cu127, 2.0.1");
    CHECK(said(rejected_first + "images: [{name: a, env: " + kConf + "}]\n") ==
          "4:26: error: images: a: " + kStops);
    const std::string waive =
        "waive: [{rule: allocator-setting-known-to-torch, because: tried, until: 2027-01-01}]\n";
    CHECK(said(kOld + waive + "services: [{name: s, environment: " + kConf + "}]\n").empty());
}

TEST_CASE("an entry of images that no cell meets is warned of") {
    CHECK(said(kNew + "images: [{name: a}, {name: b, when: {torch: \"<2\"}}]\n") ==
          "3:28: warning: images: no cell meets `when` of b: it gives no image\n");
}

TEST_CASE("only capabilities that the facts know can be asked for") {
    const auto service = [](const std::string& capabilities) {
        return said(
            "set: {cuda: \"11.8.0\", driver: \"550.54.15\", gpu: T4}\nservices: [{name: s, gpu: 1, "
            "capabilities: [" +
            capabilities + "]}]\n");
    };
    const std::string accepted = ": expected compat32, compute, display, graphics, utility, video\n";
    CHECK(service("compute").empty());
    CHECK(service("utility, compute, graphics, video, display, compat32").empty());
    CHECK(service("compute, computer") ==
          "3:54: error: services: s: capabilities: a GPU cannot be reserved with computer" + accepted);
    CHECK(service("gpu, compute") ==
          "3:45: error: services: s: capabilities: a GPU cannot be reserved with gpu" + accepted);
    // A word of the variable, and none of reservations.
    CHECK(service("compute, ngx") ==
          "3:54: error: services: s: capabilities: a GPU cannot be reserved with ngx" + accepted);
    // The engine writes them into the variable: without compute there is no libcuda in the container.
    CHECK(service("utility, video") ==
          "3:45: error: services: s: NVIDIA_DRIVER_CAPABILITIES=utility,video leaves out compute, which CUDA "
          "needs "
          "[driver-capabilities, at container_start]\n");
}

TEST_CASE("the words of NVIDIA_DRIVER_CAPABILITIES come from the same rows, in images and in services") {
    const std::string cell = "set: {cuda: \"11.8.0\", driver: \"550.54.15\", gpu: T4}\n";
    const auto image = [&](const std::string& value) {
        return said(cell + "images: [{name: a, env: {NVIDIA_DRIVER_CAPABILITIES: \"" + value + "\"}}]\n");
    };
    const auto service = [&](const std::string& value) {
        return said(cell + "services: [{name: s, environment: {NVIDIA_DRIVER_CAPABILITIES: \"" + value +
                    "\"}}]\n");
    };
    const std::string unknown =
        "NVIDIA_DRIVER_CAPABILITIES \"compute,root\": no capability of a driver is called root: expected all, "
        "compat32, "
        "compute, display, graphics, ngx, utility, video\n";
    CHECK(image("compute,root") == "3:26: error: images: a: " + unknown);
    CHECK(service("compute,root") == "3:36: error: services: s: " + unknown);
    for (const char* good : {"all", "compute", "compute,utility,ngx"}) {
        CAPTURE(good);
        CHECK(image(good).empty());
        CHECK(service(good).empty());
    }
}

TEST_CASE("capabilities are asked of the facts even where no cell is listed") {
    const auto matrix = read_matrix_text(
        "version: 1\nset: {gpu: T4}\nservices: [{name: s, gpu: 1, capabilities: [computer]}]\n",
        "matrix.yaml");
    REQUIRE(matrix.ok());
    Judgement nothing;
    judge_deployment(*matrix, Facts::embedded(), "2026-11-21", nothing);
    REQUIRE(nothing.deployment.size() == 1);
    CHECK(nothing.deployment.front().fix == "did you mean compute?");
    CHECK(nothing.deployment_has(Severity::error));
    CHECK_FALSE(nothing.deployment_has(Severity::unknown));
}

TEST_CASE("a service is judged in the images that it runs") {
    const std::string images =
        "images: [{name: old, when: {torch: \"<2.1\"}}, {name: new, when: {torch: \">=2.1\"}}]\n";
    const auto service = [&](const std::string& image) {
        return said(kTwo + images + "services: [{name: s, " + image + "environment: " + kConf + "}]\n");
    };
    CHECK(service("image: new, ").empty());
    CHECK(service("image: old, ") == "5:48: error: services: s: " + kStops);
    // The only image need not be named.
    const auto of_one = [&](const std::string& when) {
        return said(kTwo + "images: [{name: a, when: {torch: \"" + when +
                    "\"}}]\nservices: [{name: s, environment: " + kConf + "}]\n");
    };
    CHECK(of_one("<2.1") == "5:36: error: services: s: " + kStops);
    CHECK(of_one(">=2.1").empty());
    // What the image sets itself is said of the image alone.
    CHECK(said(kOld + "images: [{name: a, env: " + kConf + "}]\nservices: [{name: s, environment: " + kConf +
               "}]\n") == "3:26: error: images: a: " + kStops);
}

TEST_CASE("cells that are rejected by themselves are asked nothing, accepted ones are") {
    const std::string service = "services: [{name: s, environment: " + kConf + "}]\n";
    CHECK(said("set: {torch: 2.0.1+cu118}\n" + service) == "3:36: error: services: s: " + kStops);
    CHECK(said("set: {torch: 2.0.1+cu118, driver: \"390.77\"}\n" + service).empty());
    CHECK(said("set: {torch: 2.0.1+cu118, gpu: Nonesuch}\n" + service).empty());  // unknown
}

TEST_CASE("an image that contradicts the cell is not judged for it: rendering refuses it") {
    const auto with_env = [](const std::string& home) {
        return said("set: {torch: 2.0.1+cu118, env: {HF_HOME: /a}}\nimages: [{name: a, env: {HF_HOME: " +
                    home + ", PYTORCH_CUDA_ALLOC_CONF: \"expandable_segments:True\"}}]\n");
    };
    CHECK(with_env("/a") == "3:39: error: images: a: " + kStops);
    CHECK(with_env("/b").empty());
    const auto with_pip = [](const std::string& timm) {
        return said("set: {torch: 2.1.0+cu121, packages: {timm: 1.0.9}}\nimages: [{name: a, pip: [timm==" +
                    timm + ", xformers==0.0.28]}]\n");
    };
    CHECK(with_pip("1.0.9") ==
          "3:39: error: images: a: xformers 0.0.28 needs torch ==2.4.1; the cell has torch 2.1.0+cu121 "
          "[packages-agree, at install]\n");
    CHECK(with_pip("1.0.8").empty());
}

TEST_CASE("waivers of other rules, of other cells and of other days accept nothing") {
    const std::string service = "services: [{name: s, environment: " + kConf + "}]\n";
    const auto with = [&](const std::string& waiver) {
        return said(kTwo + "waive: [{" + waiver + ", because: tried}]\n" + service);
    };
    const std::string stops = "5:36: error: services: s: " + kStops;
    CHECK(with("rule: end-of-life, until: 2027-01-01") == stops);
    CHECK(with("rule: allocator-setting-known-to-torch, until: 2026-11-20") == stops);
    CHECK(with("rule: allocator-setting-known-to-torch, when: {torch: \">=2.1\"}, until: 2027-01-01") ==
          stops);
    CHECK(with("rule: allocator-setting-known-to-torch, until: 2026-11-21").empty());
    CHECK(with("rule: allocator-setting-known-to-torch, when: {torch: \"<2.1\"}, until: 2027-01-01").empty());
}

TEST_CASE("one message for all the cells of an entry, with their number") {
    // The rule sees the distribution and not the python.
    const auto added = added_by(
        "axes: {os: [ubuntu20.04, ubuntu22.04], python: [\"3.10\", \"3.11\"]}\nset: {torch: 2.0.1+cu118}\n"
        "services: [{name: s, environment: {PYTORCH_CUDA_ALLOC_CONF: "
        "\"expandable_segments:True,zzzzzzzz:1\"}}]\n");
    REQUIRE(added.size() == 2);
    CHECK(added[0].message + "\n" == "services: s: " + kStops);
    CHECK(added[1].message ==
          "services: s: no fact knows the option zzzzzzzz in PYTORCH_CUDA_ALLOC_CONF: whether torch 2.0.1 "
          "does is unknown [allocator-setting-known-to-torch, at runtime]");
    CHECK(added[1].severity == Severity::unknown);
    for (const auto& each : added) {
        REQUIRE_FALSE(each.notes.empty());
        CHECK(each.notes.front() == "4 cells, first torch2.0.1_cu118-py3.10-ubuntu20.04");
    }
}

TEST_CASE("a finding that names none of the packages stands at the first") {
    CHECK(
        said("set: {image: \"nvidia/cuda:12.6.3-devel-ubuntu24.04\"}\nimages: [{name: a, pip: [timm==1.0.9, "
             "numpy==1.26.4]}]\n") ==
        "3:26: warning: images: a: image nvidia/cuda:12.6.3-devel-ubuntu24.04: its python is managed by the "
        "distribution (PEP 668), so that a plain pip install of the cell's packages ends with \"error: "
        "externally-managed-environment\"; a virtual environment takes them [pip-installs-into-image, at "
        "install]\n");
}

TEST_CASE("a cell is unknown where a fact about what is added is missing") {
    const auto held_by = [](const std::string& yaml) {
        const auto matrix = read_matrix_text("version: 1\n" + yaml, "matrix.yaml");
        REQUIRE(matrix.ok());
        JudgeOptions options;
        options.today = "2026-11-21";
        auto judgement = judge(*matrix, Facts::embedded(), options);
        REQUIRE(judgement.ok());
        judge_deployment(*matrix, Facts::embedded(), options.today, *judgement);
        return std::move(*judgement);
    };
    const std::string service =
        "services: [{name: s, environment: {PYTORCH_CUDA_ALLOC_CONF: \"zzzzzzzz:1\"}}]\n";
    const auto held = held_by("set: {torch: 2.6.0+cu124}\n" + service);
    CHECK(held.count(Verdict::unknown) == 1);
    CHECK(held.count(Verdict::accepted) == 0);
    REQUIRE(held.cells.size() == 1);
    CHECK(held.cells[0].verdict == Verdict::unknown);
    CHECK(held.cells[0].stages[static_cast<std::size_t>(Stage::runtime)] == Verdict::unknown);
    CHECK(held.cells[0].held ==
          "services: s: no fact knows the option zzzzzzzz in PYTORCH_CUDA_ALLOC_CONF: whether torch 2.6.0 "
          "does is unknown");
    // Where nobody asks for the stage, the cell stands; a rejected cell is not asked about.
    CHECK(held_by("stages: [install]\nset: {torch: 2.6.0+cu124}\n" + service).count(Verdict::unknown) == 0);
    CHECK(held_by("set: {torch: 2.6.0+cu124, gpu: RTX 5090}\n" + service).count(Verdict::unknown) == 0);
    CHECK(held_by("set: {torch: 2.6.0+cu124}\nimages: [{name: a, env: {A: b}}]\n").count(Verdict::unknown) ==
          0);
}
