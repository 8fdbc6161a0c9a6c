#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "run/engine/dialect.hpp"

namespace cudamatrix::engine {
namespace {

// Flags that are wrong whatever their value; a flag of these may also read "--flag=value".
constexpr std::array<std::string_view, 36> kNever{"--privileged",
                                                  "--cap-add",
                                                  "--volume",
                                                  "-v",
                                                  "--mount",
                                                  "--volumes-from",
                                                  "--userns",
                                                  "--uidmap",
                                                  "--gidmap",
                                                  "--subuidname",
                                                  "--subgidname",
                                                  "--hostuser",
                                                  "--group-add",
                                                  "--pid",
                                                  "--uts",
                                                  "--cgroupns",
                                                  "--cgroups",
                                                  "--cgroup-parent",
                                                  "--device-cgroup-rule",
                                                  "--sysctl",
                                                  "--publish",
                                                  "-p",
                                                  "--publish-all",
                                                  "-P",
                                                  "--add-host",
                                                  "--pod",
                                                  "--rootfs",
                                                  "--runtime",
                                                  "--secret",
                                                  "--env-host",
                                                  "--env-file",
                                                  "--oom-kill-disable",
                                                  "--init-path",
                                                  "--use-api-socket",
                                                  "-u",
                                                  "--systemd"};

// PREFIX and a number: one GPU, by its index.
bool names_one_gpu(std::string_view value, std::string_view prefix) {
    if (!value.starts_with(prefix)) return false;
    const auto index = value.substr(prefix.size());
    return !index.empty() && index.find_first_not_of("0123456789") == std::string_view::npos;
}

// Flags with the only values that they may have.
bool wrong_value(std::string_view flag, std::string_view value) {
    if (flag == "--network" || flag == "--net") return value != "none";
    if (flag == "--ipc") return value != "private";
    if (flag == "--security-opt") return value != "no-new-privileges";
    if (flag == "--pull") return value != "never";
    if (flag == "--cap-drop") return value != "ALL";
    if (flag == "--tmpfs") return !value.starts_with("/tmp:rw,noexec,nosuid,nodev,");
    if (flag == "--user")
        return value.substr(0, value.find(':')) == "0" || value.substr(0, value.find(':')) == "root";
    if (flag == "--gpus") return !names_one_gpu(value, "device=");
    if (flag == "--device") return !names_one_gpu(value, "nvidia.com/gpu=");
    return false;
}

// Switches, which have a value only behind "=".
bool wrong_switch(std::string_view flag, std::string_view value) {
    if (flag == "--read-only") return value != "true";
    return (flag == "--read-only-tmpfs" || flag == "--http-proxy") && value != "false";
}

}  // namespace

std::optional<std::string> forbidden_argument(const Argv& argv) {
    for (std::size_t i = 0; i < argv.size(); ++i) {
        const std::string_view argument = argv[i];
        const auto equals = argument.find('=');
        const auto flag = argument.substr(0, equals);
        if (std::ranges::find(kNever, flag) != kNever.end()) return argv[i];
        const bool inlined = equals != std::string_view::npos;
        if (wrong_switch(flag, inlined ? argument.substr(equals + 1) : "true")) return argv[i];
        const std::string_view value = inlined               ? argument.substr(equals + 1)
                                       : i + 1 < argv.size() ? std::string_view(argv[i + 1])
                                                             : std::string_view{};
        if (wrong_value(flag, value)) return inlined ? argv[i] : fmt::format("{} {}", flag, value);
    }
    return std::nullopt;
}

}  // namespace cudamatrix::engine
