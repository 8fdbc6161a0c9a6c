// The machines of tests/fakes/hosts: scripts in the place of NVIDIA's tools, files in the place of /proc and
// /etc, and the whole text of what is found. CUDAMATRIX_UPDATE_GOLDEN=1 rewrites the expected texts.
#include "run/host/host.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/text.hpp"
#include "fakes/hosts.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::probe;

namespace {

std::string found_text(std::string_view what, const std::optional<Found>& found) {
    return found ? fmt::format("{}: {} from {}\n", what, found->value, found->from) : "";
}

std::string text_of(const Host& host) {
    auto out = found_text("driver", host.driver) + found_text("kernel_module", host.kernel_module);
    for (const auto& gpu : host.gpus) {
        out +=
            fmt::format("gpu: {}, compute {}{} from {}\n", gpu.name, gpu.compute.empty() ? "?" : gpu.compute,
                        gpu.mig ? ", MIG on" : "", host.gpus_from);
    }
    out += found_text("toolkit", host.toolkit) + found_text("os", host.os) + found_text("arch", host.arch) +
           found_text("glibc", host.glibc);
    for (const auto& missing : host.missing)
        out += fmt::format("no {}: {}\n", missing.what, missing.why);
    for (const auto& note : host.notes)
        out += fmt::format("note: {}\n", note);
    return out;
}

}  // namespace

TEST_CASE("probe: every machine of tests/fakes/hosts") {
    const auto files = fakes::hosts();
    for (const auto& file : files) {
        CAPTURE(file.filename().string());
        fakes::Host host(file);
        const auto actual = text_of(look_at(host.machine()));
        CHECK(text::printable(text::replace_all(actual, "\n", "")) == text::replace_all(actual, "\n", ""));
        const char* update = std::getenv("CUDAMATRIX_UPDATE_GOLDEN");
        if (update != nullptr && std::string_view(update) == "1") host.expect(actual);
        CHECK(actual == host.expected);
    }
    CHECK(files.size() >= 12);
}

TEST_CASE("probe: a machine that says neither arch nor C library") {
    const fakes::Host any(fakes::hosts().front());
    auto machine = any.machine();
    machine.arch.clear();
    machine.glibc = "unknown";
    const auto host = look_at(machine);
    CHECK_FALSE(host.arch);
    CHECK_FALSE(host.glibc);
}

TEST_CASE("probe: the release of glibc where this program is not linked with it") {
    struct Case {
        const char* path;
        std::string content, expected;
    };
    const std::string banner = "GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\n";
    const std::vector<Case> cases{
        {"lib/x86_64-linux-gnu/libc.so.6",
         "\x7f"
         "ELF" +
             banner + "Copyright",
         "2.36"},
        {"lib/aarch64-linux-gnu/libc.so.6", banner, "2.36"},
        {"lib64/libc.so.6", "GNU C Library (GNU libc) stable release version 2.28.\n", "2.28"},
        {"lib/libc.so.6", "GNU C Library (GNU libc) stable release version 2.42.\n", "2.42"},
        {"lib64/libc.so.6", "GNU C Library (GNU libc) stable release version 2.28", "2.28"},
        {"lib/libc.musl-x86_64.so.1", banner, ""},
        {"lib64/libc.so.6", "", ""},
        {"lib64/libc.so.6", "stable release version 2.28.\n", ""},
        {"lib64/libc.so.6", "GNU C Library (GNU libc) development release version 2.43.9000.\n", ""},
        {"lib64/libc.so.6", "GNU C Library (GNU libc) stable release version ", ""},
        {"lib64/libc.so.6", "GNU C Library (GNU libc) stable release version .\n", ""},
        {"lib64/libc.so.6", "GNU C Library (GNU libc) stable release version 2\n", ""},
        {"lib64/libc.so.6", "GNU C Library (GNU libc) stable release version x.28.\n", ""},
        {"lib64/libc.so.6",
         "stable release version 2.1. GNU C Library (GNU libc) stable release version 2.28.\n", "2.28"},
    };
    for (const auto& one : cases) {
        CAPTURE(one.content);
        const test::TempFolder root;
        root.put(one.path, one.content);
        CHECK(glibc_below(root.path()) == one.expected);
    }
}

TEST_CASE("probe: a cancelled look ends at once") {
    Cancellation cancellation;
    cancellation.request();
    const auto hanging = fakes::Host::named("driver-hangs");
    auto machine = hanging.machine();
    machine.time_limit = std::chrono::hours(1);
    machine.cancellation = &cancellation;
    const auto host = look_at(machine);
    CHECK(host.gpus.empty());
}

TEST_CASE("probe: lines of nvidia-smi that are no GPU are left out") {
    const auto gpus = parse_gpus(
        "0, NVIDIA H200, 9.0, 570.86.15\n"
        "1, Tesla T4, 7.5, 570.86.15\n"
        "No devices were found\n"
        "x, name, 7.5, 570.1\n"
        "2, name, [N/A], 570.1\n"
        "3, name, 7.5\n");
    REQUIRE(gpus.size() == 2);
    CHECK(gpus[0].name == "NVIDIA H200");
    CHECK(gpus[1].index == 1);
    CHECK(gpus[1].compute == "7.5");
    CHECK(gpus[1].driver == "570.86.15");
}

TEST_CASE("probe: memory that nvidia-smi tells") {
    const std::vector<std::pair<std::string, unsigned>> cases{
        {"15360 MiB", 15360}, {"[N/A]", 0}, {"15360", 0}, {"-1 MiB", 0}, {"99999999999 MiB", 0}};
    for (const auto& one : cases) {
        const auto& said = one.first;
        CAPTURE(said);
        test::TempFolder folder;
        folder.put(
            "bin/nvidia-smi",
            fmt::format("#!/bin/sh\ncase \"$1\" in *compute_cap*) echo '0, Tesla T4, 7.5, 550.54.15' ;; "
                        "*memory*) echo '0, {}' ;; esac\n",
                        said));
        std::filesystem::permissions(folder / "bin/nvidia-smi", std::filesystem::perms::owner_all);
        const auto host =
            look_at({.environment = {{"PATH", (folder / "bin").string()}}, .root = folder.path()});
        REQUIRE(host.gpus.size() == 1);
        CHECK(host.gpus[0].memory_mib == one.second);
    }
}
