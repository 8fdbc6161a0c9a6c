#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/json.hpp"
#include "kernels/faults.hpp"
#include "kernels/registry.hpp"
#include "report/knowledge_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;

namespace {

KernelsReport kernels_report(std::size_t width = 80) {
    return {fixtures::kTool, {false, width}};
}

std::string refused_ids(const std::vector<std::string>& ids) {
    const auto result = kernel_text(kernels_report(), ids);
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == ExitCode::bad_input);
    std::string out;
    for (const auto& diagnostic : result.failure().diagnostics)
        out += render(diagnostic, "");
    CHECK_FALSE(kernel_json(kernels_report(), ids).ok());
    return out;
}

}  // namespace

TEST_CASE("kernels text: every test, what it proves, and what no test names") {
    const auto text = kernels_text(kernels_report());
    for (const auto& test : suite::all_tests())
        CHECK_MESSAGE(contains(text, fmt::format("{} [{}: ", test.id, test.group)), test.id);
    CHECK(contains(text,
                   "cmp.vadd [compute: gpu, cpu, interpreted; quick; compute >= 6.0; CUDA >= 11.2]\n"
                   "  A kernel starts, and its float32 sums are right to the bit.\n"));
    CHECK(contains(text, "env.shm [env: load; quick]\n"));
    CHECK(contains(text,
                   fmt::format("{} tests, 25 faults; `cudamatrix kernels show ID` shows what one compares\n",
                               suite::all_tests().size())));
    CHECK(fixtures::widest_line(text) <= 80);
}

TEST_CASE("kernels text: a fault shows every test that names it") {
    for (const auto& fault : suite::kFaults) {
        const auto shown = kernel_text(kernels_report(200), {std::string(fault.code)}).value();
        for (const auto& test : suite::all_tests()) {
            const auto codes = test.fault_codes();
            const bool names = std::ranges::find(codes, fault.code) != codes.end();
            const auto tests = shown.substr(shown.find("named by:\n"));
            CHECK_MESSAGE((contains(tests, fmt::format(" {},", test.id)) ||
                           contains(tests, fmt::format(" {}\n", test.id))) == names,
                          shown);
        }
    }
}

TEST_CASE("kernels text: a test with reference, faults and needs") {
    CHECK(kernel_text(kernels_report(), {"cmp.sgemm"}).value() ==
          "cmp.sgemm [compute]\n"
          "  A tiled float32 matrix product is right, also where tiles stick out over the\n"
          "  edge.\n"
          "compares with:\n"
          "  391 x 1021 times 1021 x 389, and 260 x 68 times 68 x 132, where vectors of\n"
          "  four are read, against the float64 product of the same inputs: e_F <= 2e-6 *\n"
          "  sqrt(K / 1024), and each element within 8 * eps * sum |a||b| (eps = 2^-23).\n"
          "faults that it names:\n"
          "  F6  There is neither machine code nor PTX that runs on this GPU.\n"
          "  F7  The PTX is newer than what the driver compiles.\n"
          "  F8  PTX cannot be compiled: JIT is switched off, or the driver's JIT compiler\n"
          "      is not mounted.\n"
          "  F15 The GPU has uncorrectable memory errors, remapped rows, Xid errors or a\n"
          "      lowered clock.\n"
          "  F16 The GPU is not the promised one, or is taken or divided: exclusive mode,\n"
          "      MIG, MPS.\n"
          "needs:\n"
          "  nvcc when the image is built, a GPU for part gpu (the others run without one),\n"
          "  compute capability >= 6.0, CUDA >= 11.2\n"
          "parts: gpu, cpu, interpreted\n"
          "level: quick, about 4 s for each part\n");
}

TEST_CASE("kernels text: what a test needs is by how it is run") {
    const auto needs = [](const char* id) {
        const auto json = parse_json(kernel_json(kernels_report(), {id}).value(), "report");
        return json->at("tests").at(0).at("needs");
    };
    CHECK(needs("env.vars") == Json::array());
    CHECK(needs("dev.driver") == Json({"a GPU"}));
    CHECK(needs("dev.query") == Json({"a GPU", "compute capability >= 6.0", "CUDA >= 11.2"}));
    CHECK(needs("torch.arch") == Json({"torch in the cell"}));
    CHECK(needs("torch.step") ==
          Json({"torch in the cell", "a GPU for part gpu (the others run without one)"}));
    CHECK(contains(kernel_text(kernels_report(), {"env.vars"}).value(), "needs:\n  nothing but the image\n"));
}

TEST_CASE("kernels text: several ids, and a fault") {
    const auto text = kernel_text(kernels_report(), {"F12", "env.vars"}).value();
    CHECK(contains(text,
                   "F12 [fault]\n"
                   "  /dev/shm is missing or too small.\n"
                   "named by:\n"
                   "  env.shm, lib.nccl, torch.workers\n"
                   "\n"
                   "env.vars [env]\n"));
}

TEST_CASE("kernels: ids that nothing has") {
    CHECK(refused_ids({"cmp.sgem"}) ==
          "cudamatrix: error: no test or fault is called \"cmp.sgem\"\n  fix: did you mean cmp.sgemm?\n");
    CHECK(refused_ids({"cmp.convolution"}) ==
          "cudamatrix: error: no test or fault is called \"cmp.convolution\"\n"
          "  fix: did you mean one of cmp.vadd, cmp.reduce, cmp.sgemm, cmp.fma, cmp.math?\n");
    CHECK(refused_ids({"weather"}) ==
          "cudamatrix: error: no test or fault is called \"weather\"\n"
          "  fix: `cudamatrix kernels list` lists them\n");
    // A known one beside it does not help; each unknown one is told.
    const auto both = refused_ids({"cmp.vadd", "f6", "F260000"});
    CHECK(contains(both, "\"f6\"\n  fix: did you mean F6?\n"));
    CHECK(contains(both, "\"F260000\"\n"));
    CHECK_FALSE(contains(both, "\"cmp.vadd\""));
    for (const auto& hostile : fixtures::hostile_texts())
        CHECK(fixtures::terminal_safe(refused_ids({hostile})));
    CHECK(refused_ids({std::string(5000, 'x')}).size() < 300);
}

TEST_CASE("kernels json: one document each") {
    const auto list = parse_json(kernels_json(kernels_report()), "report");
    REQUIRE(list.ok());
    CHECK(list->at("count") == suite::all_tests().size());
    CHECK(list->at("tests").size() == suite::all_tests().size());
    for (const auto& test : list->at("tests")) {
        CHECK_FALSE(test.at("proves").get<std::string>().empty());
        CHECK_FALSE(test.at("parts").empty());
        CHECK_FALSE(test.contains("reference"));
    }
    const auto shown =
        parse_json(kernel_json(kernels_report(), {"torch.step", "F20", "F9"}).value(), "report");
    REQUIRE(shown.ok());
    const auto& test = shown->at("tests").at(0);
    CHECK(test.at("parts") == Json({"gpu", "cpu"}));
    CHECK(test.at("level") == "quick");
    CHECK(test.at("faults").at(0).at("code") == "F1");
    CHECK_FALSE(test.at("reference").get<std::string>().empty());
    CHECK(shown->at("faults").at(0).at("tests") == Json({"stress.leak"}));
    CHECK(shown->at("faults").at(1).at("tests") == Json({"jit.nvrtc"}));
}

TEST_CASE("kernels text: every line fits, however narrow") {
    for (const std::size_t width : {60u, 80u, 200u}) {
        std::vector<std::string> all;
        for (const auto& test : suite::all_tests())
            all.emplace_back(test.id);
        CHECK(fixtures::widest_line(kernel_text(kernels_report(width), all).value()) <= width);
    }
}
