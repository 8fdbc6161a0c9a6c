#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix::engine {
namespace {

constexpr std::size_t kLongestUrl = 512;
constexpr std::array<std::string_view, 3> kSchemes{"ssh", "tcp", "unix"};

// USER@HOST:PORT, of which ssh gets user and host as words of its command line.
std::string mistake_in_place(std::string_view place, bool has_user) {
    const auto at = place.rfind('@');
    if (at != std::string_view::npos) {
        const auto user = place.substr(0, at);
        if (!has_user) return "a user goes with ssh:// only";
        if (user.find(':') != std::string_view::npos) return "a password has no place in it";
        if (user.empty() || user.front() == '-' || !text::only(user, "._-"))
            return "its user is none that a machine has";
        place = place.substr(at + 1);
    }
    const bool bracketed = place.starts_with('[');
    const auto end = bracketed ? place.find(']') : place.find(':');
    const auto host =
        place.substr(bracketed ? 1 : 0, end == std::string_view::npos ? end : end - (bracketed ? 1 : 0));
    if (host.empty() || host.front() == '-' || !text::only(host, bracketed ? ":" : ".-_"))
        return "it names no machine";
    if (end == std::string_view::npos) return bracketed ? "it names no machine" : "";
    const auto port = place.substr(end + (bracketed ? 1 : 0));
    const bool is_port = port.size() > 1 && port.size() <= 6 && port.front() == ':' &&
                         port.find_first_not_of("0123456789", 1) == std::string_view::npos;
    return port.empty() || is_port ? "" : "its port is no number";
}

}  // namespace

std::string mistake_in_host(std::string_view url) {
    const auto colon = url.find("://");
    const auto scheme = url.substr(0, colon);
    if (colon == std::string_view::npos || std::ranges::find(kSchemes, scheme) == kSchemes.end())
        return "expected ssh://[USER@]HOST[:PORT][/SOCKET], tcp://HOST:PORT or unix:///SOCKET";
    const auto rest = url.substr(colon + 3);
    if (url.size() > kLongestUrl || !text::only(rest, "._-/:@[]")) return "it holds what no such URL has";
    const auto slash = rest.find('/');
    const auto path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
    if (scheme == "unix") {
        const bool is_absolute = slash == 0 && path.size() > 1;
        return is_absolute && path.find(':') == std::string_view::npos ? ""
                                                                       : "its socket is no absolute path";
    }
    if (scheme == "tcp" && path.size() > 1) return "a path goes with ssh:// and unix:// only";
    return mistake_in_place(rest.substr(0, slash), scheme == "ssh");
}

std::string mistake_in_builder(std::string_view name) {
    const bool is_name = !name.empty() && name.size() <= 128 && name.front() != '-' && name.front() != '.' &&
                         text::only(name, "._-");
    return is_name ? "" : "expected a name of `docker buildx ls`";
}

}  // namespace cudamatrix::engine
