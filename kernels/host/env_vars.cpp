#include <cstdlib>
#include <string>

#include "kernels/host/host_tests.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

/// hard: changes results or keeps programs from running. warn: slows them down or hides faults.
struct Suspect {
    const char* name;
    bool hard;
    const char* fault;
    bool (*bad)(const std::string& value);
    const char* why;
};

bool set(const std::string&) {
    return true;
}
bool on(const std::string& value) {
    return !value.empty() && value != "0";
}
bool hides_gpus(const std::string& value) {
    return value.empty() || value == "-1" || value == "NoDevFiles";
}
bool no_driver_mounted(const std::string& value) {
    return value.empty() || value == "void" || value == "none";
}
bool eager(const std::string& value) {
    return value == "EAGER";
}
bool holds_stubs(const std::string& value) {
    return value.find("/stubs") != std::string::npos;
}

constexpr Suspect kSuspects[] = {
    {"CUDA_VISIBLE_DEVICES", true, "F13", hides_gpus, "hides every GPU"},
    {"CUDA_FORCE_PTX_JIT", true, "F13", on, "ignores all SASS"},
    {"CUDA_DISABLE_PTX_JIT", true, "F13", on, "ignores all PTX"},
    {"CUDA_INJECTION64_PATH", true, "F13", set, "loads a profiler into every program"},
    {"CUDA_LAUNCH_BLOCKING", true, "F13", on, "serialises every launch"},
    {"NVIDIA_TF32_OVERRIDE", true, "F13", set, "changes the precision of matrix products"},
    {"LD_LIBRARY_PATH", true, "F2", holds_stubs, "puts the toolkit's stub driver before the real one"},
    {"CUDA_MODULE_LOADING", false, "F13", eager, "loads every kernel at start"},
    {"CUDA_CACHE_DISABLE", false, "F13", on, "compiles PTX anew in every process"},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", false, "F13", set, "turns torch's allocator off"},
    {"CUBLAS_WORKSPACE_CONFIG", false, "F13", set, "changes cuBLAS' choice of algorithms"},
    {"NVIDIA_VISIBLE_DEVICES", false, "F13", no_driver_mounted, "asks the container toolkit for no GPU"},
};

}  // namespace

Record env_vars(const Context&) {
    Record record;
    json::Value warnings = json::Value::array();
    for (const Suspect& suspect : kSuspects) {
        const char* value = std::getenv(suspect.name);
        const bool bad = value != nullptr && suspect.bad(value);
        const std::string text = bad ? std::string(suspect.name) + "='" + value + "' " + suspect.why : "";
        if (suspect.hard) {
            record.check(suspect.name, !bad, text);
            if (bad && record.fault.empty()) record.fault = suspect.fault;
        } else if (bad) {
            warnings.push_back(text);
        }
    }
    record = judge(record, "env_var", "no variable that changes results is set");
    if (record.status == Status::fail) record.hint = "remove the variable from the image's environment";
    if (!warnings.items().empty()) add_evidence(record, "warnings", warnings);
    return record;
}

}  // namespace cudamatrix::suite
