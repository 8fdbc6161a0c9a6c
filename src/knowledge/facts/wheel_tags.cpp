#include "knowledge/facts/wheel_tags.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix::lookup {

std::optional<PythonAbi> python_abi(std::string_view text) {
    const bool free_threaded = text.ends_with('t');
    const auto version = pep440::Version::parse(free_threaded ? text.substr(0, text.size() - 1) : text);
    if (!version || text.find('.') == text.npos) return std::nullopt;
    return PythonAbi{fmt::format("{}{}{}", version->part(0), version->part(1), free_threaded ? "t" : ""),
                     version->part(1), free_threaded};
}

std::uint64_t minor_of_tag(std::string_view digits) {
    std::uint64_t minor = 0;
    std::from_chars(digits.data() + 1, digits.data() + digits.size(), minor);
    return minor;
}

bool serves(std::string_view tag, const PythonAbi& python) {
    if (tag.starts_with("py")) return minor_of_tag(tag.substr(2)) <= python.minor;
    const auto dash = tag.find('-');
    if (dash == tag.npos) return tag.substr(2) == python.digits;
    if (minor_of_tag(tag.substr(2)) > python.minor) return false;
    return tag.substr(dash + 1) == (python.free_threaded ? "abi3t" : "abi3");
}

bool any_serves(const facts::Values& tags, const PythonAbi& python) {
    return std::any_of(tags.begin(), tags.end(), [&](std::string_view tag) { return serves(tag, python); });
}

facts::Values glibc_wheel_tags(const Row& release, std::string_view arch) {
    return release.list(arch == "aarch64" && release.has("abi_aarch64") ? "abi_aarch64" : "abi");
}

}  // namespace cudamatrix::lookup
