// The probe of dev.driver against a libcuda that answers as told (tests/fakes/fake_libcuda.c).
#include <doctest/doctest.h>

#include "kernels/host/driver_probe.hpp"
#include "kernels/host/driver_verdict.hpp"
#include "kernels/host/host_tests.hpp"
#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;

namespace {

const std::string kFake = std::string(SUITE_FAKE_DRIVER) + "/libcuda.so.1";
const std::string kProc =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";

Record judged(const Context& context, const std::string& library = kFake,
              const std::string& root = "/no/such/root") {
    DriverOptions options;
    options.root = root;
    options.library = library;
    return judge_driver(probe_driver(options), context);
}

Record with_init(const char* code, const Context& context = {}) {
    const scratch::Environment environment{{"FAKE_INIT", code}};
    return judged(context);
}

struct Expected {
    const char* init;
    Status status;
    const char* reason;
    const char* fault;
    const char* hint_part;
};

}  // namespace

TEST_CASE("each answer of cuInit has its verdict, fault and hint") {
    for (const Expected& e : {
             Expected{"34", Status::fail, "stub_driver", "F2", "stubs"},
             Expected{"35", Status::fail, "driver_too_old", "F3", "update the driver"},
             Expected{"46", Status::fail, "device_unavailable", "F16", "compute mode"},
             Expected{"100", Status::skip, "no_device", "", "CUDA_VISIBLE_DEVICES"},
             Expected{"304", Status::fail, "device_nodes", "F25", "nvidia-uvm"},
             Expected{"802", Status::fail, "system_not_ready", "F24", "fabricmanager"},
             Expected{"803", Status::fail, "driver_mismatch", "F4", "reboot"},
             Expected{"804", Status::fail, "compat_unsupported", "F5", "cuda-compat"},
             Expected{"805", Status::fail, "mps", "F16", "mps"},
             Expected{"999", Status::fail, "device_nodes", "F25", "nvidia-uvm"},
             Expected{"1", Status::fail, "cu_init", "", ""},
         }) {
        const Record record = with_init(e.init);
        CHECK_MESSAGE(record.status == e.status, e.init);
        CHECK_MESSAGE(record.reason == e.reason, e.init);
        CHECK_MESSAGE(record.fault == e.fault, e.init);
        CHECK_MESSAGE(record.hint.find(e.hint_part) != std::string::npos, e.init);
        CHECK_MESSAGE(record.error.code == std::atoi(e.init), e.init);
        CHECK(record.error.api == "cuInit");
    }
}

TEST_CASE("a working driver passes and brings no hint") {
    Context context;
    context.expect_cuda = "12.4";
    const Record record = judged(context);
    CHECK(record.status == Status::pass);
    CHECK(record.summary == "driver 550.54.15, CUDA 12.4, 1 GPU(s)");
    CHECK(record.hint == "");
    CHECK(record.fault == "");
    CHECK(record.error.api == "");
}

TEST_CASE("driver too old: another CUDA major; minor-version compatibility is not a fault") {
    Context context;
    const auto status = [&](const char* driver, const char* needed) {
        const scratch::Environment environment{{"FAKE_DRIVER", driver}};
        context.expect_cuda = needed;
        return judged(context);
    };
    const Record old = status("11040", "12.4");
    CHECK(old.status == Status::fail);
    CHECK(old.fault == "F3");
    CHECK(old.summary == "driver 550.54.15 offers CUDA 11.4, the cell needs CUDA 12.4: driver >= 525.60.13");
    CHECK(status("12080", "13.0").fault == "F3");
    CHECK(status("12080", "13.0").summary.find("580.65.06") != std::string::npos);
    CHECK(status("10020", "11.8").fault == "F3");
    CHECK(status("12000", "12.4").status == Status::pass);
    CHECK(status("11040", "11.8").status == Status::pass);
    CHECK(status("13000", "11.8").status == Status::pass);
    CHECK(status("13000", "13.4").status == Status::pass);
    context.expect_torch_cuda = "13.0";
    CHECK(status("12080", "").fault == "F3");
}

TEST_CASE("803 names both versions; with a compatibility library it is another fault") {
    const scratch::Folder root;
    root.write("proc/driver/nvidia/version", kProc);
    const scratch::Environment environment{{"FAKE_INIT", "803"}};
    const Record record = judged({}, kFake, root.path());
    CHECK(record.fault == "F4");
    CHECK(record.summary == "cuInit 803: libcuda is 550.54.15, the kernel module is 535.104.05");
    const Record compat = judged({}, std::string(SUITE_FAKE_DRIVER) + "/compat/libcuda.so.1", root.path());
    CHECK(compat.fault == "F5");
    CHECK(compat.summary ==
          "cuInit 803: the compatibility library 560.35.03 does not fit the kernel module 535.104.05");
}

TEST_CASE("no driver, a stub and a broken driver are told apart") {
    const std::string absent = "/no/such/folder/libcuda.so.1";
    CHECK(judged({}, absent).status == Status::skip);
    CHECK(judged({}, absent).reason == "no_device");
    CHECK(judged({}, std::string(SUITE_FAKE_DRIVER) + "/stubs/libcuda.so.1").reason == "stub_driver");
    // A copy elsewhere still has no driver version in its name and is far too small.
    CHECK(judged({}, std::string(SUITE_FAKE_DRIVER) + "/plain/libcuda.so.1").reason == "stub_driver");
    const scratch::Folder folder;
    const std::string damaged = folder.write("libcuda.so.1", "not a library");
    const Record record = judged({}, damaged);
    CHECK(record.status == Status::fail);
    CHECK(record.reason == "driver_unloadable");
}

TEST_CASE("a GPU that was promised makes its absence a failure") {
    Context required;
    required.require_gpu = true;
    Context gpu_mode;
    gpu_mode.mode = Mode::gpu;
    for (const Context& context : {required, gpu_mode}) {
        CHECK(judged(context, "/no/such/folder/libcuda.so.1").status == Status::fail);
        CHECK(judged(context, "/no/such/folder/libcuda.so.1").reason == "no_driver");
        CHECK(judged(context, "/no/such/folder/libcuda.so.1").fault == "F1");
        CHECK(with_init("100", context).status == Status::fail);
        const scratch::Environment environment{{"FAKE_DEVICES", "0"}};
        CHECK(judged(context).status == Status::fail);
        CHECK(judged({}).status == Status::skip);
    }
}

TEST_CASE("driver versions in texts and names") {
    CHECK(find_driver_version(kProc) == "535.104.05");
    CHECK(find_driver_version(
              "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build") ==
          "580.65.06");
    CHECK(find_driver_version("libcuda.so.550.54.15") == "550.54.15");
    CHECK(find_driver_version("libcuda.so.390.157") == "390.157");
    for (const char* text : {"", "libcuda.so.1", "libcuda.so", "gcc version 12.2.0", "1234.56", "x86_64"}) {
        CHECK_MESSAGE(find_driver_version(text) == "", text);
    }
    CHECK(cuda_text(12040) == "12.4");
    CHECK(cuda_text(11080) == "11.8");
    CHECK(minimum_driver(10) == "");
}
