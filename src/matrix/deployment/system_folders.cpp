#include "matrix/deployment/system_folders.hpp"

#include <array>

namespace cudamatrix {
namespace {

enum class Reach : unsigned char {
    nothing,
    itself,  ///< the folder, and nothing below it that has no row of its own
    tree,
};

// By the Filesystem Hierarchy Standard 3.0, and where images of this program and of NVIDIA keep their own.
// The longest that fits decides; a '*' stands for the rest of a name.
struct SystemPath {
    std::string_view path;
    Reach owner;  ///< of what the user may not own
    Reach files;  ///< of what the user's files may not replace
};
constexpr std::array kPaths = std::to_array<SystemPath>({
    {"/bin", Reach::tree, Reach::tree},
    {"/boot", Reach::tree, Reach::tree},
    {"/dev", Reach::tree, Reach::tree},
    {"/etc", Reach::tree, Reach::itself},
    {"/etc/group*", Reach::tree, Reach::tree},
    {"/etc/gshadow*", Reach::tree, Reach::tree},
    {"/etc/ld.so.*", Reach::tree, Reach::tree},
    {"/etc/nsswitch.conf", Reach::tree, Reach::tree},
    {"/etc/pam.d", Reach::tree, Reach::tree},
    {"/etc/passwd*", Reach::tree, Reach::tree},
    {"/etc/security", Reach::tree, Reach::tree},
    {"/etc/shadow*", Reach::tree, Reach::tree},
    {"/etc/sudoers*", Reach::tree, Reach::tree},
    {"/home", Reach::itself, Reach::nothing},
    {"/lib", Reach::tree, Reach::tree},
    {"/lib32", Reach::tree, Reach::tree},
    {"/lib64", Reach::tree, Reach::tree},
    {"/libx32", Reach::tree, Reach::tree},
    {"/opt", Reach::itself, Reach::itself},
    {"/opt/conda", Reach::tree, Reach::tree},
    {"/opt/cudamatrix", Reach::tree, Reach::tree},
    {"/opt/nvidia", Reach::tree, Reach::tree},
    {"/opt/python", Reach::tree, Reach::tree},
    {"/opt/venv", Reach::tree, Reach::tree},
    {"/proc", Reach::tree, Reach::tree},
    {"/root", Reach::tree, Reach::tree},
    {"/run", Reach::tree, Reach::tree},
    {"/sbin", Reach::tree, Reach::tree},
    {"/sys", Reach::tree, Reach::tree},
    {"/tmp", Reach::itself, Reach::itself},
    {"/usr", Reach::tree, Reach::itself},
    {"/usr/bin", Reach::tree, Reach::tree},
    {"/usr/lib", Reach::tree, Reach::tree},
    {"/usr/lib32", Reach::tree, Reach::tree},
    {"/usr/lib64", Reach::tree, Reach::tree},
    {"/usr/libexec", Reach::tree, Reach::tree},
    {"/usr/libx32", Reach::tree, Reach::tree},
    {"/usr/local", Reach::tree, Reach::itself},
    {"/usr/local/cuda*", Reach::tree, Reach::tree},
    {"/usr/local/lib", Reach::tree, Reach::tree},
    {"/usr/local/lib64", Reach::tree, Reach::tree},
    {"/usr/local/nvidia", Reach::tree, Reach::tree},
    {"/usr/sbin", Reach::tree, Reach::tree},
    {"/usr/src", Reach::itself, Reach::nothing},
    {"/var", Reach::itself, Reach::itself},
    {"/var/backups", Reach::tree, Reach::tree},
    {"/var/cache", Reach::itself, Reach::itself},
    {"/var/cache/apt", Reach::tree, Reach::tree},
    {"/var/cache/debconf", Reach::tree, Reach::tree},
    {"/var/cache/dnf", Reach::tree, Reach::tree},
    {"/var/cache/ldconfig", Reach::tree, Reach::tree},
    {"/var/lib", Reach::itself, Reach::itself},
    {"/var/lib/apt", Reach::tree, Reach::tree},
    {"/var/lib/dnf", Reach::tree, Reach::tree},
    {"/var/lib/dpkg", Reach::tree, Reach::tree},
    {"/var/lib/pam", Reach::tree, Reach::tree},
    {"/var/lib/rpm", Reach::tree, Reach::tree},
    {"/var/lib/systemd", Reach::tree, Reach::tree},
    {"/var/lock", Reach::tree, Reach::tree},
    {"/var/log", Reach::itself, Reach::itself},
    {"/var/mail", Reach::tree, Reach::tree},
    {"/var/run", Reach::tree, Reach::tree},
    {"/var/spool", Reach::tree, Reach::tree},
    {"/var/tmp", Reach::itself, Reach::itself},
});

// 0: it is elsewhere; else the length of what of `path` the row is about.
std::size_t reached(const SystemPath& row, std::string_view path) {
    const bool open = row.path.back() == '*';
    const auto start = open ? row.path.substr(0, row.path.size() - 1) : row.path;
    if (!path.starts_with(start)) return 0;
    const auto end = open ? path.find('/', start.size()) : start.size();
    if (end == std::string_view::npos || end == path.size()) return path.size();
    return path[end] == '/' ? end : 0;
}

bool belongs(std::string_view path, Reach SystemPath::*use) {
    std::size_t longest = 0;
    auto reach = Reach::nothing;
    for (const auto& row : kPaths) {
        const auto length = reached(row, path);
        if (length < longest || length == 0) continue;
        longest = length;
        reach = row.*use;
    }
    return reach == Reach::tree || (reach == Reach::itself && longest == path.size());
}

}  // namespace

bool is_system_folder(std::string_view path) {
    return belongs(path, &SystemPath::owner);
}

bool is_system_file(std::string_view path) {
    return belongs(path, &SystemPath::files);
}

}  // namespace cudamatrix
