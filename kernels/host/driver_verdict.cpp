#include "kernels/host/driver_verdict.hpp"

#include <cstdlib>
#include <string>

#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

/// Answers of cuInit, by the numbers of cuda.h.
enum CuResult {
    kSuccess = 0,
    kStubLibrary = 34,
    kInsufficientDriver = 35,
    kDeviceUnavailable = 46,
    kNoDevice = 100,
    kOperatingSystem = 304,
    kSystemNotReady = 802,
    kSystemDriverMismatch = 803,
    kCompatNotSupported = 804,
    kMpsConnectionFailed = 805,
    kMpsRpcFailure = 806,
    kUnknown = 999,
};

const char* name_of(int code) {
    switch (code) {
        case kStubLibrary:
            return "CUDA_ERROR_STUB_LIBRARY";
        case kInsufficientDriver:
            return "cudaErrorInsufficientDriver";
        case kDeviceUnavailable:
            return "CUDA_ERROR_DEVICE_UNAVAILABLE";
        case kNoDevice:
            return "CUDA_ERROR_NO_DEVICE";
        case kOperatingSystem:
            return "CUDA_ERROR_OPERATING_SYSTEM";
        case kSystemNotReady:
            return "CUDA_ERROR_SYSTEM_NOT_READY";
        case kSystemDriverMismatch:
            return "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
        case kCompatNotSupported:
            return "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE";
        case kMpsConnectionFailed:
            return "CUDA_ERROR_MPS_CONNECTION_FAILED";
        case kMpsRpcFailure:
            return "CUDA_ERROR_MPS_RPC_FAILURE";
        case kUnknown:
            return "CUDA_ERROR_UNKNOWN";
        default:
            return "";
    }
}

Record fail(const char* reason, const char* fault, std::string summary, const char* hint) {
    Record record = Record::fail(reason, fault, std::move(summary));
    record.hint = hint;
    return record;
}

/// No GPU to be seen: a skip, unless one was promised.
Record no_gpu(const Context& context, const char* reason, const char* fault, std::string summary,
              const char* hint) {
    if (context.gpu_is_promised()) return fail(reason, fault, std::move(summary), hint);
    Record record = Record::skip("no_device", std::move(summary));
    record.hint = hint;
    return record;
}

std::string or_unknown(const std::string& text) {
    return text.empty() ? "an unknown version" : text;
}

Record judge_mismatch(const DriverFacts& facts) {
    if (facts.compat) {
        return fail("compat_mismatch", "F5",
                    "cuInit 803: the compatibility library " + or_unknown(facts.version) +
                        " does not fit the kernel module " + or_unknown(facts.kernel_version),
                    "use the cuda-compat package that supports this driver branch, or none");
    }
    return fail("driver_mismatch", "F4",
                "cuInit 803: libcuda is " + or_unknown(facts.version) + ", the kernel module is " +
                    or_unknown(facts.kernel_version),
                "reboot the host after a driver update, or remove the libcuda that the image brings along");
}

Record judge_too_old(const DriverFacts& facts, const std::string& needed) {
    const std::string floor = minimum_driver(std::atoi(needed.c_str()));
    std::string summary = "driver " + or_unknown(facts.version);
    if (facts.cuda != 0) summary += " offers CUDA " + cuda_text(facts.cuda);
    summary += needed.empty() ? ", too old for this program" : ", the cell needs CUDA " + needed;
    if (!floor.empty()) summary += ": driver >= " + floor;
    return fail("driver_too_old", "F3", summary, "update the driver, or choose an image of an older CUDA");
}

/// cuInit failed.
Record judge_init(const DriverFacts& facts, const Context& context, const std::string& needed) {
    const std::string answer = "cuInit " + std::to_string(facts.init);
    switch (facts.init) {
        case kStubLibrary:
            return fail("stub_driver", "F2", facts.path + " is the toolkit's stub, not a driver",
                        "remove the stubs folder from the library path");
        case kInsufficientDriver:
            return judge_too_old(facts, needed);
        case kSystemDriverMismatch:
            return judge_mismatch(facts);
        case kCompatNotSupported:
            return fail("compat_unsupported", "F5",
                        answer + ": the compatibility library works on data-center GPUs only",
                        "remove cuda-compat from the image, or update the host's driver");
        case kSystemNotReady:
            return fail("system_not_ready", "F24", answer + ": the GPUs' fabric is not ready",
                        "start nvidia-fabricmanager on the host and look at the NVSwitches");
        case kNoDevice:
            return no_gpu(context, "no_device", "F1", answer + ": the driver sees no GPU",
                          "give the container a GPU (--gpus all) and look at CUDA_VISIBLE_DEVICES");
        case kDeviceUnavailable:
            return fail("device_unavailable", "F16", answer + ": the GPU is in exclusive mode or being reset",
                        "look at the compute mode and at MIG: nvidia-smi -q");
        case kMpsConnectionFailed:
        case kMpsRpcFailure:
            return fail("mps", "F16", answer + ": the MPS server does not answer",
                        "restart nvidia-cuda-mps-control");
        case kUnknown:
        case kOperatingSystem:
            return fail("device_nodes", "F25", answer + ": the driver cannot open its devices",
                        "look at /dev/nvidia* (nvidia-uvm above all), seccomp and the device cgroup");
        default:
            return fail("cu_init", "", answer, "");
    }
}

Record decide(const DriverFacts& facts, const Context& context, const std::string& needed) {
    if (!facts.found && facts.absent) {
        return no_gpu(context, "no_driver", "F1", "no NVIDIA driver here: libcuda.so.1 is not found",
                      "start the container with a GPU (--gpus all, or a CDI device)");
    }
    if (!facts.found) {
        return fail("driver_unloadable", "F1", "libcuda.so.1 does not load: " + facts.load_error,
                    "the driver's files in the container are incomplete");
    }
    if (facts.stub) {
        return fail("stub_driver", "F2", facts.path + " is the toolkit's stub, not a driver",
                    "remove the stubs folder from the library path");
    }
    if (facts.api.init == nullptr || facts.api.driver_version == nullptr) {
        return fail("driver_unloadable", "F1", facts.path + " lacks cuInit or cuDriverGetVersion", "");
    }
    if (facts.init != kSuccess) return judge_init(facts, context, needed);
    // Minor-version compatibility: a driver of the same CUDA major is enough.
    if (!needed.empty() && facts.cuda != 0 && facts.cuda / 1000 < std::atoi(needed.c_str())) {
        return judge_too_old(facts, needed);
    }
    if (facts.devices == 0) {
        return no_gpu(context, "no_device", "F1", "the driver sees no GPU",
                      "give the container a GPU (--gpus all) and look at CUDA_VISIBLE_DEVICES");
    }
    return Record::pass("driver " + or_unknown(facts.version) + ", CUDA " + cuda_text(facts.cuda) + ", " +
                        std::to_string(facts.devices) + " GPU(s)");
}

}  // namespace

Record judge_driver(const DriverFacts& facts, const Context& context) {
    const std::string& needed = context.expect_cuda.empty() ? context.expect_torch_cuda : context.expect_cuda;
    Record record = decide(facts, context, needed);
    if (record.status == Status::pass) record.check("cuInit", true);
    if (facts.init > 0) record.error = {"cuInit", facts.init, name_of(facts.init)};
    json::Value evidence = json::Value::object();
    if (facts.found) {
        evidence.set("libcuda", facts.path);
        if (!facts.version.empty()) evidence.set("version", facts.version);
        if (facts.cuda != 0) evidence.set("cuda", facts.cuda);
        if (facts.compat) evidence.set("compat", true);
        evidence.set("devices", facts.devices);
    }
    if (!facts.kernel_version.empty()) evidence.set("kernel_module", facts.kernel_version);
    if (!evidence.members().empty()) add_evidence(record, "driver", evidence);
    return record;
}

std::optional<Record> without_gpu(const DriverFacts& driver, const Context& context) {
    const Record record = judge_driver(driver, context);
    if (record.status == Status::pass) return std::nullopt;
    if (record.status == Status::skip) return Record::skip("no_device", record.summary);
    return Record::fail(record.reason, record.fault, record.summary);
}

}  // namespace cudamatrix::suite
