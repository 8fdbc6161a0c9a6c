// stages, build and mirrors: settings that do not make cells, read and written.
#include <algorithm>
#include <array>
#include <filesystem>

#include "matrix/deployment/syntax.hpp"
#include "matrix/reader.hpp"
#include "matrix/syntax.hpp"

namespace cudamatrix {
namespace {

using syntax::is_registry_host;
using syntax::is_registry_prefix;
using text::only;
using yaml::Node;

// Wheel indexes and apt archives have no registry prefix that names them.
const std::vector<std::string>& archive_names() {
    static const std::vector<std::string> names{
        "pypi",   "pytorch",      "nvidia-pypi", "python-build-standalone", "debian", "debian-security",
        "ubuntu", "ubuntu-ports", "rockylinux"};
    return names;
}

std::string_view after_scheme(std::string_view url) {
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (url.starts_with(scheme)) return url.substr(scheme.size());
    }
    return {};
}

bool is_url(std::string_view text) {
    const auto rest = after_scheme(text);
    if (rest.empty() || text.size() > 512) return false;
    const auto slash = rest.find('/');
    if (!is_registry_host(rest.substr(0, slash))) return false;
    const auto path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
    const auto steps = text::split(path, '/');
    return only(path, "/._~+-") && std::find(steps.begin(), steps.end(), "..") == steps.end() &&
           path.find("//") == std::string_view::npos;
}

// https is what registries speak, and http on the loopback, as engines have it: another one says so.
bool is_registry_place(std::string_view text) {
    const auto rest = after_scheme(text);
    return is_registry_prefix(rest.empty() ? text : rest);
}

bool has_credentials(std::string_view text) {
    const auto rest = after_scheme(text);
    return rest.substr(0, rest.find('/')).find('@') != std::string_view::npos;
}

// Of a file: the last step is a name.
bool is_path(std::string_view text) {
    const auto last = text.substr(text.rfind('/') + 1);
    return !text.empty() && text.size() <= 1024 && only(text, " _./@+=-") && text.front() != '-' &&
           text.front() != ' ' && !last.empty() && last != "." && last != ".." && text.back() != ' ';
}

bool is_workdir(std::string_view text) {
    return text.size() <= 200 && only(text, "/_.-") && is_container_path(text) && !is_system_folder(text);
}

// Users and groups that Debian and Ubuntu always have (package base-passwd 3.6.1: passwd.master and
// group.master; _apt is apt's), and those that Rocky Linux has beside them (github:quattor/
// configuration-modules-core, ncm-accounts/src/main/pan/components/accounts/sysusers.pan): useradd refuses
// them, or what belongs to them would be the image's user's. root is refused where images are planned.
bool is_system_account(std::string_view text) {
    static constexpr auto names = std::to_array<std::string_view>(
        {"_apt",  "adm",  "audio",  "backup",   "bin",   "cdrom",  "daemon",  "dialout",  "dip",
         "disk",  "fax",  "floppy", "ftp",      "games", "gopher", "halt",    "irc",      "kmem",
         "list",  "lp",   "mail",   "man",      "news",  "nobody", "nogroup", "operator", "plugdev",
         "proxy", "sasl", "shadow", "shutdown", "src",   "staff",  "sudo",    "sync",     "sys",
         "tape",  "tty",  "users",  "utmp",     "uucp",  "video",  "voice",   "www-data"});
    return std::find(names.begin(), names.end(), text) != names.end();
}

bool is_user(std::string_view text) {
    return !text.empty() && text.size() <= 32 && (text::is_lower(text.front()) || text.front() == '_') &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos &&
           !is_system_account(text);
}

struct BuildKey {
    std::string_view name;
    std::string BuildSettings::*member;
    bool (*accepts)(std::string_view);
    std::string_view accepted;
};
constexpr auto kBuildKeys = std::to_array<BuildKey>({
    {"base_from", &BuildSettings::base_from,
     [](std::string_view text) { return text == "auto" || text == "registry" || text == "bootstrap"; },
     "auto, registry or bootstrap"},
    {"ca_bundle", &BuildSettings::ca_bundle, is_path, "the path of a PEM file such as /etc/ssl/site-ca.pem"},
    {"cache", &BuildSettings::cache, [](std::string_view text) { return text == "mounts" || text == "none"; },
     "mounts (BuildKit cache mounts) or none"},
    {"netrc", &BuildSettings::netrc, is_path, "the path of a netrc file such as /etc/site.netrc"},
    {"network", &BuildSettings::network,
     [](std::string_view text) { return text == "none" || text == "host" || text == "default"; },
     "none, host or default"},
    {"snapshot", &BuildSettings::snapshot,
     [](std::string_view text) { return text == "auto" || text == "none" || !snapshot_time(text).empty(); },
     "auto, none, a day such as 2026-11-01 or a time such as 20261101T120000Z"},
    {"user", &BuildSettings::user, is_user,
     "a user name such as app (lower-case letters, digits, '_' and '-') that distributions do not use"},
    {"workdir", &BuildSettings::workdir, is_workdir,
     "an absolute path such as /workspace, outside system folders"},
});

// A relative path means: beside the matrix file, wherever the program is started.
std::string resolved(const std::string& path, const std::string& matrix_path) {
    std::error_code error;
    const auto base = std::filesystem::absolute(matrix_path, error).parent_path();
    return (base / path).lexically_normal().string();
}

std::string without_last_slash(std::string text) {
    while (text.ends_with('/'))
        text.pop_back();
    return text;
}

void read_mirror(Reader& reader, const Node& key, const Node& node) {
    if (!reader.expect(key, node, Node::Kind::scalar, "a prefix such as registry.example.org/hub")) return;
    if (has_credentials(node.text) || has_credentials(key.text)) {
        reader.error(node.where,
                     fmt::format("mirrors: the value of {} holds a user name or password: never put "
                                 "secrets in a matrix file",
                                 in_quotes(key.text)),
                     "put them in a netrc file: build: {netrc: FILE} (for a registry: docker login)");
        return;
    }
    const auto& names = archive_names();
    const bool archive = std::find(names.begin(), names.end(), key.text) != names.end();
    const bool registry = key.text.find_first_of(".:") != std::string::npos && is_registry_prefix(key.text);
    if (!archive && !registry && !is_url(key.text)) {
        reader.error(key.where,
                     fmt::format("mirrors: unknown source {}: expected a registry such as docker.io, a "
                                 "URL, or one of {}",
                                 in_quotes(key.text), text::join(names, ", ")),
                     text::did_you_mean_or(key.text, names));
        return;
    }
    const auto value = without_last_slash(node.text);
    if (registry ? !is_registry_place(value) : !is_url(value)) {
        reader.error(node.where, fmt::format("mirrors: invalid value {} for {}: expected {}",
                                             in_quotes(node.text), key.text,
                                             registry ? "a registry prefix such as registry.example.org/hub"
                                                      : "a URL such as https://mirror.example.org/path"));
        return;
    }
    const auto from = without_last_slash(key.text);
    const bool twice =
        std::ranges::any_of(reader.matrix.mirrors, [&](const auto& other) { return other.first == from; });
    if (twice)
        reader.error(key.where, fmt::format("mirrors: {} appears twice", from), "delete one of the two");
    reader.matrix.mirrors.emplace_back(from, value);
}

void resolve_secret(Reader& reader, const Node& key, std::string& file, std::string& beside) {
    if (!file.starts_with('/')) beside = file;
    file = resolved(file, reader.matrix.path);
    if (is_cut_by_engines(file))
        reader.error(key.where,
                     fmt::format("{}: {} has a comma or a quote in its path: engines would cut it there",
                                 key.text, in_quotes(file)),
                     "move the file to a folder without them");
}

}  // namespace

bool is_cut_by_engines(std::string_view path) {
    return path.find_first_of(",\"") != std::string_view::npos;
}

const std::vector<std::string>& stage_names() {
    static const std::vector<std::string> names{"driver_load", "image_pull", "container_start", "install",
                                                "build",       "runtime",    "torch_compile"};
    return names;
}

void read_stages(Reader& reader, const Node&, const Node& node) {
    std::map<std::string, Location> seen;
    const auto& known = stage_names();
    for (const auto& item : node.items) {
        if (item.kind != Node::Kind::scalar ||
            std::find(known.begin(), known.end(), item.text) == known.end()) {
            reader.error(item.where,
                         fmt::format("stages: found {}, expected one of {}", found_text(item),
                                     text::join(known, ", ")),
                         text::did_you_mean_or(item.text, known));
        } else if (reader.first_time(seen, item.text, item.where,
                                     fmt::format("stages: {} appears twice", item.text),
                                     "delete one of the two")) {
            reader.matrix.stages.push_back(item.text);
        }
    }
}

void read_build(Reader& reader, const Node&, const Node& node) {
    auto& build = reader.matrix.build;
    std::vector<std::string> known;
    for (const BuildKey& each : kBuildKeys)
        known.emplace_back(each.name);
    for (const auto& [name, member] : node.members) {
        const auto found = std::find_if(kBuildKeys.begin(), kBuildKeys.end(),
                                        [&k = name](const BuildKey& b) { return b.name == k.text; });
        if (found == kBuildKeys.end()) {
            reader.unknown_key(name, "build", known);
        } else if (!reader.expect(name, member, Node::Kind::scalar, found->accepted)) {
            continue;
        } else if (!found->accepts(member.text)) {
            reader.error(member.where, fmt::format("invalid {} {}: expected {}", found->name,
                                                   in_quotes(member.text), found->accepted));
        } else {
            build.*(found->member) = member.text;
            if (found->member == &BuildSettings::snapshot) build.snapshot_where = member.where;
            if (found->member == &BuildSettings::ca_bundle)
                resolve_secret(reader, name, build.ca_bundle, build.ca_bundle_beside);
            if (found->member == &BuildSettings::netrc)
                resolve_secret(reader, name, build.netrc, build.netrc_beside);
        }
    }
    if (const auto time = snapshot_time(build.snapshot); !time.empty()) build.snapshot = time;
}

void read_mirrors(Reader& reader, const Node&, const Node& node) {
    for (const auto& [name, member] : node.members)
        read_mirror(reader, name, member);
}

Json write_stages(const Matrix& matrix) {
    return matrix.stages;
}

Json write_build(const Matrix& matrix) {
    // A path as it was written beside the file, else where it leads to.
    auto build = matrix.build;
    if (!build.ca_bundle_beside.empty()) build.ca_bundle = build.ca_bundle_beside;
    if (!build.netrc_beside.empty()) build.netrc = build.netrc_beside;
    auto map = Json::object();
    for (const BuildKey& key : kBuildKeys) {
        if (build.*(key.member) != BuildSettings{}.*(key.member))
            map[std::string(key.name)] = build.*(key.member);
    }
    return map;
}

Json write_mirrors(const Matrix& matrix) {
    auto map = Json::object();
    for (const auto& [from, to] : matrix.mirrors)
        append_member(map, from, to);
    return map;
}

}  // namespace cudamatrix
