// The host tests, each in a good and in several bad surroundings.
#include <doctest/doctest.h>

#include "fatbin/reader.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/host/static_file.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
#include "kernels/support/sha256.hpp"
#include "unit/fatbin/fixture.hpp"
#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;

namespace {

std::string evidence_of(const Record& record, const std::string& name) {
    for (const auto& [key, text] : record.evidence) {
        if (key == name) return text;
    }
    return "";
}

std::string text_of(const fixture::Blob& blob) {
    return {blob.bytes().begin(), blob.bytes().end()};
}

/// A suite as suite_build leaves it, for sm_75, sm_90 and PTX 9.0, with one program.
class Prefix {
  public:
    explicit Prefix(const fixture::Blob& program, const std::string& status = "pass") {
        folder_.write("bin/cmp_vadd", text_of(program));
        write_static(status, sha256(text_of(program)));
        context.prefix = folder_.path();
    }
    void write_static(const std::string& status, const std::string& hash) {
        folder_.write(
            "static.jsonl",
            R"({"v":1,"id":"static.compile","part":"static","status":")" + status +
                R"(","reason":"no_nvcc","summary":"as built","checks":[{"name":"kernels/compute/vadd.cu","ok":)" +
                (status == "fail" ? "false" : "true") +
                R"(}],"evidence":{"nvcc":"12.4.131","compute":["7.5","9.0"],"ptx":"9.0","files":[{"file":"bin/cmp_vadd","sha256":")" +
                hash + "\"}]}}\n");
    }
    [[nodiscard]] const scratch::Folder& folder() const { return folder_; }
    Context context;

  private:
    scratch::Folder folder_;
};

fixture::Blob good_program() {
    return fixture::program({fixture::sass(75, {"cudamatrix_vadd"}), fixture::sass(90, {"cudamatrix_vadd"}),
                             fixture::ptx(90, 8, 4)});
}

Record fatbin_of(const fixture::Blob& program, const std::string& compute, const std::string& isa) {
    Prefix prefix(program);
    prefix.context.compute = compute;
    prefix.context.ptx_isa = isa;
    return static_fatbin(prefix.context);
}

}  // namespace

TEST_CASE("env.vars: hard faults fail, warnings are told, an empty environment is clean") {
    CHECK(env_vars({}).status == Status::pass);
    for (const auto& pair : std::initializer_list<std::pair<const char*, const char*>>{
             {"CUDA_VISIBLE_DEVICES", ""},
             {"CUDA_VISIBLE_DEVICES", "-1"},
             {"CUDA_FORCE_PTX_JIT", "1"},
             {"CUDA_DISABLE_PTX_JIT", "1"},
             {"CUDA_LAUNCH_BLOCKING", "1"},
             {"NVIDIA_TF32_OVERRIDE", "0"},
             {"CUDA_INJECTION64_PATH", "/opt/nsight.so"},
             {"LD_LIBRARY_PATH", "/usr/local/cuda/lib64/stubs"}}) {
        const scratch::Environment environment{{pair.first, pair.second}};
        CHECK_MESSAGE(env_vars({}).status == Status::fail, pair.first, "=", pair.second);
        CHECK(env_vars({}).summary.find(pair.first) != std::string::npos);
    }
    for (const auto& pair : std::initializer_list<std::pair<const char*, const char*>>{
             {"CUDA_VISIBLE_DEVICES", "0"},
             {"CUDA_VISIBLE_DEVICES", "GPU-1"},
             {"CUDA_FORCE_PTX_JIT", "0"},
             {"CUDA_LAUNCH_BLOCKING", "0"},
             {"CUDA_LAUNCH_BLOCKING", ""},
             {"LD_LIBRARY_PATH", "/usr/local/cuda/lib64"},
             {"CUDA_MODULE_LOADING", "EAGER"},
             {"CUDA_CACHE_DISABLE", "1"},
             {"NVIDIA_VISIBLE_DEVICES", "all"}}) {
        const scratch::Environment environment{{pair.first, pair.second}};
        CHECK_MESSAGE(env_vars({}).status == Status::pass, pair.first, "=", pair.second);
    }
    const scratch::Environment environment{{"CUDA_MODULE_LOADING", "EAGER"}};
    CHECK(evidence_of(env_vars({}), "warnings") ==
          "[\"CUDA_MODULE_LOADING='EAGER' loads every kernel at start\"]");
}

TEST_CASE("env.shm: allocates below the root it is given, and says what is missing") {
    const scratch::Folder root;
    Context context;
    context.root = root.path();
    const Record absent = env_shm(context);
    CHECK(absent.status == Status::fail);
    CHECK(absent.reason == "shm_absent");
    CHECK(absent.fault == "F12");
    root.write("dev/shm/other", "");
    CHECK(env_shm(context).summary == "16 MiB of shared memory can be had");
    context.expect_torch = "2.6.0";
    CHECK(env_shm(context).summary == "64 MiB of shared memory can be had");
    context.min_shm_mib = 1;
    CHECK(env_shm(context).status == Status::pass);
    context.min_shm_mib = 2'000'000'000;
    const Record small = env_shm(context);
    CHECK(small.status == Status::fail);
    CHECK(small.reason == "shm_small");
    CHECK(small.fault == "F12");
    std::size_t left = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root.path() + "/dev/shm"))
        left += entry.exists() ? 1 : 0;
    CHECK(left == 1);
}

TEST_CASE("static.compile: the stored record counts while the files are the same") {
    Prefix prefix(good_program());
    CHECK(static_compile(prefix.context).status == Status::pass);
    prefix.context.expect_cuda = "12.4.1";
    CHECK(static_compile(prefix.context).status == Status::pass);
    CHECK(evidence_of(static_compile(prefix.context), "nvcc") == "\"12.4.131\"");

    prefix.context.expect_cuda = "11.8";
    const Record other = static_compile(prefix.context);
    CHECK(other.status == Status::fail);
    CHECK(other.reason == "wrong_toolkit");
    CHECK(other.summary == "toolkit: the cell promises CUDA 11.8, nvcc is 12.4.131");
    prefix.context.expect_cuda = "";

    fixture::Blob changed = good_program();
    changed.put<std::uint8_t>(changed.size() - 1, 1);
    prefix.folder().write("bin/cmp_vadd", text_of(changed));
    const Record stale = static_compile(prefix.context);
    CHECK(stale.status == Status::fail);
    CHECK(stale.reason == "stale");
    CHECK(stale.summary == "changed since they were built: bin/cmp_vadd");
    std::filesystem::remove(prefix.folder().path() + "/bin/cmp_vadd");
    CHECK(static_compile(prefix.context).reason == "stale");
}

TEST_CASE("static.compile: failures, no nvcc, and a record that is absent, damaged or forged") {
    Prefix failed(good_program(), "fail");
    CHECK(static_compile(failed.context).status == Status::fail);
    Prefix without(good_program(), "skip");
    CHECK(static_compile(without.context).status == Status::skip);
    CHECK(static_compile(without.context).reason == "no_nvcc");
    without.context.expect_cuda = "12.4";
    CHECK(static_compile(without.context).status == Status::fail);
    CHECK(static_compile(without.context).reason == "lib_absent");

    Prefix prefix(good_program());
    for (const char* text :
         {"", "{", "[]", "{\"id\":\"static.compile\"}", "{\"id\":\"other\",\"evidence\":{}}"}) {
        prefix.folder().write("static.jsonl", text);
        CHECK_MESSAGE(static_compile(prefix.context).status == Status::error, text);
    }
    // "pass" without a single check, or without files, is not believed.
    prefix.folder().write(
        "static.jsonl",
        R"({"id":"static.compile","status":"pass","summary":"trust me","evidence":{"files":[]}})");
    CHECK(static_compile(prefix.context).status == Status::fail);
    prefix.folder().write(
        "static.jsonl",
        R"({"id":"static.compile","status":"pass","summary":"s","checks":[{"name":"a","ok":true}],"evidence":{}})");
    CHECK(static_compile(prefix.context).reason == "stale");
    std::filesystem::remove(prefix.folder().path() + "/static.jsonl");
    CHECK(static_compile(prefix.context).status == Status::error);
}

TEST_CASE("static.fatbin: what was asked for is there, and the code path is named") {
    const Record exact = fatbin_of(good_program(), "7.5", "8.4");
    CHECK(exact.status == Status::pass);
    CHECK(exact.summary == "sass 7.5");
    CHECK(evidence_of(exact, "fatbin") == "[\"sass 7.5\",\"sass 9.0\",\"ptx 9.0@8.4\"]");
    CHECK(evidence_of(exact, "code_path") == "\"sass 7.5\"");
    CHECK(fatbin_of(good_program(), "12.0", "8.7").summary == "ptx 9.0 via JIT");
    CHECK(fatbin_of(good_program(), "12.0", "").summary ==
          "ptx 9.0 via JIT, if the driver knows PTX ISA 8.4");
    CHECK(fatbin_of(good_program(), "", "").status == Status::pass);
}

TEST_CASE("static.fatbin: no code path is a failure with its fault") {
    const Record old = fatbin_of(good_program(), "7.0", "8.4");
    CHECK(old.status == Status::fail);
    CHECK(old.fault == "F6");
    CHECK(old.reason == "no_road");
    const Record ptx = fatbin_of(good_program(), "12.0", "8.3");
    CHECK(ptx.fault == "F7");
    CHECK(ptx.summary == "cmp_vadd code path: none: ptx 9.0 is PTX ISA 8.4, the driver knows up to 8.3");
    CHECK(fatbin_of(good_program(), "8.6", "8.4").fault == "F6");
}

TEST_CASE("static.fatbin: code that differs from what was asked for") {
    const auto wrong = [](const fixture::Blob& program) { return fatbin_of(program, "7.5", "8.4"); };
    using fixture::ptx;
    using fixture::sass;
    const std::vector<std::string> k = {"cudamatrix_vadd"};
    CHECK(wrong(fixture::program({sass(75, k), sass(80, k), ptx(90, 8, 4)})).reason == "fatbin");
    CHECK(wrong(fixture::program({sass(75, k), sass(90, k, 0x100011), ptx(90, 8, 4)})).status ==
          Status::fail);
    CHECK(wrong(fixture::program({sass(75, k), sass(90, k)})).status == Status::fail);
    CHECK(wrong(fixture::program({sass(75, k), sass(80, k), sass(90, k), ptx(90, 8, 4)})).status ==
          Status::fail);
    CHECK(wrong(fixture::program({sass(75, {"library"}), sass(90, {"library"}), ptx(90, 8, 4)})).status ==
          Status::fail);
    CHECK(wrong(fixture::elf({{".text", 1, {}, 0}})).status == Status::fail);
    CHECK(wrong(fixture::Blob().text("not an ELF file")).status == Status::fail);
    fixture::Blob cut = good_program();
    CHECK(wrong(cut.put<std::uint64_t>(40, 1ULL << 40)).status == Status::fail);
}

TEST_CASE("static.fatbin: named files are listed, with their own code path") {
    Prefix prefix(good_program());
    prefix.context.compute = "9.0";
    prefix.context.ptx_isa = "8.4";
    const std::string path = prefix.folder().write(
        "libtorch_cuda.so",
        text_of(fixture::program({fixture::sass(80, {"gemm"}), fixture::sass(90, {"fp8"}, 0x100011)})));
    prefix.context.fatbins = {path};
    // sm_90a kernels of a library do not make its ordinary ones run.
    const Record record = static_fatbin(prefix.context);
    CHECK(record.status == Status::fail);
    CHECK(record.fault == "F6");
    CHECK(evidence_of(record, "files").find("\"fatbin\":[\"sass 8.0\",\"sass 9.0a\"]") != std::string::npos);
    prefix.context.compute = "8.6";
    prefix.write_static("skip", sha256(text_of(good_program())));
    CHECK(static_fatbin(prefix.context).status == Status::pass);
    CHECK(static_fatbin(prefix.context).summary == "sass 8.0 (same major) for 8.6");
    CHECK(evidence_of(static_fatbin(prefix.context), "fatbin") == "[\"sass 8.0\",\"sass 9.0a\"]");
    CHECK(evidence_of(static_fatbin(prefix.context), "code_path") == "\"sass 8.0 (same major) for 8.6\"");
    // Relocatable parts of a library are linked, all or none.
    fixture::Blob parts = fixture::container({fixture::ptx(80, 8, 4)});
    parts.pad(8).append(fixture::container({fixture::sass(80, {"gemm"})}));
    prefix.context.fatbins = {
        prefix.folder().write("librdc.so", text_of(fixture::elf({{"__nv_relfatbin", 1, parts}})))};
    CHECK(static_fatbin(prefix.context).status == Status::pass);
    prefix.context.compute = "9.0";
    CHECK(
        static_fatbin(prefix.context).summary ==
        "librdc.so code path: none: 1 of 2 relocatable parts cannot be linked: nothing here runs on 9.0 (sass 8.0)");
    prefix.context.fatbins = {"/no/such/file"};
    CHECK(static_fatbin(prefix.context).status == Status::fail);
    prefix.context.fatbins = {};
    CHECK(static_fatbin(prefix.context).reason == "no_nvcc");
    prefix.write_static("fail", sha256(text_of(good_program())));
    std::filesystem::remove(prefix.folder().path() + "/bin/cmp_vadd");
    CHECK(static_fatbin(prefix.context).reason == "prereq_failed");
}

TEST_CASE("load.paths: promised libraries load, from no stub, of one CUDA major") {
    // In a process of its own, as it always runs: what is loaded stays loaded.
    const auto line_of = [](const std::string& libs) {
        ProcessSpec spec;
        spec.argv = {SUITE_PROGRAM, "test", "load.paths"};
        if (!libs.empty()) spec.argv.insert(spec.argv.end(), {"--lib", libs});
        std::string error;
        const auto line = json::parse(run_process(spec).out, error);
        REQUIRE_MESSAGE(line, error);
        return *line;
    };
    CHECK(line_of("").text_of("reason") == "not_in_cell");
    CHECK(line_of("libc.so.6").text_of("status") == "pass");
    const json::Value absent = line_of("libc.so.6,libcudart.so.99");
    CHECK(absent.text_of("status") == "fail");
    CHECK(absent.text_of("reason") == "lib_absent");
    CHECK(absent.text_of("fault") == "F11");
    const json::Value stub = line_of(std::string(SUITE_FAKE_DRIVER) + "/stubs/libcuda.so.1");
    CHECK(stub.text_of("status") == "fail");
    CHECK(stub.text_of("fault") == "F2");
}
