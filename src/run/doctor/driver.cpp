// The driver: its module in the kernel, its libraries, its device nodes, and the GPUs behind it.
#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "run/doctor/probes.hpp"

namespace cudamatrix::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFile = 1u << 20;
constexpr std::size_t kMostDevices = 4096;
constexpr std::string_view kInstallGuide =
    "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html";
constexpr std::string_view kMismatch = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/394";

// Whether the bus has a display device (class 03....) of NVIDIA (vendor 10de); nothing where there is no bus
// to see.
std::optional<bool> has_gpu_on_bus(const Context& context) {
    std::error_code error;
    fs::directory_iterator entry(context.below("/sys/bus/pci/devices"), error);
    if (error) return std::nullopt;
    std::size_t seen = 0;
    for (const fs::directory_iterator end; entry != end && seen < kMostDevices;
         entry.increment(error), ++seen) {
        const auto vendor = file::read(entry->path() / "vendor", 64);
        const auto kind = file::read(entry->path() / "class", 64);
        if (vendor.ok() && kind.ok() && text::trim(*vendor) == "0x10de" && kind->starts_with("0x03"))
            return true;
        if (error) break;
    }
    return false;
}

bool has_nouveau(const Context& context) {
    const auto modules = file::read(context.below("/proc/modules"), kLargestFile);
    if (!modules.ok()) return false;
    return std::ranges::any_of(text::split(*modules, '\n'),
                               [](const std::string& line) { return line.starts_with("nouveau "); });
}

// The last byte of the firmware's variable, behind four bytes of attributes.
bool has_secure_boot(const Context& context) {
    const auto variable = file::read(
        context.below("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"), 64);
    return variable.ok() && variable->size() == 5 && variable->back() == '\1';
}

constexpr std::array<std::string_view, 6> kSystemFolders{
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
    "/usr/lib/wsl/lib",          "/usr/local/nvidia/lib64"};

// "550.54.15" of libcuda.so.1 -> libcuda.so.550.54.15; empty where no link tells it.
std::string release_of(const fs::path& library, std::string_view name) {
    std::error_code error;
    const auto target = fs::read_symlink(library, error).filename().string();
    if (error || !target.starts_with(name)) return {};
    auto release = target.substr(name.size());
    return release.find('.') != std::string::npos && Version::parse(release) ? release : std::string();
}

// In the order of the loader.
std::vector<std::string> library_folders(const Context& context) {
    std::vector<std::string> folders;
    for (const auto& folder :
         text::split(value_of(context.machine().environment, {"LD_LIBRARY_PATH"}), ':')) {
        if (folder.starts_with('/')) folders.push_back(text::printable(folder));
    }
    folders.insert(folders.end(), kSystemFolders.begin(), kSystemFolders.end());
    return folders;
}

DoctorLine library_line(const Context& context, std::string_view name) {
    const auto soname = fmt::format("{}1", name);
    const auto folders = library_folders(context);
    for (const auto& folder : folders) {
        const auto path = context.below(folder) / soname;
        std::error_code error;
        if (!fs::exists(fs::symlink_status(path, error))) continue;
        const auto shown = fmt::format("{}/{}", folder, soname);
        if (!fs::exists(path, error))
            return {"libraries", Health::fail, shown + " is a link to nothing",
                    "reinstall the driver's libraries", std::string(kMismatch)};
        const auto release = release_of(path, name);
        if (release.empty())
            return {"libraries", Health::ok, shown + ", whose name tells no release", {}, {}};
        if (context.host.driver && context.host.driver->value != release) {
            return {"libraries", Health::fail,
                    fmt::format("{} is of {}, the loaded driver is {}", shown, release,
                                context.host.driver->value),
                    "sudo reboot", std::string(kMismatch)};
        }
        return {"libraries", Health::ok, fmt::format("{} is of {}", shown, release), {}, {}};
    }
    if (!context.has_driver())
        return {"libraries", Health::skipped, fmt::format("{}: no driver is loaded", soname), {}, {}};
    return {"libraries", Health::fail, fmt::format("{} is in none of {}", soname, text::join(folders, ", ")),
            "install the driver's user-space libraries of the same release", std::string(kInstallGuide)};
}

}  // namespace

Lines driver_lines(const Context& context) {
    Lines lines;
    if (const auto& driver = context.host.driver) {
        lines.push_back(
            {"driver", Health::ok, fmt::format("{} from {}", driver->value, driver->from), {}, {}});
    } else if (context.has_module()) {
        lines.push_back({"driver", Health::warn, "/proc/driver/nvidia/version names no release", {}, {}});
    } else if (const auto gpu = has_gpu_on_bus(context); gpu && *gpu) {
        lines.push_back({"driver", Health::fail, "an NVIDIA GPU is on the bus, and no driver is loaded",
                         "install the driver, or sudo modprobe nvidia", std::string(kInstallGuide)});
    } else if (gpu) {
        lines.push_back(
            {"driver", Health::warn, "no driver is loaded, and no NVIDIA GPU is on the bus", {}, {}});
    } else {
        lines.push_back({"driver",
                         Health::warn,
                         "no driver is loaded, and /sys/bus/pci/devices does not show whether there is a GPU",
                         {},
                         {}});
    }
    for (const auto& note : context.host.notes) {
        const bool mismatch = note.find("Driver/library version mismatch") != std::string::npos;
        lines.push_back({"driver", mismatch ? Health::fail : Health::warn, note,
                         mismatch ? "sudo reboot" : "", mismatch ? std::string(kMismatch) : std::string()});
    }
    return lines;
}

Lines module_lines(const Context& context) {
    Lines lines;
    if (const auto& module = context.host.kernel_module)
        lines.push_back(
            {"kernel-module", Health::ok, fmt::format("{} from {}", module->value, module->from), {}, {}});
    else
        lines.push_back({"kernel-module", Health::skipped, context.host.why_no("kernel_module"), {}, {}});
    if (has_nouveau(context)) {
        lines.push_back(
            {"kernel-module", context.has_driver() ? Health::warn : Health::fail,
             "nouveau is loaded: it keeps NVIDIA's module from the GPU",
             "echo blacklist nouveau | sudo tee /etc/modprobe.d/blacklist-nouveau.conf, then reboot",
             "https://github.com/Oneflow-Inc/oneflow/issues/3106"});
    }
    if (!context.has_driver() && has_gpu_on_bus(context).value_or(false) && has_secure_boot(context)) {
        lines.push_back({"kernel-module", Health::warn,
                         "Secure Boot is on: the kernel refuses a module that nobody signed",
                         "mokutil --sb-state; sign the module, or enroll its key with mokutil --import",
                         "https://gist.github.com/ngoc-minh-do/fcf0a01564ece8be3990d774386b5d0c"});
    }
    return lines;
}

Lines library_lines(const Context& context) {
    return {library_line(context, "libcuda.so."), library_line(context, "libnvidia-ml.so.")};
}

Lines device_node_lines(const Context& context) {
    if (!context.has_module())
        return {{"device-nodes", Health::skipped, "the kernel shows no module of NVIDIA", {}, {}}};
    std::vector<std::string> missing;
    for (const std::string_view node : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
        std::error_code error;
        if (!fs::exists(context.below(node), error)) missing.emplace_back(node);
    }
    if (missing.empty()) {
        if (auto line = suite_line(context, "dev.nodes", "device-nodes")) return {*std::move(line)};
        return {{"device-nodes", Health::ok, "/dev/nvidiactl and /dev/nvidia-uvm are there", {}, {}}};
    }
    return {{"device-nodes", Health::fail, "missing: " + text::join(missing, ", "),
             "sudo nvidia-modprobe -u -c=0", "https://github.com/NVIDIA/open-gpu-kernel-modules/pull/547"}};
}

Lines gpu_lines(const Context& context) {
    Lines lines;
    for (const auto& gpu : context.host.gpus) {
        lines.push_back(
            {"gpu",
             Health::ok,
             fmt::format("{}, compute {}{}{} from {}", gpu.name, gpu.compute.empty() ? "?" : gpu.compute,
                         gpu.memory_mib == 0 ? "" : fmt::format(", {} MiB", gpu.memory_mib),
                         gpu.mig ? ", MIG on" : "", context.host.gpus_from),
             {},
             {}});
    }
    if (!lines.empty()) return lines;
    const auto why = context.host.why_no("gpu");
    if (!context.has_driver()) return {{"gpu", Health::warn, "none: " + why, {}, {}}};
    const bool mismatch = why.find("Driver/library version mismatch") != std::string::npos;
    return {{"gpu", Health::fail, "none, though a driver is loaded: " + why,
             mismatch ? "sudo reboot" : "sudo dmesg | grep -i nvrm", mismatch ? std::string(kMismatch) : ""}};
}

}  // namespace cudamatrix::doctor
