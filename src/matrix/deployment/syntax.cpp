#include "matrix/deployment/syntax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include "base/number.hpp"
#include "base/text.hpp"
#include "matrix/reader.hpp"

namespace cudamatrix {
namespace {

enum class Reach : unsigned char {
    nothing,
    itself,  ///< the folder, and nothing below it that has no row of its own
    tree,
};

// By the Filesystem Hierarchy Standard 3.0, and where images of this program and of NVIDIA keep their own.
// The longest that fits decides; a '*' stands for the rest of a name.
struct SystemPaths {
    Reach owner;  ///< of what the user may not own
    Reach files;  ///< of what the user's files may not replace
    std::string_view paths;
};
constexpr auto kPaths = std::to_array<SystemPaths>({
    {Reach::tree, Reach::tree,
     "/bin /boot /dev /etc/group* /etc/gshadow* /etc/ld.so.* /etc/nsswitch.conf /etc/pam.d "
     "/etc/passwd* /etc/security /etc/shadow* /etc/sudoers* /lib /lib32 /lib64 /libx32 /opt/conda "
     "/opt/cudamatrix /opt/nvidia /opt/python /opt/venv /proc /root /run /sbin /sys /usr/bin /usr/lib "
     "/usr/lib32 /usr/lib64 /usr/libexec /usr/libx32 /usr/local/cuda* /usr/local/lib /usr/local/lib64 "
     "/usr/local/nvidia /usr/sbin /var/backups /var/cache/apt /var/cache/debconf /var/cache/dnf "
     "/var/cache/ldconfig /var/lib/apt /var/lib/dnf /var/lib/dpkg /var/lib/pam /var/lib/rpm "
     "/var/lib/systemd /var/lock /var/mail /var/run /var/spool"},
    {Reach::tree, Reach::itself, "/etc /usr /usr/local"},
    {Reach::itself, Reach::nothing, "/home /usr/src"},
    {Reach::itself, Reach::itself, "/opt /tmp /var /var/cache /var/lib /var/log /var/tmp"},
});

// 0: it is elsewhere; else the length of what of `path` the row is about.
std::size_t reached(std::string_view row, std::string_view path) {
    const bool open = row.ends_with('*');
    const auto start = row.substr(0, row.size() - (open ? 1 : 0));
    if (!path.starts_with(start)) return 0;
    const auto end = open ? path.find('/', start.size()) : start.size();
    if (end == std::string_view::npos || end == path.size()) return path.size();
    return path[end] == '/' ? end : 0;
}

bool belongs(std::string_view path, Reach SystemPaths::*use) {
    std::size_t longest = 0;
    auto reach = Reach::nothing;
    for (const auto& row : kPaths) {
        for (const auto& each : text::split(row.paths, ' ')) {
            const auto length = reached(each, path);
            if (length <= longest) continue;
            longest = length;
            reach = row.*use;
        }
    }
    return reach == Reach::tree || (reach == Reach::itself && longest == path.size());
}

}  // namespace

bool is_system_folder(std::string_view path) {
    return belongs(path, &SystemPaths::owner);
}

bool is_system_file(std::string_view path) {
    return belongs(path, &SystemPaths::files);
}

}  // namespace cudamatrix

namespace cudamatrix::service_syntax {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// A number without a sign and leading zeros that lies in the range; nothing else.
bool is_number(std::string_view text, std::uint64_t least, std::uint64_t most) {
    const auto number = text::whole_number<std::uint64_t>(text);
    return number && *number >= least && *number <= most && (text.size() == 1 || text.front() != '0');
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

// A named volume belongs to the user of the image, and so does the folder where it is mounted.
bool is_volume_target(std::string_view text, bool named) {
    return is_container_path(text) && !(named ? is_system_folder(text) : is_system_file(text));
}

bool is_address(std::string_view text) {
    const auto parts = text::split(text, '.');
    return parts.size() == 4 && std::all_of(parts.begin(), parts.end(),
                                            [](const std::string& part) { return is_number(part, 0, 255); });
}

std::string_view protocol_of(std::string_view text) {
    const auto slash = text.find('/');
    return slash == std::string_view::npos ? std::string_view("tcp") : text.substr(slash + 1);
}

}  // namespace

bool is_argument(std::string_view text) {
    return text.size() <= 1024 && text::printable(text) == text;
}

bool is_device(std::string_view text) {
    if (is_number(text, 0, 255)) return true;
    for (const std::string_view prefix : {"GPU-", "MIG-"}) {
        if (!text.starts_with(prefix)) continue;
        const auto id = text.substr(prefix.size());
        return id.size() == 36 && id.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
    }
    return false;
}

bool is_gpu_count(std::string_view text) {
    return text == "all" || is_number(text, 0, 64);
}

bool is_size(std::string_view text) {
    return text.size() > 1 && is_one_of(text.substr(text.size() - 1), {"k", "m", "g"}) &&
           is_number(text.substr(0, text.size() - 1), 1, 9'999'999);
}

bool is_limit(std::string_view text) {
    return text == "-1" || is_number(text, 0, std::uint64_t{1} << 48U);
}

bool in_order(std::string_view soft, std::string_view hard) {
    const auto value = [](std::string_view text) {
        std::uint64_t number = kNoLimit;
        if (text != "-1") std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    };
    return value(soft) <= value(hard);
}

bool is_duration(std::string_view text) {
    const auto unit = text.find_first_not_of("0123456789");
    return unit != std::string_view::npos && is_one_of(text.substr(unit), {"ms", "s", "m", "h"}) &&
           is_number(text.substr(0, unit), 1, 999'999);
}

bool is_retries(std::string_view text) {
    return is_number(text, 1, 100);
}

bool is_restart(std::string_view text) {
    return is_one_of(text, {"no", "always", "on-failure", "unless-stopped"});
}

bool is_volume(std::string_view text) {
    const auto parts = text::split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return false;
    const auto& source = parts[0];
    const bool folder = source == "." || (source.starts_with("./") && is_relative_path(source.substr(2)));
    return (folder || is_entry_name(source)) && is_volume_target(parts[1], !folder) &&
           (parts.size() == 2 || parts[2] == "ro");
}

Service::Volume volume_of(std::string_view text) {
    const auto parts = text::split(text, ':');
    return {parts[0], parts[1], parts.size() == 3};
}

bool is_port(std::string_view text) {
    if (!is_one_of(protocol_of(text), {"tcp", "udp"})) return false;
    auto parts = text::split(text.substr(0, text.find('/')), ':');
    if (parts.size() > 3 || (parts.size() == 3 && !is_address(parts[0]))) return false;
    if (parts.size() == 3) parts.erase(parts.begin());
    return std::all_of(parts.begin(), parts.end(),
                       [](const std::string& part) { return is_number(part, 1, 65535); });
}

std::string host_port(std::string_view text) {
    const auto bare = text.substr(0, text.find('/'));
    const auto colon = bare.rfind(':');
    if (colon == std::string_view::npos) return {};
    return std::string(bare.substr(0, colon)) + (protocol_of(text) == "udp" ? "/udp" : "");
}

}  // namespace cudamatrix::service_syntax
