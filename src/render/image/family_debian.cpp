// debian, ubuntu and rockylinux: a distribution alone, its official image or (debian) bootstrapped, with the
// toolkit of its archive or of NVIDIA's wheels.

#include <algorithm>

#include "base/text.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

constexpr std::string_view kDebian = "debian";

std::vector<std::string> strings(const facts::Values& values) {
    return std::vector<std::string>(values.begin(), values.end());
}

// Whether a distribution may be chosen for a cell that names none.
bool has_toolkit(const Request& request, const Row& os) {
    return !request.cuda || lookup::toolkit_source(request.facts, request.image.family, os.text("os"),
                                                   request.cuda->exact, request.text(Field::cuda_from));
}

// Whether images of the family are rendered on it.
bool is_rendered_on(const Request& request, const Row& os) {
    const auto& family = request.image.family;
    if (!os.text("os").starts_with(family) || !os.has("package_manager")) return false;
    return family == kDebian
               ? os.text("render") == "true"
               : request.facts.row(fmt::format("distribution-image-{}", os.text("os"))).has_value();
}

std::string find_distribution(Request& request) {
    std::vector<std::string> names;
    std::optional<Row> best;
    std::pair<bool, bool> best_has;
    const auto wanted = request.text(Field::os);
    for (const auto& row : request.facts.rows("operating_systems")) {
        if (!is_rendered_on(request, row)) continue;
        names.emplace_back(row.text("os"));
        if (wanted.empty() ? !has_toolkit(request, row) : row.text("os") != wanted) continue;
        // The newest, but rather one that has the compiler of the cell, or whose own python is the cell's.
        const std::pair has(has_compiler(request, row), python_serves(request, row));
        if (best && has < best_has) continue;
        best = row;
        best_has = has;
    }
    if (!best && wanted.empty()) {
        return fmt::format("no distribution of family {} has all that the cell needs ({} were tried)",
                           request.image.family, text::join(names, ", "));
    }
    if (!best) {
        return fmt::format("os {} is judged but not rendered: family {} is rendered on {}", wanted,
                           request.image.family, text::join(names, ", "));
    }
    request.os = best;
    request.image.os = best->text("os");
    request.image.package_manager = best->text("package_manager");
    return {};
}

// apt of an official image has no certificates: an archive by https needs those of the site.
bool needs_certificates(const Request& request) {
    const auto& [archive, security, snapshot] = request.image.sources;
    return request.image.package_manager == "apt" && request.matrix.build.ca_bundle.empty() &&
           (archive.starts_with("https:") || security.starts_with("https:"));
}

// An official image by its reference, or none: the base is bootstrapped.
std::string find_distribution_base(Request& request) {
    auto& image = request.image;
    const auto& from = request.matrix.build.base_from;
    const auto official = lookup::distribution_image(request.facts, image.os, image.arch);
    if (image.family == kDebian) {
        const bool taken = request.taken.bases.contains(official) && !needs_certificates(request);
        if (from == "bootstrap" || (from == "auto" && !taken)) {
            image.suite = request.os->text("codename");
            return {};
        }
    } else if (from == "bootstrap") {
        return fmt::format(
            "build: base_from: bootstrap: only family {} is bootstrapped, and this is family "
            "{}; write base_from: auto, or family: {}",
            kDebian, image.family, kDebian);
    }
    if (official.empty())
        return fmt::format("the facts know no official image of {} for {}", image.os, image.arch);
    if (needs_certificates(request))
        return fmt::format(
            "mirrors: the image {} has no certificates for packages by https; write build: "
            "{{ca_bundle: FILE}}{}",
            official, image.family == kDebian ? ", or base_from: bootstrap" : "");
    image.base_reference = official;
    return {};
}

void take_source(const Row& row, Image& image) {
    image.cuda_source = row.id();
    image.cuda_from = row.text("cuda_from");
    image.cuda_unpack = strings(row.list("unpack"));
    image.cuda_pins = strings(row.list("pins"));
}

std::string find_source(Request& request) {
    auto& image = request.image;
    if (!request.cuda) return {};
    const auto from = request.text(Field::cuda_from);
    const auto row = lookup::toolkit_source(request.facts, image.family, image.os, request.cuda->exact, from);
    if (!row) {
        return fmt::format("CUDA {} has no source{} for family {} on {}", image.cuda,
                           from.empty() ? "" : " (" + from + ")", image.family, image.os);
    }
    take_source(*row, image);
    image.cuda_packages = strings(row->list("package"));
    image.cuda_runtime = strings(row->list("runtime"));
    const bool archive = image.cuda_from == "archive";
    if (archive ? image.cuda_packages.empty() : image.cuda_pins.empty())
        return fmt::format("the fact {} does not say what to install", image.cuda_source);
    // Of the wheels' toolkit the image keeps this one file.
    if (!archive && (image.cudart.empty() || image.wheel_root.empty())) {
        return fmt::format("no fact says where the wheels of CUDA {} put its runtime library (cuda_runtimes)",
                           request.cuda->exact.major());
    }
    return {};
}

// NVIDIA's runtime flavour has the math libraries and NCCL. A torch with CUDA brings its own of them.
std::string find_libraries(Request& request) {
    auto& image = request.image;
    const bool brought = !image.torch_cuda.empty() && image.torch_cuda != "None";
    if (image.flavour != "runtime" || !request.cuda || brought) return {};
    const auto row = lookup::cuda_libraries(request.facts, request.cuda->exact, image.cuda_from, image.os);
    const bool archive = image.cuda_from == "archive";
    if (row) image.cuda_libraries = strings(row->list(archive ? "packages" : "pins"));
    if (!image.cuda_libraries.empty()) return {};
    return fmt::format(
        "flavour runtime: no fact names the math libraries of CUDA {} from {} on {} (cuda_libraries); write "
        "flavour: base for the runtime library alone, or devel",
        image.cuda, archive ? "the archive" : "wheels", image.os);
}

// Whether this toolkit compiles with the gcc that the image has anyway; only a stage that nobody ships may
// get another one.
bool takes_compiler(const Request& request, const lookup::Cuda& cuda) {
    if (!cuda.toolkit || !cuda.toolkit->has("gcc_max")) return false;
    const int fits = default_gcc(request.facts, request.os, cuda);
    if (const auto wanted = request.text(Field::compiler); !wanted.empty()) {
        const auto gcc = Version::parse(wanted.substr(wanted.find('-') + 1));
        const auto newest = Version::parse(cuda.toolkit->text("gcc_max"));
        return gcc && newest && gcc->major() <= newest->major();
    }
    const bool own_only = request.image.flavour == "devel" || request.image.package_manager == "dnf";
    return fits != 0 && (!own_only || fits == default_gcc(request.facts, request.os, std::nullopt));
}

// Wheels of a toolkit are fetched where python is.
std::string find_toolkit_base(Request& request) {
    auto& image = request.image;
    if (!image.base_reference.empty() && image.cuda_from == "wheels")
        image.installer_reference = installer_image(request);
    return {};
}

// Torch brings CUDA's libraries and no nvcc. Any release of its major compiles what runs beside it (minor
// version compatibility): the newest that is no newer than torch's, else the oldest. Refuses nothing.
std::string find_suite_toolkit(Request& request) {
    auto& image = request.image;
    const auto torch = Version::parse(image.torch_cuda);
    if (request.cuda || !torch) return {};
    std::optional<Row> best;
    std::optional<lookup::Cuda> release;
    for (const auto& row : request.facts.rows("toolkit_sources")) {
        if (row.text("family") != image.family || !holds(row.list("os"), image.os)) continue;
        const auto cuda = lookup::cuda(request.facts, row.text("cuda"));
        const bool light = !row.list("unpack").empty() || !row.list("pins").empty();
        if (!cuda || cuda->exact.major() != torch->major() || !light || !takes_compiler(request, *cuda))
            continue;
        const auto newer = [&](const Version& one) { return one.minor() > torch->minor(); };
        const bool better =
            !release || (newer(release->exact) ? cuda->exact < release->exact
                                               : !newer(cuda->exact) && release->exact < cuda->exact);
        if (!better) continue;
        best = row;
        release = cuda;
    }
    const auto runtime = release ? runtime_row(request.facts, release->exact) : std::nullopt;
    if (!runtime) return {};
    take_source(*best, image);
    image.suite_cuda = release->exact.text();
    image.wheel_root = runtime->text("wheel_root");
    return {};
}

}  // namespace

std::span<const Step> distribution_steps() {
    static constexpr Step steps[] = {find_toolkit,      find_torch,           find_torch_index,
                                     find_distribution, find_package_sources, find_distribution_base,
                                     find_source,       find_libraries,       find_suite_toolkit,
                                     find_compiler,     find_python,          find_toolkit_base,
                                     find_companions,   find_constraints,     find_environment};
    return steps;
}

// The python of an image and what installs on it: of the distribution, or a standalone build.

namespace {

bool is_older(std::string_view one, std::string_view other) {
    const auto a = Version::parse(one);
    const auto b = Version::parse(other);
    return a && b && *a < *b;
}

// Rows of one tool, oldest first.
std::vector<Row> versions_of(const Facts& facts, std::string_view tool) {
    auto rows = lookup::rows_with(facts, "installers", "tool", tool);
    std::ranges::sort(
        rows, [](const Row& a, const Row& b) { return is_older(a.text("version"), b.text("version")); });
    return rows;
}

// Whether the installer makes environments for it.
bool is_installed_on(const Facts& facts, std::string_view python) {
    const auto installers = versions_of(facts, "uv");
    return !installers.empty() && !is_older(python, installers.back().text("python_min"));
}

bool has_torch_for(const Request& request, std::string_view python) {
    const auto& wheel = request.torch ? request.torch->wheel : std::nullopt;
    return !wheel || holds(wheel->list("pythons"), python);
}

// The newest standalone build that the cell's torch has a wheel for.
std::string newest_standalone(const Request& request) {
    std::string_view newest;
    for (const auto& row : request.facts.rows("standalone_pythons")) {
        const auto python = row.text("python");
        const bool fits = holds(row.list("arch"), request.image.arch) && has_torch_for(request, python) &&
                          !python.ends_with('t');
        if (fits && (newest.empty() || is_older(newest, python))) newest = python;
    }
    return std::string(newest);
}

}  // namespace

bool python_serves(const Request& request, const Row& os) {
    const auto own = os.text("python");
    const auto wanted = minor_of(request.text(Field::python));
    if (!os.has("python")) return false;
    return wanted.empty() ? has_torch_for(request, own) : wanted == own;
}

std::string find_python(Request& request) {
    auto& image = request.image;
    if (!wants_python(request)) return {};
    const std::string own(request.os->text("python"));
    const bool serves = python_serves(request, *request.os) && is_installed_on(request.facts, own);
    image.python = minor_of(request.text(Field::python));
    if (image.python.empty()) image.python = serves ? own : newest_standalone(request);
    if (image.python.empty()) image.python = own;
    if (serves) {
        image.python_from = "distribution";
        return {};
    }
    const auto row = lookup::standalone_python(request.facts, image.python);
    if (!row || !holds(row->list("arch"), image.arch)) {
        std::vector<std::string> names;
        for (const auto& known : request.facts.rows("standalone_pythons"))
            names.emplace_back(known.text("python"));
        return fmt::format("python {}: {} has {}, and of standalone builds the facts know {}", image.python,
                           image.os, own, text::join(names, ", "));
    }
    image.python_from = "standalone";
    image.python_release = row->text("release");
    // A bootstrapped base fetches it by itself.
    if (image.base_reference.empty()) return {};
    image.installer_reference = installer_image(request);
    return {};
}

std::string installer_image(const Request& request) {
    const auto installers = request.facts.rows("python_images");
    return repository_of(request.facts, "cpu") + ":" + std::string(installers.back().text("tag"));
}

std::string find_installer(Request& request) {
    const auto installers = versions_of(request.facts, "uv");
    const auto resolvers = versions_of(request.facts, "pip");
    if (installers.empty() || resolvers.empty()) return "no fact names what installs wheels (installers)";
    request.image.installer = fmt::format("uv=={}", installers.back().text("version"));
    request.image.resolver =
        fmt::format("pip>={},<={}", resolvers.front().text("version"), resolvers.back().text("version"));
    return {};
}

}  // namespace cudamatrix::family
