// dev.health and stress.health against a libnvidia-ml that answers as told (tests/fakes/fake_libnvidia_ml.c).
#include <doctest/doctest.h>

#include <string>

#include "kernels/host/health_verdict.hpp"
#include "kernels/host/host_tests.hpp"
#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;

namespace {

const std::string kFake = std::string(SUITE_FAKE_DRIVER) + "/libnvidia-ml.so.1";

Record judged(std::initializer_list<std::pair<const char*, const char*>> environment) {
    const scratch::Environment variables(environment);
    return health_record({}, kFake);
}

std::string evidence_of(const Record& record) {
    return record.evidence.empty() ? "" : record.evidence.front().second;
}

}  // namespace

TEST_CASE("health: a sound GPU passes without a hint, and its readings are told") {
    const Record record = judged({});
    CHECK(record.status == Status::pass);
    CHECK(record.summary == "1 GPU(s) healthy");
    CHECK(record.fault + record.hint + record.error.api == "");
    CHECK(record.checks.size() == 7);
    CHECK(
        evidence_of(record) ==
        R"([{"uuid":"GPU-fake-0","ecc_uncorrected":0,"retired_pages":0,"retirement_pending":0,"remapped_rows":0,)"
        R"("remap_pending":0,"remap_failed":0,"throttle_reasons":1,"temperature":41,"shutdown_at":92}])");
}

TEST_CASE("health: what wears out or throttles without being a fault passes") {
    // Repaired, a power cap, clocks that the user or an application set, idle.
    CHECK(judged({{"FAKE_NVML_RETIRED", "3"}}).status == Status::pass);
    CHECK(evidence_of(judged({{"FAKE_NVML_RETIRED", "3"}})).find("\"retired_pages\":3") != std::string::npos);
    CHECK(judged({{"FAKE_NVML_REMAPPED", "2"}}).status == Status::pass);
    for (const char* bits : {"0", "0x1", "0x2", "0x4", "0x10", "0x100", "0x117"})
        CHECK_MESSAGE(judged({{"FAKE_NVML_THROTTLE", bits}}).status == Status::pass, bits);
    CHECK(judged({{"FAKE_NVML_TEMPERATURE", "91"}}).status == Status::pass);
    CHECK(judged({{"FAKE_NVML_GPUS", "4"}}).summary == "4 GPU(s) healthy");
}

TEST_CASE("health: each state that is a fault is F15, with its hint") {
    struct Row {
        const char* variable;
        const char* value;
        const char* summary;
        const char* hint;
    };
    for (const Row& row : {
             Row{"FAKE_NVML_ECC", "1", "GPU 0 uncorrected ECC errors: 1", "reset the GPU"},
             Row{"FAKE_NVML_ECC", "4294967296", "GPU 0 uncorrected ECC errors: 4294967296",
                 "memory is failing"},
             Row{"FAKE_NVML_RETIRE_PENDING", "1", "GPU 0 page retirement pending: 1", "reboot the host"},
             Row{"FAKE_NVML_REMAP_PENDING", "1", "GPU 0 row remapping pending: 1", "reset the GPU"},
             Row{"FAKE_NVML_REMAP_FAILED", "1", "GPU 0 row remapping failed: 1", "replaced"},
             Row{"FAKE_NVML_THROTTLE", "0x8", "GPU 0 clocks: hardware slowdown", "cooling"},
             Row{"FAKE_NVML_THROTTLE", "0x20", "GPU 0 clocks: software thermal slowdown", "cooling"},
             Row{"FAKE_NVML_THROTTLE", "0x49", "GPU 0 clocks: hardware slowdown, hardware thermal slowdown",
                 "cooling"},
             Row{"FAKE_NVML_THROTTLE", "0x80", "GPU 0 clocks: power brake", "power supply"},
             Row{"FAKE_NVML_TEMPERATURE", "92", "GPU 0 temperature: 92 degrees, it shuts down at 92",
                 "cooling"},
             Row{"FAKE_NVML_LOST", "15", "NVML answers: nvmlDeviceGetUUID gives 15", "Xid"},
             Row{"FAKE_NVML_LOST", "999", "NVML answers: nvmlDeviceGetUUID gives 999", "kernel log"},
         }) {
        const Record record = judged({{row.variable, row.value}});
        CHECK_MESSAGE(record.status == Status::fail, row.variable);
        CHECK(record.reason == "unhealthy");
        CHECK(record.fault == "F15");
        CHECK_MESSAGE(record.summary == row.summary, record.summary);
        CHECK_MESSAGE(record.hint.find(row.hint) != std::string::npos, record.hint);
    }
    // One of several, and the first of two hints.
    const Record two =
        judged({{"FAKE_NVML_GPUS", "2"}, {"FAKE_NVML_REMAP_FAILED", "1"}, {"FAKE_NVML_ECC", "5"}});
    CHECK(two.summary == "GPU 0 uncorrected ECC errors: 5");
    CHECK(two.hint.find("reset the GPU") == 0);
    CHECK(judged({{"FAKE_NVML_LOST", "15"}}).error.code == 15);
}

TEST_CASE("health: what a GPU does not have is not checked, and is null in the evidence") {
    const Record record = judged({{"FAKE_NVML_ECC", "none"},
                                  {"FAKE_NVML_RETIRED", "none"},
                                  {"FAKE_NVML_RETIRE_PENDING", "none"},
                                  {"FAKE_NVML_REMAPPED", "none"},
                                  {"FAKE_NVML_REMAP_FAILED", "1"},
                                  {"FAKE_NVML_SHUTDOWN_AT", "none"}});
    CHECK(record.status == Status::pass);
    CHECK(record.summary == "1 GPU(s) healthy, without ECC");
    CHECK(record.checks.size() == 2);
    CHECK(evidence_of(record).find("\"ecc_uncorrected\":null") != std::string::npos);
    CHECK(evidence_of(record).find("\"shutdown_at\":null") != std::string::npos);
    CHECK(judged({{"FAKE_NVML_SHUTDOWN_AT", "0"}}).status == Status::pass);
}

TEST_CASE("health: without NVML, or where it does not work, nothing is judged") {
    const Record absent = health_record({}, "/no/such/folder/libnvidia-ml.so.1");
    CHECK(absent.status == Status::skip);
    CHECK(absent.reason == "no_nvml");
    const scratch::Folder folder;
    CHECK(health_record({}, folder.write("libnvidia-ml.so.1", "no library")).reason == "no_nvml");
    CHECK(judged({{"FAKE_NVML_INIT", "9"}}).status == Status::error);
    CHECK(judged({{"FAKE_NVML_INIT", "18"}}).summary == "nvmlInit_v2 gives 18");
    CHECK(judged({{"FAKE_NVML_GPUS", "0"}}).status == Status::error);
    // A library that is none: every function is missing.
    CHECK(health_record({}, "libc.so.6").status == Status::error);
    Context nogpu;
    nogpu.mode = Mode::nogpu;
    for (const auto test : {dev_health, stress_health}) {
        CHECK(test(nogpu).status == Status::skip);
        CHECK(test(nogpu).reason == "no_device");
    }
    CHECK(health_record(nogpu, kFake).reason == "no_device");
}
