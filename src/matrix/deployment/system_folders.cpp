#include "matrix/deployment/system_folders.hpp"

#include <array>

#include "base/text.hpp"

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
