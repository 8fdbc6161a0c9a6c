// Where images ask for the packages of their distribution, for wheels and for standalone builds of python,
// and which compiler an archive has.

#include <algorithm>
#include <charconv>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "render/image/families.hpp"

namespace cudamatrix {

std::string snapshot_service(const Facts& facts, const Mirrors& mirrors, std::string_view archive) {
    const auto row = facts.row(fmt::format("archive-{}", archive));
    return row && row->has("snapshots") ? mirrored(row->text("snapshots"), mirrors) : std::string();
}

namespace family {
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

// Its address at that time, or why there is none.
std::string find_snapshot(const Request& request, std::string_view name, const std::string& time,
                          std::string& address) {
    const auto service = snapshot_service(request.facts, request.matrix.mirrors, name);
    if (service.empty())
        return fmt::format("build: snapshot: no service is known that has earlier states of {}", name);
    const auto row = archive_row(request, name);
    const auto day = fmt::format("{}-{}-{}", time.substr(0, 4), time.substr(4, 2), time.substr(6, 2));
    if (row->has("snapshots_first") && day < row->text("snapshots_first"))
        return fmt::format("build: snapshot {}: those of {} begin on {}", day, name,
                           row->text("snapshots_first"));
    address = service + "/" + time;
    return {};
}

// See Image::snapshot_archives. The official image of a distribution has no certificates, and what the lock
// says holds for every site: neither its mirrors nor its certificates count.
std::vector<std::string> archives_with_snapshots(const Request& request, const Archives& archives) {
    std::vector<std::string> names;
    for (const auto name : {archives.packages, archives.security}) {
        if (name.empty()) continue;
        const auto row = archive_row(request, name);
        if (!row || !row->has("snapshots")) return {};
        if (request.family->distribution && row->text("snapshots_scheme") == "https") return {};
        names.emplace_back(name);
    }
    return names;
}

// Empty: the archive as it is.
std::string time_of_archives(const Request& request) {
    const auto& said = request.matrix.build.snapshot;
    const auto& open = request.image.snapshot_archives;
    if (said == "none" || (said == "auto" && open.empty())) return {};
    if (said != "auto") return said;
    const auto taken = request.taken.snapshots.find(open.front());
    return taken == request.taken.snapshots.end() ? std::string() : taken->second;
}

}  // namespace

std::string find_package_sources(Request& request) {
    const auto archives = archives_of(request.image);
    const auto& [packages, security] = archives;
    if (request.matrix.build.snapshot == "auto")
        request.image.snapshot_archives = archives_with_snapshots(request, archives);
    auto& sources = request.image.sources;
    sources.snapshot = time_of_archives(request);
    const auto& time = sources.snapshot;
    if (time.empty()) return find_archives(request, archives, sources);
    if (auto reason = find_snapshot(request, packages, time, sources.archive); !reason.empty()) return reason;
    sources.security = sources.archive;
    return security.empty() ? std::string() : find_snapshot(request, security, time, sources.security);
}

std::string find_indexes(Request& request) {
    request.image.indexes = {through_map(request, "pypi"), through_map(request, "nvidia-pypi"),
                             through_map(request, "python-build-standalone")};
    return {};
}

// The host compiler that an image of a distribution installs: one that its archive has, and that nvcc takes.

namespace {

int number(std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<Row> in_archive(const Facts& facts, std::string_view os) {
    return facts.row(fmt::format("compilers-{}", os));
}

// "gcc-11.4" -> "11".
std::string major_of(std::string_view compiler) {
    return text::split(compiler.substr(4), '.').front();
}

std::string named(const Row& row) {
    std::string out;
    for (const auto major : row.list("gccs"))
        out += fmt::format("{}gcc-{}", out.empty() ? "" : ", ", major);
    return out;
}

}  // namespace

int default_gcc(const Facts& facts, const std::optional<Row>& os, const std::optional<lookup::Cuda>& cuda) {
    const int own = os ? number(os->text("gcc")) : 0;
    if (!cuda || !cuda->toolkit || !cuda->toolkit->has("gcc_max")) return own;
    const int newest = number(cuda->toolkit->text("gcc_max"));
    const auto row = os ? in_archive(facts, os->text("os")) : std::nullopt;
    if (own <= newest || !row) return std::min(own, newest);
    int best = 0;
    for (const auto major : row->list("gccs")) {
        if (number(major) <= newest) best = std::max(best, number(major));
    }
    return best;
}

bool has_compiler(const Request& request, const Row& os) {
    const auto wanted = request.text(Field::compiler);
    const auto row = in_archive(request.facts, os.text("os"));
    return !wanted.starts_with("gcc-") ||
           (row ? holds(row->list("gccs"), major_of(wanted)) : os.text("gcc") == major_of(wanted));
}

std::string find_compiler(Request& request) {
    auto& image = request.image;
    const auto wanted = request.text(Field::compiler);
    if (!wanted.empty() && !wanted.starts_with("gcc-"))
        return fmt::format("compiler {}: family {} compiles with gcc", wanted, image.family);
    const auto toolkit =
        image.suite_cuda.empty() ? std::nullopt : lookup::cuda(request.facts, image.suite_cuda);
    const int fits = default_gcc(request.facts, request.os, toolkit);
    const auto major = wanted.empty() ? std::to_string(fits) : major_of(wanted);
    if (image.package_manager == "dnf") {
        const auto own = request.os->text("gcc");
        if (major != own) return fmt::format("compiler gcc-{}: {} has gcc {}", major, image.os, own);
        image.compiler = "g++";
        return {};
    }
    const auto row = in_archive(request.facts, image.os);
    if (wanted.empty() && fits == 0) {
        if (!row) return fmt::format("os {}: no fact knows its compiler", image.os);
        return fmt::format("os {}: its archive has {}, and nvcc of CUDA {} takes gcc {} at most", image.os,
                           named(*row), image.cuda, request.cuda->toolkit->text("gcc_max"));
    }
    if (row && !holds(row->list("gccs"), major)) {
        return fmt::format("compiler gcc-{}: the archive of {} has {}", major, image.os, named(*row));
    }
    image.compiler = "g++-" + major;
    return {};
}

}  // namespace family

}  // namespace cudamatrix
