// debian: a distribution's own archive, bootstrapped, with the toolkit of the archive or of NVIDIA's wheels.
#include <algorithm>

#include "base/text.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

constexpr std::string_view kName = "debian";

std::vector<std::string> strings(std::span<const std::string_view> values) {
    return {values.begin(), values.end()};
}

// Whether a distribution may be chosen for a cell that names none.
bool has_toolkit(const Request& request, const Row& os) {
    return !request.cuda || lookup::toolkit_source(request.facts, kName, os.text("os"), request.cuda->exact,
                                                   request.text(Field::cuda_from));
}

std::string find_os(Request& request) {
    std::vector<std::string> names;
    std::optional<Row> best;
    std::pair<bool, bool> best_has;
    const auto wanted = request.text(Field::os);
    for (const auto& row : request.facts.rows("operating_systems")) {
        if (row.text("render") != "true" || !row.text("os").starts_with(kName)) continue;
        names.emplace_back(row.text("os"));
        if (wanted.empty() ? !has_toolkit(request, row) : row.text("os") != wanted) continue;
        // The newest, but rather one that has the compiler of the cell, or whose own python is the cell's.
        const std::pair has(has_compiler(request, row), python_serves(request, row));
        if (best && has < best_has) continue;
        best = row;
        best_has = has;
    }
    if (!best && wanted.empty()) {
        return fmt::format("no distribution of family {} has all that the cell needs ({} were tried)", kName,
                           text::join(names, ", "));
    }
    if (!best) {
        return fmt::format("os {} is judged but not rendered: family {} is rendered on {}", wanted, kName,
                           text::join(names, ", "));
    }
    request.os = best;
    request.image.os = best->text("os");
    request.image.suite = best->text("codename");
    request.image.package_manager = "apt";
    return {};
}

std::string find_source(Request& request) {
    auto& image = request.image;
    if (!request.cuda) return {};
    const auto from = request.text(Field::cuda_from);
    const auto row = lookup::toolkit_source(request.facts, kName, image.os, request.cuda->exact, from);
    if (!row) {
        return fmt::format("CUDA {} has no source{} for family {} on {}", image.cuda,
                           from.empty() ? "" : " (" + from + ")", kName, image.os);
    }
    image.cuda_source = row->id();
    image.cuda_from = row->text("cuda_from");
    image.cuda_unpack = strings(row->list("unpack"));
    image.cuda_packages = strings(row->list("package"));
    image.cuda_runtime = strings(row->list("runtime"));
    image.cuda_pins = strings(row->list("pins"));
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

}  // namespace

std::span<const Step> debian_steps() {
    static constexpr Step steps[] = {find_toolkit,     find_torch,      find_torch_index, find_os,
                                     find_source,      find_compiler,   find_python,      find_companions,
                                     find_constraints, find_environment};
    return steps;
}

}  // namespace cudamatrix::family
