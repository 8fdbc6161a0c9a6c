// What images and services add to cells is judged like what cells say, and said at its own place.
#include "rules/additions.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"

using namespace cudamatrix;

namespace {

// "line:column: severity: message", one line each.
std::string said(const std::string& yaml) {
    auto matrix = read_matrix_text("version: 1\n" + yaml, "matrix.yaml");
    REQUIRE_MESSAGE(matrix.ok(), (matrix.ok() ? "" : matrix.failure().diagnostics.front().message));
    JudgeOptions options;
    options.today = "2026-11-21";
    const auto judgement = judge(*matrix, Facts::embedded(), options);
    REQUIRE(judgement.ok());
    const auto added = rules::judge_additions(*matrix, Facts::embedded(), *judgement, options.today);
    REQUIRE(added.ok());
    std::string out;
    for (const auto& each : *added) {
        REQUIRE_FALSE(each.message.empty());
        out += fmt::format("{}:{}: {}: {}\n", each.where.line, each.where.column, to_string(each.severity),
                           each.message);
    }
    return out;
}

const std::string kOld = "set: {driver: \"550.54.15\", gpu: T4, torch: 2.0.1+cu118, python: \"3.11\"}\n";
const std::string kNew = "set: {driver: \"550.54.15\", gpu: T4, torch: 2.6.0+cu124, python: \"3.11\"}\n";
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
    CHECK(said(kOld + "services: [{name: s, environment: {HF_HOME: /cache}}]\n").empty());
}

TEST_CASE("only cells that the entry is for count, and a waiver accepts the finding") {
    const std::string two =
        "axes: {torch: [2.0.1+cu118, 2.6.0+cu124]}\nset: {driver: \"550.54.15\", gpu: T4, python: "
        "\"3.11\"}\n";
    CHECK(said(two + "images: [{name: a, when: {torch: \">=2.1\"}, env: " + kConf + "}]\n").empty());
    CHECK_FALSE(said(two + "images: [{name: a, when: {torch: \"<2.1\"}, env: " + kConf + "}]\n").empty());
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
    const std::string accepted = ": compat32, compute, display, graphics, utility, video would be accepted\n";
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
        "NVIDIA_DRIVER_CAPABILITIES \"compute,root\": no capability of a driver is called root: all, "
        "compat32, "
        "compute, display, graphics, ngx, utility, video would be accepted\n";
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
    const auto added = rules::judge_additions(*matrix, Facts::embedded(), Judgement{}, "2026-11-21");
    REQUIRE(added.ok());
    REQUIRE(added->size() == 1);
    CHECK(added->front().fix == "did you mean compute?");
    CHECK(rules::has_errors(*added));
    CHECK_FALSE(rules::has_unknowns(*added));
}
