#include "look/measure/tags.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "knowledge/facts/store.hpp"

namespace cudamatrix::measure {
namespace {

// "312" of "cp312"; nothing for python 2, PyPy and py3.
std::optional<std::string> cpython_digits(std::string_view tag) {
    if (!tag.starts_with("cp3") || tag.size() < 4) return std::nullopt;
    const auto digits = tag.substr(2);
    const bool all = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    return all ? std::optional(std::string(digits)) : std::nullopt;
}

bool is_free_threaded(const WheelName& name) {
    return std::any_of(name.abis.begin(), name.abis.end(),
                       [](const std::string& abi) { return abi.starts_with("cp") && abi.ends_with("t"); });
}

constexpr std::string_view kSystems[] = {"linux", "macos", "musl", "windows"};

// Of 64-bit x86 and ARM, which are what torch has wheels for.
bool is_for(const WheelName& name, std::string_view system) {
    return std::any_of(name.platforms.begin(), name.platforms.end(), [&](const std::string& platform) {
        if (platform == "any") return true;
        if (system == "macos") return platform.starts_with("macosx");
        if (system == "windows") return platform == "win_amd64" || platform == "win_arm64";
        if (!platform.ends_with("x86_64") && !platform.ends_with("aarch64")) return false;
        if (system == "musl") return platform.starts_with("musllinux");
        return platform.starts_with("manylinux") || platform.starts_with("linux");
    });
}

// "py3", "cp312", "cp313t", "cp39-abi3".
void add_tags(const WheelName& name, std::vector<std::string>& out) {
    const bool stable = std::find(name.abis.begin(), name.abis.end(), "abi3") != name.abis.end();
    for (const auto& tag : name.pythons) {
        if (tag.starts_with("py3")) out.push_back(tag);
        if (const auto digits = cpython_digits(tag))
            out.push_back(tag + (stable ? "-abi3" : is_free_threaded(name) ? "t" : ""));
    }
}

void sort_unique(std::vector<std::string>& values) {
    std::sort(values.begin(), values.end(),
              [](const std::string& a, const std::string& b) { return facts::natural_less(a, b); });
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::string linux_arch(const WheelName& name) {
    for (const auto& platform : name.platforms) {
        if (platform == "any") return "any";
        if (!platform.starts_with("manylinux") && !platform.starts_with("linux")) continue;
        for (const std::string_view arch : {"x86_64", "aarch64"}) {
            if (platform.ends_with(arch)) return std::string(arch);
        }
    }
    return {};
}

std::vector<std::string> pythons_of(const std::vector<IndexFile>& wheels) {
    std::vector<std::string> out;
    for (const auto& wheel : wheels) {
        const auto name = parse_wheel_name(wheel.name);
        if (!name) continue;
        for (const auto& tag : name->pythons) {
            if (const auto digits = cpython_digits(tag))
                out.push_back("3." + digits->substr(1) + (is_free_threaded(*name) ? "t" : ""));
        }
    }
    sort_unique(out);
    return out;
}

std::vector<std::string> abis_of(const std::vector<IndexFile>& wheels, std::string_view arch) {
    std::vector<std::string> out;
    for (const auto& wheel : wheels) {
        const auto name = parse_wheel_name(wheel.name);
        if (!name) continue;
        const auto own = linux_arch(*name);
        if (own != arch && own != "any") continue;
        add_tags(*name, out);
    }
    sort_unique(out);
    return out;
}

std::vector<std::string> abis_on(const std::vector<IndexFile>& wheels, std::string_view system) {
    std::vector<std::string> out;
    for (const auto& wheel : wheels) {
        if (const auto name = parse_wheel_name(wheel.name); name && is_for(*name, system))
            add_tags(*name, out);
    }
    sort_unique(out);
    return out;
}

std::vector<std::string> systems_of(const std::vector<IndexFile>& wheels) {
    std::vector<std::string> out;
    // What CPython 3 does not take is no wheel.
    for (const auto system : kSystems) {
        if (!abis_on(wheels, system).empty()) out.emplace_back(system);
    }
    return out;
}

std::string glibc_of(std::string_view file, const Facts& facts) {
    const auto name = parse_wheel_name(file);
    if (!name) return {};
    std::vector<std::string> floors;
    for (const auto& platform : name->platforms) {
        for (const auto& row : facts.rows("manylinux_tags")) {
            if (row.text("kept") == "true" && platform.starts_with(fmt::format("{}_", row.text("tag"))))
                floors.emplace_back(row.text("glibc"));
        }
        if (platform.starts_with("manylinux_")) {
            const auto parts = text::split(platform, '_');
            if (parts.size() > 3) floors.push_back(parts[1] + "." + parts[2]);
        }
    }
    sort_unique(floors);
    return floors.empty() ? "" : floors.front();
}

std::string without_suffix(std::string_view python) {
    while (!python.empty() && (python.back() < '0' || python.back() > '9'))
        python.remove_suffix(1);
    return std::string(python);
}

}  // namespace cudamatrix::measure
