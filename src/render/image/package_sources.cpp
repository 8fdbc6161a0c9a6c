// Where images ask for the packages of their distribution, for wheels and for standalone builds of python.
#include "base/mirrors.hpp"
#include "base/text.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

// The names of its archives in the facts and the mirror map.
struct Archives {
    std::string_view packages;
    std::string_view security;  ///< empty: security updates lie in the same one
};

Archives archives_of(const Image& image) {
    if (image.family == "debian" || image.family == "cpu") return {"debian", "debian-security"};
    if (image.package_manager == "dnf") return {"rockylinux", {}};
    return {image.arch == "aarch64" ? "ubuntu-ports" : "ubuntu", {}};
}

std::optional<Row> archive_row(const Request& request, std::string_view name) {
    return request.facts.row(fmt::format("archive-{}", name));
}

std::string through_map(const Request& request, std::string_view name) {
    return lookup::mirror_of_source(request.facts, request.matrix.mirrors, name);
}

// Where it is when nothing else is said.
std::string own_address(const Request& request, std::string_view name) {
    const auto row = archive_row(request, name);
    return row && row->has("url") ? std::string(row->text("url")) : std::string();
}

// Both, or none where the map has neither: security updates that it does not have come from where they always
// do. The sources of a base are written whole, and where the archive itself is asked only apt knows.
std::string find_archives(const Request& request, const Archives& archives, PackageSources& out) {
    out.archive = through_map(request, archives.packages);
    if (archives.security.empty()) {
        out.security = out.archive;
        return {};
    }
    out.security = through_map(request, archives.security);
    if (out.archive.empty() && out.security.empty()) return {};
    if (out.archive.empty())
        return fmt::format("mirrors: {} is mirrored and {} is not: add {}: URL", archives.security,
                           archives.packages, archives.packages);
    if (out.security.empty()) out.security = own_address(request, archives.security);
    return {};
}

// Its address at the time of the snapshot, or why there is none.
std::string find_snapshot(const Request& request, std::string_view name, std::string& address) {
    const auto& time = request.matrix.build.snapshot;
    const auto row = archive_row(request, name);
    if (!row || !row->has("snapshots"))
        return fmt::format("build: snapshot: no service is known that has earlier states of {}", name);
    const auto day = fmt::format("{}-{}-{}", time.substr(0, 4), time.substr(4, 2), time.substr(6, 2));
    if (row->has("snapshots_first") && day < row->text("snapshots_first"))
        return fmt::format("build: snapshot {}: those of {} begin on {}", day, name,
                           row->text("snapshots_first"));
    address = mirrored(row->text("snapshots"), request.matrix.mirrors) + "/" + time;
    return {};
}

}  // namespace

std::string find_package_sources(Request& request) {
    const auto archives = archives_of(request.image);
    const auto& [packages, security] = archives;
    auto& sources = request.image.sources;
    sources.snapshot = request.matrix.build.snapshot;
    if (sources.snapshot.empty()) return find_archives(request, archives, sources);
    if (auto reason = find_snapshot(request, packages, sources.archive); !reason.empty()) return reason;
    sources.security = sources.archive;
    return security.empty() ? std::string() : find_snapshot(request, security, sources.security);
}

std::string find_indexes(Request& request) {
    request.image.indexes = {through_map(request, "pypi"), through_map(request, "nvidia-pypi"),
                             through_map(request, "python-build-standalone")};
    return {};
}

}  // namespace cudamatrix::family
