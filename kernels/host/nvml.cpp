#include "kernels/host/nvml.hpp"

#include <dlfcn.h>

namespace cudamatrix::suite {
namespace {

/// nvmlReturn_t.
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlNotSupported = 3;
constexpr int kNvmlNoPermission = 4;
constexpr int kNvmlFunctionNotFound = 13;

constexpr int kUncorrectedErrors = 1;  // nvmlMemoryErrorType_t
constexpr int kVolatileCounter = 0;    // nvmlEccCounterType_t
constexpr int kDoubleBitError = 1;     // nvmlPageRetirementCause_t
constexpr int kGpuSensor = 0;          // nvmlTemperatureSensors_t
constexpr int kShutdownThreshold = 0;  // nvmlTemperatureThresholds_t
constexpr unsigned kUuidSize = 96;     // NVML_DEVICE_UUID_V2_BUFFER_SIZE

using GpuHandle = void*;

class Nvml {
  public:
    explicit Nvml(void* library) : library_(library) {}

    /// "Function not found" when the library has none of that name.
    template <typename... Arguments>
    int call(const char* name, Arguments... arguments) const {
        void* symbol = ::dlsym(library_, name);
        if (symbol == nullptr) return kNvmlFunctionNotFound;
        return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
    }

  private:
    void* library_;
};

/// Readings of one GPU. What it does not support, or tells nobody but root, is unknown; anything else that is
/// no answer is kept.
class HealthReader {
  public:
    HealthReader(const Nvml& nvml, HealthFacts& facts) : nvml_(nvml), facts_(facts) {}

    GpuHealth read(unsigned index) {
        GpuHealth gpu;
        GpuHandle device = nullptr;
        if (!done("nvmlDeviceGetHandleByIndex_v2",
                  nvml_.call("nvmlDeviceGetHandleByIndex_v2", index, &device)))
            return gpu;
        char uuid[kUuidSize] = "";
        if (done("nvmlDeviceGetUUID", nvml_.call("nvmlDeviceGetUUID", device, &uuid[0], kUuidSize - 1)))
            gpu.uuid = uuid;
        unsigned long long errors = 0;
        if (done("nvmlDeviceGetTotalEccErrors", nvml_.call("nvmlDeviceGetTotalEccErrors", device,
                                                           kUncorrectedErrors, kVolatileCounter, &errors)))
            gpu.uncorrected = {true, errors};
        read_memory(device, gpu);
        gpu.throttle = throttle(device);
        unsigned degrees = 0;
        if (done("nvmlDeviceGetTemperature",
                 nvml_.call("nvmlDeviceGetTemperature", device, kGpuSensor, &degrees)))
            gpu.temperature = {true, degrees};
        if (done("nvmlDeviceGetTemperatureThreshold",
                 nvml_.call("nvmlDeviceGetTemperatureThreshold", device, kShutdownThreshold, &degrees)))
            gpu.shutdown_at = {true, degrees};
        return gpu;
    }

  private:
    void read_memory(GpuHandle device, GpuHealth& gpu) {
        unsigned pages = 0;  // asked without room for addresses, it gives their number
        const int retired = nvml_.call("nvmlDeviceGetRetiredPages", device, kDoubleBitError, &pages,
                                       static_cast<unsigned long long*>(nullptr));
        constexpr int kInsufficientSize = 7;
        if (retired == kInsufficientSize || done("nvmlDeviceGetRetiredPages", retired))
            gpu.retired_errors = {true, pages};
        int pending = 0;
        if (done("nvmlDeviceGetRetiredPagesPendingStatus",
                 nvml_.call("nvmlDeviceGetRetiredPagesPendingStatus", device, &pending)))
            gpu.retire_pending = {true, static_cast<unsigned long long>(pending)};
        unsigned corrected = 0;
        unsigned uncorrected = 0;
        unsigned waiting = 0;
        unsigned failure = 0;
        if (done("nvmlDeviceGetRemappedRows", nvml_.call("nvmlDeviceGetRemappedRows", device, &corrected,
                                                         &uncorrected, &waiting, &failure))) {
            gpu.remapped_errors = {true, uncorrected};
            gpu.remap_pending = {true, waiting};
            gpu.remap_failed = {true, failure};
        }
    }

    /// Drivers of CUDA 12.2 and later call it by another name, too.
    Reading throttle(GpuHandle device) {
        unsigned long long reasons = 0;
        const char* name = "nvmlDeviceGetCurrentClocksThrottleReasons";
        int code = nvml_.call(name, device, &reasons);
        if (code == kNvmlFunctionNotFound) {
            name = "nvmlDeviceGetCurrentClocksEventReasons";
            code = nvml_.call(name, device, &reasons);
        }
        return done(name, code) ? Reading{true, reasons} : Reading{};
    }

    bool done(const char* name, int code) {
        const bool unknown =
            code == kNvmlNotSupported || code == kNvmlNoPermission || code == kNvmlFunctionNotFound;
        if (code != kNvmlSuccess && !unknown && facts_.failed.empty()) {
            facts_.failed = name;
            facts_.failed_code = code;
        }
        return code == kNvmlSuccess;
    }

    const Nvml& nvml_;
    HealthFacts& facts_;
};

}  // namespace

HealthFacts read_health(const std::string& library) {
    HealthFacts facts;
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* why = ::dlerror();
        facts.load_error = why != nullptr ? why : "unknown error";
        return facts;
    }
    facts.found = true;
    const Nvml nvml(handle);
    facts.init = nvml.call("nvmlInit_v2");
    if (facts.init != kNvmlSuccess) return facts;
    unsigned count = 0;
    const int counted = nvml.call("nvmlDeviceGetCount_v2", &count);
    if (counted != kNvmlSuccess) {
        facts.failed = "nvmlDeviceGetCount_v2";
        facts.failed_code = counted;
    }
    HealthReader reader(nvml, facts);
    for (unsigned i = 0; i < count; ++i)
        facts.gpus.push_back(reader.read(i));
    nvml.call("nvmlShutdown");
    return facts;
}

}  // namespace cudamatrix::suite
