#include <cstdio>
#include <string>
#include <vector>

#include "kernels/host/driver_probe.hpp"
#include "kernels/host/driver_verdict.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

constexpr int kAttributeMajor = 75;
constexpr int kAttributeMinor = 76;
constexpr int kAttributeSms = 16;

struct Gpu {
    std::string name;
    std::string uuid;
    std::string cc;
    unsigned long memory = 0;
    int sms = 0;
};

/// The first call that failed, by name and code.
struct QueryError {
    std::string api;
    int code = 0;
    bool ok(int result, const char* name) {
        if (result != 0 && code == 0) {
            api = name;
            code = result;
        }
        return code == 0;
    }
};

std::string uuid_text(const unsigned char bytes[16]) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        char hex[4];
        std::snprintf(hex, sizeof hex, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
        text += hex;
    }
    return text;
}

Gpu query(const DriverApi& api, int index, QueryError& error) {
    Gpu gpu;
    int device = 0;
    int major = 0;
    int minor = 0;
    char name[256] = "";
    unsigned char uuid[16] = {};
    if (error.ok(api.device_get(&device, index), "cuDeviceGet") &&
        error.ok(api.device_attribute(&major, kAttributeMajor, device), "cuDeviceGetAttribute") &&
        error.ok(api.device_attribute(&minor, kAttributeMinor, device), "cuDeviceGetAttribute") &&
        error.ok(api.device_attribute(&gpu.sms, kAttributeSms, device), "cuDeviceGetAttribute") &&
        error.ok(api.device_name(name, sizeof name - 1, device), "cuDeviceGetName") &&
        error.ok(api.device_memory(&gpu.memory, device), "cuDeviceTotalMem")) {
        error.ok(api.device_uuid(uuid, device), "cuDeviceGetUuid");
    }
    gpu.name = name;
    gpu.uuid = uuid_text(uuid);
    gpu.cc = std::to_string(major) + "." + std::to_string(minor);
    return gpu;
}

json::Value to_json(const Gpu& gpu, const DriverFacts& facts) {
    json::Value value = json::Value::object();
    value.set("uuid", gpu.uuid);
    value.set("name", gpu.name);
    value.set("cc", gpu.cc);
    value.set("driver", facts.version);
    value.set("cuda_driver", facts.cuda);
    value.set("mig", gpu.name.find("MIG") != std::string::npos);
    value.set("memory_bytes", gpu.memory);
    value.set("sms", gpu.sms);
    return value;
}

bool complete(const DriverApi& api) {
    return api.device_get != nullptr && api.device_attribute != nullptr && api.device_name != nullptr &&
           api.device_memory != nullptr && api.device_uuid != nullptr;
}

}  // namespace

/// The devices as the driver describes them, against what the cell promises.
Record dev_query(const Context& context) {
    DriverOptions options;
    options.root = context.root;
    const DriverFacts facts = probe_driver(options);
    if (auto without = without_gpu(facts, context)) return *without;
    if (!complete(facts.api)) return Record::broken("driver_api", facts.path + " lacks entry points");
    QueryError error;
    std::vector<Gpu> gpus;
    for (int i = 0; i < facts.devices; ++i)
        gpus.push_back(query(facts.api, i, error));
    if (error.code != 0) {
        Record record =
            Record::fail("cuda_error", "F16", error.api + " answers " + std::to_string(error.code));
        record.error = {error.api, error.code, ""};
        return record;
    }

    Record record;
    record.check("devices", context.gpus == 0 || facts.devices >= context.gpus,
                 std::to_string(facts.devices) + ", the cell promises " + std::to_string(context.gpus));
    json::Value list = json::Value::array();
    for (const Gpu& gpu : gpus) {
        if (!context.compute.empty()) {
            record.check("compute capability", gpu.cc == context.compute,
                         gpu.name + " is " + gpu.cc + ", the cell promises " + context.compute);
        }
        constexpr unsigned long kMiB = 1024 * 1024;
        record.check("memory", gpu.memory / kMiB >= static_cast<unsigned long>(context.min_memory_mib),
                     gpu.name + " has " + std::to_string(gpu.memory / kMiB) + " MiB, the cell promises " +
                         std::to_string(context.min_memory_mib));
        list.push_back(to_json(gpu, facts));
    }
    record = judge(record, "cell_mismatch", gpus.front().name + ", compute capability " + gpus.front().cc);
    if (record.status == Status::fail) record.fault = "F16";
    add_evidence(record, "gpus", list);
    return record;
}

}  // namespace cudamatrix::suite
