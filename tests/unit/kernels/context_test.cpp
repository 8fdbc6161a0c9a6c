#include "kernels/support/context.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "fatbin/arch.hpp"
#include "kernels/registry.hpp"
#include "kernels/support/philox.hpp"

using namespace cudamatrix::suite;

namespace {

std::string error_of(const std::vector<std::string>& args) {
    std::string error;
    CHECK_FALSE(parse_context(args, error));
    return error;
}

}  // namespace

TEST_CASE("options go to a child process unchanged") {
    const std::vector<std::string> args = {"--cell",
                                           "c 1",
                                           "--run",
                                           "r",
                                           "--compute",
                                           "8.6",
                                           "--ptx-isa",
                                           "8.4",
                                           "--expect-cuda",
                                           "11.8.0",
                                           "--expect-torch",
                                           "2.6.0+cu124",
                                           "--expect-torch-cuda",
                                           "12.4",
                                           "--lib",
                                           "libcudart.so.12,libcublas.so.12",
                                           "--fatbin",
                                           "/a/b.so",
                                           "--python",
                                           "/opt/venv/bin/python",
                                           "--gpus",
                                           "2",
                                           "--min-memory-mib",
                                           "16384",
                                           "--level",
                                           "soak",
                                           "--soak-seconds",
                                           "7200",
                                           "--mode",
                                           "gpu",
                                           "--require-gpu",
                                           "--only",
                                           "cmp.vadd",
                                           "--limit-seconds",
                                           "2.5",
                                           "--root",
                                           "/r",
                                           "--prefix",
                                           "/p",
                                           "--part",
                                           "cpu",
                                           "--record-fd",
                                           "3"};
    std::string error;
    const auto first = parse_context(args, error);
    REQUIRE_MESSAGE(first, error);
    const auto second = parse_context(to_args(*first), error);
    REQUIRE_MESSAGE(second, error);
    CHECK(to_args(*first) == to_args(*second));
    CHECK(second->libs == std::vector<std::string>{"libcudart.so.12", "libcublas.so.12"});
    CHECK(second->limit_seconds == 2.5);
    CHECK(second->gpu_is_promised());
    CHECK(second->record_fd == 3);
    CHECK(to_args(Context()).empty());
}

TEST_CASE("options that cannot be meant are refused") {
    CHECK(error_of({"--bogus"}) == "unknown option --bogus");
    CHECK(error_of({"--compute"}) == "--compute takes a value: X.Y");
    CHECK(error_of({"--compute", "75"}) == "--compute '75': expected X.Y");
    CHECK(error_of({"--compute", "9.0a"}) == "--compute '9.0a': expected X.Y");
    CHECK(error_of({"--ptx-isa", "8"}) == "--ptx-isa '8': expected X.Y");
    CHECK(error_of({"--mode", "maybe"}) == "--mode 'maybe': expected auto|gpu|nogpu");
    CHECK(error_of({"--level", "slow"}) == "--level 'slow': expected quick|standard|full|soak");
    CHECK(error_of({"--expect-cuda", "eleven"}) == "--expect-cuda 'eleven': expected X.Y");
    CHECK(error_of({"--soak-seconds", "1h"}) == "--soak-seconds '1h': expected N");
    CHECK(error_of({"--gpus", "-1"}) == "--gpus '-1': expected N");
    CHECK(error_of({"--limit-seconds", "0"}) == "--limit-seconds '0': expected S");
    CHECK(error_of({"--only", "a,,b"}) == "--only 'a,,b': expected ID,..");
    CHECK(error_of({"stray"}) == "unknown option stray");
}

TEST_CASE("versions compare by number") {
    CHECK(compare_versions("11.8", "11.8") == 0);
    CHECK(compare_versions("11.8.89", "11.8") == 1);
    CHECK(compare_versions("9.9", "9.10") == -1);
    CHECK(compare_versions("12.0", "11.8") == 1);
    CHECK(compare_versions("8.6", "10.0") == -1);
    CHECK(major_minor("13.4.3") == "13.4");
    CHECK(major_minor("2.6.0+cu124") == "2.6");
    for (const char* text : {"", "12", "12.", ".4", "v12.4", "x"})
        CHECK(major_minor(text) == "");
}

TEST_CASE("the registry is sound") {
    std::set<std::string_view> ids;
    for (const Test& test : all_tests()) {
        CHECK_MESSAGE(ids.insert(test.id).second, test.id);
        CHECK(test.seconds > 0);
        CHECK_FALSE(test.faults.empty());
        CHECK(test.id.find('.') != std::string_view::npos);
        if (!test.min_cc.empty()) CHECK(cudamatrix::fatbin::parse_arch(test.min_cc));
        CHECK(find_test(test.id) == &test);
        const std::string source(test.source);
        std::vector<std::string> files;
        if (test.runs_by == RunsBy::cuda) files = {source + ".cu", source + ".cpp"};
        if (test.runs_by == RunsBy::host) files = {"host/" + source + ".cpp"};
        if (test.runs_by == RunsBy::python) files = {"python/" + source};
        for (const std::string& file : files) {
            CHECK_MESSAGE(std::filesystem::is_regular_file(std::string(SUITE_KERNELS_DIR) + "/" + file),
                          file);
        }
        using Parts = std::vector<std::string_view>;
        const bool on_two = test.runs_by == RunsBy::python && test.needs_gpu;
        if (test.runs_by == RunsBy::cuda) {
            CHECK(test.parts() ==
                  (test.on_cpu ? Parts{"gpu", "cpu", "interpreted"} : Parts{"gpu", "interpreted"}));
        } else {
            const bool needs_more = test.needs_gpu && test.part != "gpu";
            Parts parts{test.part};
            if (needs_more) parts.emplace_back("gpu");
            if (on_two) parts.emplace_back("cpu");
            CHECK(test.parts() == parts);
        }
    }
    CHECK(find_test("cmp.vadd")->program() == "cmp_vadd");
    CHECK(find_test("no.such") == nullptr);
}

TEST_CASE("Philox4x32-10 by its authors' known answers") {
    using Four = std::array<std::uint32_t, 4>;
    CHECK(Philox(0).block({0, 0, 0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(Philox(0xffffffffffffffff).block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}) ==
          Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(Philox(0x299f31d0a4093822).block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
          Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    double sum = 0;
    const Philox philox(seed_of("cmp.vadd"));
    for (std::uint64_t i = 0; i < 100000; ++i) {
        const float x = philox.uniform(i, 0);
        CHECK((x > -1.0F && x < 1.0F && x != 0.0F));
        sum += static_cast<double>(x);
    }
    CHECK(std::abs(sum / 100000) < 0.01);
    CHECK(philox.bits(5, 0) != philox.bits(5, 1));
    CHECK(seed_of("cmp.vadd") != seed_of("cmp.sgemm"));
}
