#include "kernels/host/driver_probe.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "kernels/host/library.hpp"
#include "kernels/host/paths.hpp"

namespace cudamatrix::suite {
namespace {

DriverApi bind_api(void* library) {
    DriverApi api;
    bind_symbol(library, "cuInit", api.init);
    bind_symbol(library, "cuDriverGetVersion", api.driver_version);
    bind_symbol(library, "cuDeviceGetCount", api.device_count);
    bind_symbol(library, "cuDeviceGet", api.device_get);
    bind_symbol(library, "cuDeviceGetAttribute", api.device_attribute);
    bind_symbol(library, "cuDeviceGetName", api.device_name);
    bind_symbol(library, "cuDeviceTotalMem_v2", api.device_memory);
    bind_symbol(library, "cuDeviceGetUuid", api.device_uuid);
    return api;
}

/// The toolkit's stub is a small library in a folder of that name; copied elsewhere it still has no driver
/// version in its name, which every real libcuda has.
bool is_stub(const std::string& loaded_as, const std::string& path, const std::string& version) {
    if (loaded_as.find("/stubs/") != std::string::npos || path.find("/stubs/") != std::string::npos)
        return true;
    constexpr long kSmallest = 1024 * 1024;
    struct stat info {};
    return version.empty() && ::stat(path.c_str(), &info) == 0 && info.st_size < kSmallest;
}

}  // namespace

DriverFacts probe_driver(const DriverOptions& options) {
    DriverFacts facts;
    std::ifstream proc(options.root + "/proc/driver/nvidia/version");
    facts.kernel_version = find_driver_version(
        std::string((std::istreambuf_iterator<char>(proc)), std::istreambuf_iterator<char>()));

    void* library = ::dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        facts.load_error = load_error();
        facts.absent = says_absent(facts.load_error, options.library);
        return facts;
    }
    facts.found = true;
    facts.library = library;
    const std::string loaded_as = path_of_library(library);
    facts.path = real_path(loaded_as);
    facts.version = find_driver_version(file_name(facts.path));
    facts.compat =
        facts.path.find("/compat/") != std::string::npos || loaded_as.find("/compat/") != std::string::npos;
    facts.stub = is_stub(loaded_as, facts.path, facts.version);
    facts.api = bind_api(library);
    if (facts.stub) return facts;
    if (facts.api.driver_version != nullptr && facts.api.driver_version(&facts.cuda) != 0) facts.cuda = 0;
    if (facts.api.init != nullptr) facts.init = facts.api.init(0);
    if (facts.init == 0 && facts.api.device_count != nullptr && facts.api.device_count(&facts.devices) != 0) {
        facts.devices = 0;
    }
    return facts;
}

std::string cuda_text(int cuda) {
    return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

std::string find_driver_version(const std::string& text) {
    constexpr const char* kVersionCharacters = "0123456789.";
    std::size_t begin = 0;
    while ((begin = text.find_first_of("0123456789", begin)) != std::string::npos) {
        const std::size_t end = std::min(text.find_first_not_of(kVersionCharacters, begin), text.size());
        const std::string token = text.substr(begin, end - begin);
        // Three digits, then one or two groups: 470.161.03, 545.23.08, 396.24. Nothing else in these texts
        // looks so.
        if (token.size() > 5 && token.find('.') == 3 && token.back() != '.') return token;
        begin = end;
    }
    return "";
}

std::string minimum_driver(int cuda_major) {
    switch (cuda_major) {
        case 11:
            return "450.80.02";
        case 12:
            return "525.60.13";
        case 13:
            return "580.65.06";
        default:
            return "";
    }
}

}  // namespace cudamatrix::suite
