// Where images ask for the packages of their distribution, for wheels and for standalone builds of python.

#include <algorithm>
#include <charconv>
#include <set>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/wheel_tags.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "matrix/value.hpp"
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

// packages: {torchvision: auto, vllm: any}: the release that goes with the cell's torch, and the one that pip
// would take and the rules judged, from the facts: an image is pinned.

namespace {

// Their builds for one CUDA lie in the index of torch's variant, beside it.
bool has_variants(std::string_view package) {
    return package == "torchvision" || package == "torchaudio";
}

// The release that goes with the torch of the image.
std::optional<PackageRelease> companion(const Request& request, std::string_view package) {
    const auto& torch = request.torch->exact;
    if (package == "numpy") return lookup::numpy_companion(request.facts, request.image.python, torch);
    const auto row = lookup::torch_companion(request.facts, package, torch);
    if (!row) return std::nullopt;
    const auto text = row->text("version");
    return PackageRelease{text, pep440::Version::parse(text).value_or(pep440::Version{}), *row};
}

std::string find_unpinned(Request& request) {
    const auto released = rules::with_releases(request.cell, request.facts);
    if (!released) return {};
    auto& image = request.image;
    for (const auto& [name, release] : released->items) {
        for (auto& [own, version] : image.packages) {
            if (own != name || version != kAnyVersion) continue;
            if (release == kAnyVersion)
                return fmt::format(
                    "packages {} any: no fact says which release pip would take; write its "
                    "version",
                    name);
            version = release;
            const auto row = lookup::package_release(request.facts, pep440::canonical_name(name), release);
            image.companions.push_back(fmt::format("{} {} is what pip would take for any{}", name, release,
                                                   row ? fmt::format(" [{}]", row->id()) : ""));
        }
    }
    return {};
}

}  // namespace

std::string find_companions(Request& request) {
    if (auto reason = find_unpinned(request); !reason.empty()) return reason;
    auto& image = request.image;
    for (auto& [name, version] : image.packages) {
        if (version != kCompanionVersion) continue;
        if (!request.torch)
            return fmt::format("packages {} auto: the cell names no torch that it could go with", name);
        const auto package = pep440::canonical_name(name);
        if (package == "numpy" && image.python.empty())
            return fmt::format("packages {} auto: the cell names no python, and the tag of its image neither",
                               name);
        const auto found = companion(request, package);
        if (!found) {
            return fmt::format(
                "packages {} auto: no fact says which release goes with torch {}; write its version", name,
                image.torch);
        }
        version = found->text;
        image.companions.push_back(
            fmt::format("{} {} goes with torch {}{} [{}]", package, version, image.torch,
                        package == "numpy" ? " and python " + image.python : "", found->row.id()));
        if (!image.torch_index_default && has_variants(package)) version += "+" + image.torch_variant;
    }
    return {};
}

namespace {

bool has_wheel(const Row& release, std::string_view arch, const lookup::PythonAbi& python) {
    return lookup::any_serves(lookup::glibc_wheel_tags(release, arch), python);
}

// ": numpy 2.5.1 has one", the newest; empty where no release has.
std::string newest_with_wheel(const Request& request, const std::string& package,
                              const lookup::PythonAbi& python) {
    std::string_view newest;
    for (const auto& release : request.facts.package_releases(package)) {
        if (!lookup::is_yanked(release.row) && has_wheel(release.row, request.image.arch, python))
            newest = release.text;
    }
    return newest.empty() ? "" : fmt::format(": {} {} has one", package, newest);
}

}  // namespace

std::string find_wheels(Request& request) {
    const auto& image = request.image;
    const auto python = lookup::python_abi(image.python);
    if (!python) return {};
    for (const auto& [name, version] : image.packages) {
        const auto package = pep440::canonical_name(name);
        const auto release = lookup::package_release(request.facts, package, version);
        if (!release || !release->has("abi") || has_wheel(*release, image.arch, *python)) continue;
        return fmt::format(
            "packages {} {}: it has no wheel for python {} on {}, and images get wheels only, nothing is "
            "built from source; name another release or python{}",
            name, version, image.python, image.arch, newest_with_wheel(request, package, *python));
    }
    return {};
}

std::string find_constraints(Request& request) {
    constexpr std::string_view kAtLeast = ">=";
    auto& image = request.image;
    auto packages = image.packages;
    if (request.torch) packages.emplace_back("torch", image.torch);
    const auto is = [](std::string_view name) {
        return [name](const auto& package) { return pep440::canonical_name(package.first) == name; };
    };
    if (std::ranges::any_of(packages, is("numpy"))) return {};
    std::set<std::string> found;
    for (const auto& row : request.facts.rows("package_numpy_abi")) {
        if (!lookup::is_about_system(row, "linux")) continue;
        const auto versions = pep440::Specifiers::parse(row.text("versions"));
        const auto package = std::ranges::find_if(packages, is(row.text("package")));
        if (package == packages.end() || !versions || !row.text("numpy").starts_with(kAtLeast)) continue;
        const auto version = pep440::Version::parse(package->second);
        if (version && versions->admits(*version))
            found.insert(fmt::format("numpy<{}", row.text("numpy").substr(kAtLeast.size())));
    }
    image.constraints.assign(found.begin(), found.end());
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

}  // namespace cudamatrix::family
