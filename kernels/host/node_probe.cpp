#include "kernels/host/node_probe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace cudamatrix::suite {
namespace {

bool all_digits(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// By number where both have one: nvidia2 before nvidia10.
bool in_order(const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::vector<std::string> names_in(const std::string& folder, const std::string& prefix) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.rfind(prefix, 0) == 0 && all_digits(name.substr(prefix.size()))) names.push_back(name);
    }
    std::sort(names.begin(), names.end(), in_order);
    return names;
}

/// The driver opens its nodes for reading and writing, too.
int error_of_opening(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno;
    ::close(fd);
    return 0;
}

}  // namespace

NodeFacts probe_nodes(const std::string& root) {
    std::vector<std::string> paths = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
    for (const std::string& name : names_in(root + "/dev", "nvidia"))
        paths.push_back("/dev/" + name);
    for (const std::string& name : names_in(root + "/dev/nvidia-caps", "nvidia-cap"))
        paths.push_back("/dev/nvidia-caps/" + name);
    NodeFacts facts;
    const auto exists = [&](const std::string& path) {
        struct stat info {};
        return ::stat((root + path).c_str(), &info) == 0;
    };
    facts.driver_loaded = exists("/proc/driver/nvidia/version");
    if (std::none_of(paths.begin(), paths.end(), exists)) {
        for (const char* other : {"/dev/dxg", "/dev/nvmap"}) {
            if (exists(other)) paths = {other};
        }
    }
    for (const std::string& path : paths)
        facts.nodes.push_back({path, error_of_opening(root + path)});
    return facts;
}

}  // namespace cudamatrix::suite
