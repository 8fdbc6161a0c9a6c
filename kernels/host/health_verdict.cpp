#include "kernels/host/health_verdict.hpp"

#include <string>

#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

std::string throttle_text(unsigned long long bits) {
    std::string text;
    const auto add = [&](unsigned long long bit, const char* name) {
        if ((bits & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
    };
    add(kThrottleHwSlowdown, "hardware slowdown");
    add(kThrottleHwThermal, "hardware thermal slowdown");
    add(kThrottleSwThermal, "software thermal slowdown");
    add(kThrottleHwPowerBrake, "power brake");
    return text;
}

json::Value to_json(const GpuHealth& gpu) {
    json::Value value = json::Value::object();
    value.set("uuid", gpu.uuid);
    const auto set = [&](const char* name, const Reading& reading) {
        value.set(name,
                  reading.known ? json::Value(static_cast<unsigned long>(reading.value)) : json::Value());
    };
    set("ecc_uncorrected", gpu.uncorrected);
    set("retired_pages", gpu.retired_errors);
    set("retirement_pending", gpu.retire_pending);
    set("remapped_rows", gpu.remapped_errors);
    set("remap_pending", gpu.remap_pending);
    set("remap_failed", gpu.remap_failed);
    set("throttle_reasons", gpu.throttle);
    set("temperature", gpu.temperature);
    set("shutdown_at", gpu.shutdown_at);
    return value;
}

/// What NVML does not know of a GPU is not checked: a GeForce has no ECC, and says so.
void check_gpu(Record& record, const std::string& name, const GpuHealth& gpu, std::string& hint) {
    const auto check = [&](const char* what, const Reading& reading, const char* advice) {
        if (!reading.known) return;
        record.check(name + what, reading.value == 0, std::to_string(reading.value));
        if (reading.value != 0 && hint.empty()) hint = advice;
    };
    check(" uncorrected ECC errors", gpu.uncorrected,
          "reset the GPU; if errors come back, its memory is failing (nvidia-smi -q -d ECC)");
    check(" page retirement pending", gpu.retire_pending, "reboot the host, so that bad pages are retired");
    check(" row remapping pending", gpu.remap_pending, "reset the GPU, so that bad rows are remapped");
    check(" row remapping failed", gpu.remap_failed, "the GPU has no spare rows left: have it replaced");
    if (gpu.throttle.known) {
        const std::string why = throttle_text(gpu.throttle.value & kThrottleFaults);
        record.check(name + " clocks", why.empty(), why);
        if (!why.empty() && hint.empty()) hint = "look at the cooling and the power supply of the GPU";
    }
    if (gpu.temperature.known && gpu.shutdown_at.known && gpu.shutdown_at.value != 0) {
        record.check(name + " temperature", gpu.temperature.value < gpu.shutdown_at.value,
                     std::to_string(gpu.temperature.value) + " degrees, it shuts down at " +
                         std::to_string(gpu.shutdown_at.value));
        if (gpu.temperature.value >= gpu.shutdown_at.value && hint.empty())
            hint = "look at the cooling of the GPU";
    }
}

std::string summary_of(const HealthFacts& facts) {
    bool ecc = false;
    for (const GpuHealth& gpu : facts.gpus)
        ecc = ecc || gpu.uncorrected.known;
    return std::to_string(facts.gpus.size()) + " GPU(s) healthy" + (ecc ? "" : ", without ECC");
}

}  // namespace

Record judge_health(const HealthFacts& facts) {
    if (!facts.found) return Record::skip("no_nvml", "libnvidia-ml.so.1 does not load: " + facts.load_error);
    if (facts.init != 0) return Record::broken("nvml", "nvmlInit_v2 gives " + std::to_string(facts.init));
    if (facts.gpus.empty() && facts.failed.empty()) return Record::broken("nvml", "NVML sees no GPU");
    Record record;
    std::string hint;
    // A GPU that has fallen off the bus gives 15 to every call.
    record.check("NVML answers", facts.failed.empty(),
                 facts.failed + " gives " + std::to_string(facts.failed_code));
    if (!facts.failed.empty()) hint = "look for Xid messages in the host's kernel log";
    json::Value list = json::Value::array();
    for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
        check_gpu(record, "GPU " + std::to_string(i), facts.gpus[i], hint);
        list.push_back(to_json(facts.gpus[i]));
    }
    record = judge(record, "unhealthy", summary_of(facts));
    if (record.status == Status::fail) {
        record.fault = "F15";
        record.hint = hint;
    }
    if (!facts.failed.empty()) record.error = {facts.failed, facts.failed_code, ""};
    add_evidence(record, "health", list);
    return record;
}

Record health_record(const Context& context, const std::string& library) {
    if (context.mode == Mode::nogpu) return Record::skip("no_device", "the run was told not to use a GPU");
    return judge_health(read_health(library));
}

}  // namespace cudamatrix::suite
