#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "kernels/host/host_tests.hpp"
#include "kernels/host/paths.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

extern "C" int collect_object(dl_phdr_info* info, size_t, void* into) {
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
        static_cast<std::vector<std::string>*>(into)->push_back(info->dlpi_name);
    }
    return 0;
}

bool is_cuda_library(const std::string& name) {
    static constexpr const char* kStems[] = {"libcu",         "libnvrtc",      "libnvJitLink", "libnvjitlink",
                                             "libnccl",       "libnvToolsExt", "libnpp",       "libnvjpeg",
                                             "libtorch_cuda", "libc10_cuda"};
    return std::any_of(std::begin(kStems), std::end(kStems),
                       [&](const char* stem) { return name.rfind(stem, 0) == 0; }) &&
           name.rfind("libcurl", 0) != 0;
}

/// The CUDA major that a library's soname states; 0 for libraries that count their versions otherwise.
int cuda_major(const std::string& name) {
    static constexpr const char* kStems[] = {"libcudart.so.", "libcublas.so.", "libcublasLt.so.",
                                             "libnvrtc.so.", "libnvJitLink.so."};
    for (const char* stem : kStems) {
        if (name.rfind(stem, 0) == 0) return std::atoi(name.c_str() + std::string(stem).size());
    }
    // Wheels of torch rename some: libcudart-1b2c3d4e.so.12, libnvrtc-0123abcd.so.11.2
    for (const char* stem : {"libcudart-", "libnvrtc-"}) {
        const auto at = name.find(".so.");
        if (name.rfind(stem, 0) == 0 && at != std::string::npos) return std::atoi(name.c_str() + at + 4);
    }
    return 0;
}

}  // namespace

/// Loads what the cell promises and looks where it really came from.
Record load_paths(const Context& context) {
    if (context.libs.empty()) return Record::skip("not_in_cell", "no CUDA library is promised");
    Record record;
    for (const std::string& lib : context.libs) {
        // RTLD_NOW: a symbol that another library's version lacks must show here, not in the user's program.
        const bool loaded = ::dlopen(lib.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
        const char* why = loaded ? nullptr : ::dlerror();
        record.check("load " + lib, loaded, why != nullptr ? why : "");
    }
    std::vector<std::string> objects;
    ::dl_iterate_phdr(collect_object, &objects);
    json::Value paths = json::Value::array();
    std::set<int> majors;
    std::string stub;
    for (const std::string& object : objects) {
        const std::string path = real_path(object);
        const std::string name = file_name(object);
        if (!is_cuda_library(name) && !is_cuda_library(file_name(path))) continue;
        paths.push_back(path);
        if (object.find("/stubs/") != std::string::npos || path.find("/stubs/") != std::string::npos)
            stub = path;
        if (const int major = cuda_major(name); major != 0) majors.insert(major);
    }
    std::string majors_text;
    for (const int major : majors)
        majors_text += (majors_text.empty() ? "" : ", ") + std::to_string(major);
    record.check("no_stub", stub.empty(), stub);
    // An image may hold a toolkit and a torch that brings its own CUDA: both majors are then promised.
    std::set<int> promised;
    for (const std::string& version : {context.expect_cuda, context.expect_torch_cuda}) {
        if (!version.empty()) promised.insert(std::atoi(version.c_str()));
    }
    if (promised.empty()) {
        record.check("one_cuda_major", majors.size() <= 1,
                     "libraries of CUDA " + majors_text + " in one process");
    } else {
        const bool kept = std::includes(promised.begin(), promised.end(), majors.begin(), majors.end());
        record.check(
            "promised_cuda_major", kept,
            "the cell promises CUDA " + context.expect_cuda +
                (context.expect_torch_cuda.empty() ? "" : " (torch: " + context.expect_torch_cuda + ")") +
                ", loaded is CUDA " + majors_text);
    }
    const Check* failed = record.first_failed();
    if (failed != nullptr) record.fault = failed->name == "no_stub" ? "F2" : "F11";
    const bool absent = failed != nullptr && failed->name.rfind("load ", 0) == 0;
    record = judge(record, absent ? "lib_absent" : "wrong_library",
                   std::to_string(context.libs.size()) + " libraries loaded");
    add_evidence(record, "libraries", paths);
    return record;
}

}  // namespace cudamatrix::suite
