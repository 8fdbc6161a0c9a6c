#include "run/host/host.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace cudamatrix::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFile = 64u << 10;
constexpr std::uint64_t kLargestLibrary = 32u << 20;
constexpr std::size_t kMostGpus = 256;
constexpr std::size_t kLongestName = 64;
constexpr std::string_view kVersionFile = "/proc/driver/nvidia/version";
constexpr std::string_view kGpuFolder = "/proc/driver/nvidia/gpus";
constexpr std::string_view kReleaseFile = "/etc/os-release";

fs::path below(const Machine& machine, std::string_view absolute) {
    return machine.root / absolute.substr(1);
}

// A release as tools print it: digits and dots, at least two parts.
std::optional<std::string> release_in(std::string_view word) {
    if (word.size() > 32 || word.find('.') == std::string_view::npos ||
        word.find_first_not_of("0123456789.") != std::string_view::npos || !Version::parse(word))
        return std::nullopt;
    return std::string(word);
}

std::optional<std::string> first_release(std::string_view text) {
    for (const auto& word : text::split(text, ' ')) {
        if (auto release = release_in(text::trim(word))) return release;
    }
    return std::nullopt;
}

// Which module is loaded, and of which release: the line that starts with "NVRM version:" names both.
void read_kernel_module(const Machine& machine, Host& host) {
    const auto content = file::read(below(machine, kVersionFile), kLargestFile);
    if (!content.ok()) {
        host.missing.push_back(
            {"kernel_module", fmt::format("{} cannot be read: no driver is loaded, or it does "
                                          "not show itself here",
                                          kVersionFile)});
        return;
    }
    for (const auto& line : text::split(*content, '\n')) {
        if (!line.starts_with("NVRM version:")) continue;
        const bool open = line.find("Open Kernel Module") != std::string::npos;
        host.kernel_module = Found{open ? "open" : "proprietary", std::string(kVersionFile)};
        if (const auto release = first_release(line))
            host.driver = Found{*release, std::string(kVersionFile)};
        return;
    }
    host.missing.push_back(
        {"kernel_module", fmt::format("{} has no line that starts with NVRM version", kVersionFile)});
}

// "Model: \t Tesla T4" of each /proc/driver/nvidia/gpus/*/information.
void read_models(const Machine& machine, Host& host) {
    std::error_code error;
    std::vector<fs::path> folders;
    for (fs::directory_iterator entry(below(machine, kGpuFolder), error), end; !error && entry != end;
         entry.increment(error)) {
        if (folders.size() == kMostGpus) break;
        folders.push_back(entry->path());
    }
    std::ranges::sort(folders);
    for (const auto& folder : folders) {
        const auto content = file::read(folder / "information", kLargestFile);
        if (!content.ok()) continue;
        for (const auto& line : text::split(*content, '\n')) {
            if (!line.starts_with("Model:")) continue;
            auto name = text::printable(text::trim(std::string_view(line).substr(6)));
            const bool known = !name.empty() && name != "Unknown" && name.size() <= kLongestName;
            if (known) host.gpus.push_back({std::move(name), {}, false, 0});
        }
    }
    if (!host.gpus.empty()) host.gpus_from = kGpuFolder;
}

// "15360 MiB"; 0 for anything else.
std::uint64_t mebibytes_in(std::string_view text) {
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos || text.substr(blank) != " MiB") return 0;
    return text::whole_number<std::uint32_t>(text.substr(0, blank)).value_or(0);
}

void read_gpus(const Machine& machine, Host& host) {
    const auto answer = ask_nvidia_smi(machine.environment, machine.cancellation, machine.time_limit);
    if (!answer.gpus.empty()) {
        const auto ask = [&](std::string_view question) {
            return ask_of_each_gpu(question, machine.environment, machine.cancellation, machine.time_limit);
        };
        auto mig = ask("mig.mode.current");
        auto memory = ask("memory.total");
        for (const auto& gpu : answer.gpus) {
            host.gpus.push_back(
                {gpu.name, gpu.compute, mig[gpu.index] == "Enabled", mebibytes_in(memory[gpu.index])});
        }
        host.gpus_from = "nvidia-smi";
        const auto& driver = answer.gpus.front().driver;
        if (!host.driver) {
            host.driver = Found{driver, "nvidia-smi"};
        } else if (host.driver->value != driver) {
            host.notes.push_back(
                fmt::format("nvidia-smi says driver {}, {} says {}: the loaded module counts", driver,
                            host.driver->from, host.driver->value));
        }
        return;
    }
    read_models(machine, host);
    const auto why = "nvidia-smi: " + answer.why_not;
    if (host.gpus.empty()) {
        host.missing.push_back({"gpu", why});
    } else {
        host.notes.push_back(why);
    }
    if (!host.driver) host.missing.push_back({"driver", why});
}

// nvidia-ctk says "... CLI version 1.17.8", nvidia-container-cli "cli-version: 1.17.8".
void read_toolkit(const Machine& machine, Host& host) {
    std::vector<std::string> tried;
    for (const std::string_view tool : {"nvidia-ctk", "nvidia-container-cli"}) {
        const auto program = find_program(tool, machine.environment);
        if (!program) {
            tried.push_back(fmt::format("{} is not on PATH", tool));
            continue;
        }
        const auto outcome =
            ask_tool({*program, "--version"}, machine.environment, machine.cancellation, machine.time_limit);
        if (!outcome.ok()) {
            tried.push_back(fmt::format("{}: {}", tool, outcome.failure().diagnostics.front().message));
        } else if (!outcome->success()) {
            tried.push_back(fmt::format("{}: {}", tool, failure_text(*outcome)));
        } else if (const auto release = first_release(outcome->out.substr(0, outcome->out.find('\n')))) {
            host.toolkit = Found{*release, std::string(tool)};
            return;
        } else {
            tried.push_back(fmt::format("{} --version says no release", tool));
        }
    }
    host.missing.push_back({"toolkit", text::join(tried, "; ")});
}

std::string unquoted(std::string_view text) {
    text = text::trim(text);
    const bool quoted =
        text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
    return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

// ID and VERSION_ID as matrix files spell them: ubuntu22.04, debian12, rockylinux9.
std::optional<std::string> os_slug(std::string_view content) {
    std::map<std::string, std::string> members;
    for (const auto& line : text::split(content, '\n')) {
        const auto equals = line.find('=');
        if (equals != std::string::npos) members[line.substr(0, equals)] = unquoted(line.substr(equals + 1));
    }
    auto id = text::lower(members["ID"]);
    auto release = text::lower(members["VERSION_ID"]);
    struct Spelling {
        std::string_view theirs, ours;
    };
    static constexpr std::array<Spelling, 2> spellings{{{"rocky", "rockylinux"}, {"amzn", "amazonlinux"}}};
    for (const auto& spelling : spellings) {
        if (id == spelling.theirs) id = spelling.ours;
    }
    // Only these count their minor releases as releases of their own.
    if (id != "ubuntu" && id != "alpine") release = release.substr(0, release.find('.'));
    if (id == "alpine" && Version::parse(release)) release = Version::parse(release)->major_minor();
    const auto slug = id + release;
    const bool good = !id.empty() && slug.size() <= 40 &&
                      slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos;
    return good ? std::optional(slug) : std::nullopt;
}

void read_system(const Machine& machine, Host& host) {
    const auto content = file::read(below(machine, kReleaseFile), kLargestFile);
    const auto slug = content.ok() ? os_slug(*content) : std::nullopt;
    if (slug) {
        host.os = Found{*slug, std::string(kReleaseFile)};
    } else {
        host.missing.push_back(
            {"os", fmt::format("{} {}", kReleaseFile, content.ok() ? "names none" : "cannot be read")});
    }
    if (!machine.arch.empty()) {
        host.arch = Found{machine.arch, "uname"};
    } else {
        host.missing.push_back({"arch", "uname does not say it"});
    }
    if (release_in(machine.glibc)) {
        host.glibc = Found{machine.glibc, "the C library"};
    } else {
        host.missing.push_back({"glibc", "there is no glibc"});
    }
}

}  // namespace

// "GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36."
std::string glibc_below(const fs::path& root) {
    constexpr std::string_view kBefore = "stable release version ";
    for (const auto* path : {"lib/x86_64-linux-gnu/libc.so.6", "lib/aarch64-linux-gnu/libc.so.6",
                             "lib64/libc.so.6", "lib/libc.so.6"}) {
        const auto bytes = file::read(root / path, kLargestLibrary);
        if (!bytes.ok()) continue;
        const auto library = bytes->find("GNU C Library (");
        const auto at = library == std::string::npos ? library : bytes->find(kBefore, library);
        if (at == std::string::npos) continue;
        const auto start = at + kBefore.size();
        auto release = bytes->substr(start, bytes->find_first_not_of("0123456789.", start) - start);
        while (release.ends_with('.'))
            release.pop_back();
        if (auto found = release_in(release)) return *found;
    }
    return {};
}

std::string Host::why_no(std::string_view what) const {
    const auto found = std::ranges::find(missing, what, &Missing::what);
    return found == missing.end() ? std::string() : found->why;
}

Host look_at(const Machine& machine) {
    Host host;
    read_kernel_module(machine, host);
    read_gpus(machine, host);
    read_toolkit(machine, host);
    read_system(machine, host);
    return host;
}

}  // namespace cudamatrix::probe
