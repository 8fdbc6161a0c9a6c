// The driver, containers and programs; the fakes of tests/fakes/hosts; the report.
#include "run/doctor/doctor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "fakes/hosts.hpp"
#include "report/doctor.hpp"
#include "unit/run/doctor/made.hpp"

using namespace cudamatrix;
using test::Made;
using test::Says;

namespace {

constexpr std::string_view kGuide =
    "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html";

}  // namespace

TEST_CASE("doctor: a driver is missed where a GPU of NVIDIA is on the bus") {
    const auto fails = fmt::format(
        "fail: an NVIDIA GPU is on the bus, and no driver is loaded | install the driver, or sudo modprobe "
        "nvidia | {}",
        kGuide);
    CHECK(Made().gpu_on_bus().says("driver") == Says{fails});
    CHECK(Made().gpu_on_bus("0x030000\n").says("driver") == Says{fails});
    const Says none{"warn: no driver is loaded, and no NVIDIA GPU is on the bus |  | "};
    CHECK(Made().gpu_on_bus("0x040300\n").says("driver") == none);              // sound of a GPU, no GPU
    CHECK(Made().gpu_on_bus("0x030000\n", "0x1002\n").says("driver") == none);  // of AMD
    CHECK(Made().gpu_on_bus("", "").says("driver") == none);
    CHECK(
        Made().says("driver") ==
        Says{
            "warn: no driver is loaded, and /sys/bus/pci/devices does not show whether there is a GPU |  | "});
    CHECK(Made().with("proc/driver/nvidia/version", "NVRM version: a driver\n").says("driver").front() ==
          "warn: /proc/driver/nvidia/version names no release |  | ");
    CHECK(Made().module().says("driver").front() == "ok: 550.54.15 from /proc/driver/nvidia/version |  | ");
}

TEST_CASE("doctor: the kernel's modules") {
    CHECK(Made().module().says("kernel-module") == Says{"ok: open from /proc/driver/nvidia/version |  | "});
    const std::string none =
        "skipped: /proc/driver/nvidia/version cannot be read: no driver is loaded, or it does not show itself "
        "here |  | ";
    CHECK(Made().says("kernel-module") == Says{none});
    const std::string nouveau =
        ": nouveau is loaded: it keeps NVIDIA's module from the GPU | echo blacklist nouveau | sudo tee "
        "/etc/modprobe.d/blacklist-nouveau.conf, then reboot | "
        "https://github.com/Oneflow-Inc/oneflow/issues/3106";
    CHECK(Made().with("proc/modules", "ext4 1 0\nnouveau 2 0 - Live\n").says("kernel-module") ==
          Says{none, "fail" + nouveau});
    CHECK(Made().module().with("proc/modules", "nouveau 2 0\n").says("kernel-module").back() ==
          "warn" + nouveau);
    CHECK(Made().with("proc/modules", "drm 2 1 nouveau, Live\nnouveau_x 1\n").says("kernel-module") ==
          Says{none});
}

TEST_CASE("doctor: Secure Boot counts where a GPU has no module") {
    const std::string variable = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    const std::string on("\6\0\0\0\1", 5);
    const std::string off("\6\0\0\0\0", 5);
    const auto lines = Made().gpu_on_bus().with(variable, on).says("kernel-module");
    REQUIRE(lines.size() == 2);
    CHECK(
        lines[1] ==
        "warn: Secure Boot is on: the kernel refuses a module that nobody signed | mokutil --sb-state; sign "
        "the module, or enroll its key with mokutil --import | "
        "https://gist.github.com/ngoc-minh-do/fcf0a01564ece8be3990d774386b5d0c");
    CHECK(Made().gpu_on_bus().with(variable, off).says("kernel-module").size() == 1);
    CHECK(Made().gpu_on_bus().with(variable, "\1").says("kernel-module").size() == 1);
    CHECK(Made().with(variable, on).says("kernel-module").size() == 1);
    CHECK(Made().gpu_on_bus().module().with(variable, on).says("kernel-module").size() == 1);
}

TEST_CASE("doctor: the driver's libraries are of the loaded module") {
    const std::string folder = "usr/lib/x86_64-linux-gnu/";
    const auto cuda = [&](const std::string& release) {
        Made made;
        made.module()
            .with(folder + "libcuda.so." + release)
            .link(folder + "libcuda.so.1", "libcuda.so." + release);
        return made.says("libraries").front();
    };
    CHECK(cuda("550.54.15") == "ok: /usr/lib/x86_64-linux-gnu/libcuda.so.1 is of 550.54.15 |  | ");
    CHECK(
        cuda("550.90.07") ==
        "fail: /usr/lib/x86_64-linux-gnu/libcuda.so.1 is of 550.90.07, the loaded driver is 550.54.15 | sudo "
        "reboot | https://github.com/NVIDIA/nvidia-container-toolkit/issues/394");
    CHECK(cuda("x") == "ok: /usr/lib/x86_64-linux-gnu/libcuda.so.1, whose name tells no release |  | ");
    CHECK(
        Made().module().link(folder + "libcuda.so.1", "libcuda.so.550.54.15").says("libraries").front() ==
        "fail: /usr/lib/x86_64-linux-gnu/libcuda.so.1 is a link to nothing | reinstall the driver's libraries | "
        "https://github.com/NVIDIA/nvidia-container-toolkit/issues/394");
    CHECK(Made().says("libraries") == Says{"skipped: libcuda.so.1: no driver is loaded |  | ",
                                           "skipped: libnvidia-ml.so.1: no driver is loaded |  | "});
    CHECK(Made().module().says("libraries").back() ==
          fmt::format(
              "fail: libnvidia-ml.so.1 is in none of /usr/lib/x86_64-linux-gnu, "
              "/usr/lib/aarch64-linux-gnu, /usr/lib64, /usr/lib, /usr/lib/wsl/lib, "
              "/usr/local/nvidia/lib64 | install the driver's user-space libraries of the same release | "
              "{}",
              kGuide));
}

TEST_CASE("doctor: device nodes") {
    CHECK(Made().with("dev/nvidia-uvm").says("device-nodes") ==
          Says{"skipped: the kernel shows no module of NVIDIA |  | "});
    CHECK(Made().module().with("dev/nvidiactl").with("dev/nvidia-uvm").says("device-nodes") ==
          Says{"ok: /dev/nvidiactl and /dev/nvidia-uvm are there |  | "});
    const std::string fix =
        " | sudo nvidia-modprobe -u -c=0 | https://github.com/NVIDIA/open-gpu-kernel-modules/pull/547";
    CHECK(Made().module().with("dev/nvidiactl").says("device-nodes") ==
          Says{"fail: missing: /dev/nvidia-uvm" + fix});
    CHECK(Made().module().says("device-nodes") ==
          Says{"fail: missing: /dev/nvidiactl, /dev/nvidia-uvm" + fix});
}

TEST_CASE("doctor: a toolkit that sets up no cgroups") {
    const std::string path = "/etc/nvidia-container-runtime/config.toml";
    const auto says = [&](std::string_view content) {
        return Made().with(path.substr(1), content).says("cgroups");
    };
    CHECK(Made().says("cgroups") == Says{"skipped: " + path + " cannot be read |  | "});
    for (const char* content : {"", "no-cgroups\n", "#no-cgroups = true\n", "no-cgroups = false # true\n",
                                "xno-cgroups = true\n", "no-cgroups = \"true\"\n"}) {
        CAPTURE(content);
        CHECK(says(content) == Says{"ok: " + path + " leaves cgroups to the toolkit |  | "});
    }
    const Says warned{
        "warn: " + path +
        " has no-cgroups = true: containers of an engine that runs as root get no GPU (NVML: Unknown Error), "
        "those without root need it | set no-cgroups = false there, then sudo systemctl restart docker | https://github.com/NVIDIA/nvidia-container-toolkit/issues/381"};
    CHECK(says("[nvidia-container-cli]\n no-cgroups=true\n") == warned);
    CHECK(says("no-cgroups = true  # rootless\n") == warned);
}

TEST_CASE("doctor: CDI files") {
    const std::string guide =
        " | sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml | "
        "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html";
    const Says none{"warn: no file of /etc/cdi or /var/run/cdi describes GPUs of NVIDIA" + guide};
    const std::string spec = "kind: nvidia.com/gpu\nhostPath: /usr/lib/libcuda.so.550.54.15\n";
    CHECK(Made().with("etc/cdi/nvidia.yaml", spec).says("cdi") == Says{"skipped: no driver is loaded |  | "});
    CHECK(Made().module().says("cdi") == none);
    CHECK(Made().module().with("etc/cdi/nvidia.txt", spec).says("cdi") == none);
    CHECK(Made().module().with("etc/cdi/other.yaml", "kind: intel.com/gpu\n").says("cdi") == none);
    CHECK(Made().module().with("etc/cdi/nvidia.yaml", spec).with("var/run/cdi/a.json", spec).says("cdi") ==
          Says{"ok: /etc/cdi/nvidia.yaml describes GPUs |  | ",
               "ok: /var/run/cdi/a.json describes GPUs |  | "});
    CHECK(
        Made()
            .module()
            .with("etc/cdi/nvidia.yaml", text::replace_all(spec, "550.54.15", "535.104.05"))
            .says("cdi") ==
        Says{"fail: /etc/cdi/nvidia.yaml names libraries of driver 535.104.05, loaded is 550.54.15" + guide});
}

TEST_CASE("doctor: shared memory as small as docker's") {
    CHECK(Made().space({}).says("shared-memory") ==
          Says{"skipped: /dev/shm cannot be asked for its size |  | "});
    CHECK(Made().space({{8'000'000'000, 0}}).says("shared-memory") ==
          Says{"ok: /dev/shm holds 8.0 GB |  | "});
    CHECK(
        Made().space({{64u << 20, 0}}).says("shared-memory") ==
        Says{"warn: /dev/shm holds 67 MB: workers of torch's DataLoader and NCCL may need more | docker run "
             "--shm-size=4g ... | https://github.com/wasserth/TotalSegmentator/pull/526"});
    CHECK(Made().space({{(64u << 20) + 1, 0}}).says("shared-memory").front().starts_with("ok: "));
}

TEST_CASE("doctor: folders of LD_LIBRARY_PATH that hide the driver's libcuda") {
    const Says good{"ok: LD_LIBRARY_PATH names no folder of stubs or compat |  | "};
    for (const char* path : {"", ":", "/usr/local/cuda/lib64", "/opt/stubs/lib:/my-compat"}) {
        CAPTURE(path);
        CHECK(Made().variable("LD_LIBRARY_PATH", path).says("library-path") == good);
    }
    CHECK(
        Made().variable("LD_LIBRARY_PATH", "/a:/c/stubs/:/c/compat").says("library-path") ==
        Says{
            "fail: LD_LIBRARY_PATH names /c/stubs/: its libcuda is a stub (CUDA error 34) | take the folder out "
            "of LD_LIBRARY_PATH | https://github.com/NVIDIA/warp/issues/219",
            "warn: LD_LIBRARY_PATH names /c/compat: its libcuda comes before the driver's | take the folder out "
            "of LD_LIBRARY_PATH unless the driver is older than CUDA | "
            "https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html"});
}

namespace {

doctor::Examined examined(const fakes::Host& fake) {
    auto subject = std::make_shared<doctor::Subject>(
        doctor::Subject{fake.machine(), Facts::embedded(), "2026-11-28", "/", {}});
    subject->suite = [](const probe::Machine&) { return doctor::SuiteAnswers{}; };
    return doctor::examine(subject);
}

// The lines of one of tests/fakes/hosts.
Says said_of(std::string_view host, std::string_view probe) {
    const auto fake = fakes::Host::named(host);
    Says out;
    for (const auto& line : examined(fake).lines) {
        if (line.probe == probe)
            out.push_back(fmt::format("{}: {} | {}", to_string(line.health), line.found, line.fix));
    }
    return out;
}

}  // namespace

TEST_CASE("doctor: tools of the driver that fail, hang or talk nonsense") {
    const std::string said =
        "nvidia-smi: exit code 18: Failed to initialize NVML: Driver/library version mismatch; NVML library "
        "version: 550.90";
    CHECK(said_of("library-mismatch", "driver") ==
          Says{"ok: 550.54.15 from /proc/driver/nvidia/version | ", "fail: " + said + " | sudo reboot"});
    CHECK(said_of("mig-on", "gpu") ==
          Says{"ok: NVIDIA H100 80GB HBM3, compute 9.0, MIG on from nvidia-smi | "});
    CHECK(
        Made().module().says("gpu") ==
        Says{
            "fail: none, though a driver is loaded: nvidia-smi: it is not on PATH | sudo dmesg | grep -i nvrm | "});
    CHECK(said_of("nothing", "gpu") == Says{"warn: none: nvidia-smi: it is not on PATH | "});
    for (const auto& file : fakes::hosts()) {
        CAPTURE(file.filename().string());
        const fakes::Host fake(file);
        Says probes;
        for (const auto& line : examined(fake).lines) {
            CHECK(text::printable(line.found) == line.found);
            CHECK_FALSE(line.found.empty());
            if (probes.empty() || probes.back() != line.probe) probes.push_back(line.probe);
        }
        CHECK(probes == Says{"driver", "kernel-module", "libraries", "device-nodes", "cuda-driver", "gpu",
                             "gpu-health", "toolkit", "cgroups", "cdi", "engine", "disk", "shared-memory",
                             "library-path", "environment", "network", "python"});
    }
}

TEST_CASE("doctor: flaws of the container toolkit are rows of facts") {
    const auto lines = said_of("library-mismatch", "toolkit");
    REQUIRE(lines.size() >= 3);
    CHECK(lines[0] == "ok: 1.16.1 from nvidia-container-cli | ");
    CHECK(
        lines[1] ==
        "warn: 1.16.1 has CVE-2024-0132 (a crafted image can reach the file system of the host; only in legacy "
        "mode) | update nvidia-container-toolkit to 1.16.2");
    CHECK(said_of("nothing", "toolkit").front().starts_with("skipped: none found: "));
}

TEST_CASE("doctor: the report as text and JSON") {
    const DoctorReport report{{.version = "1.0", .facts_date = "2026-11-21", .facts_hash = "abc"},
                              {{"gpu", Health::warn, "none: \x1b[31m", {}, {}},
                               {"driver", Health::fail, "x", "sudo y", "https://z"}},
                              Json::object()};
    CHECK(report::doctor_text(report) ==
          "warn     gpu            none: ?[31m\n"
          "fail     driver         x\n"
          "                        fix: sudo y\n"
          "                        see: https://z\n"
          "1 warn, 1 fail\n");
    const auto json = parse_json(report::doctor_json(report), "report");
    REQUIRE(json.ok());
    CHECK(to_text((*json)["lines"], false) ==
          R"([{"probe":"gpu","health":"warn","found":"none: \u001b[31m"},)"
          R"({"probe":"driver","health":"fail","found":"x","fix":"sudo y","document":"https://z"}])");
    CHECK((*json)["schema_version"] == 1);
}
