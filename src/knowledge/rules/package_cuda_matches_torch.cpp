// Packages built for one CUDA major load its libraries by name (libcublas.so.12). They come with the torch
// wheel or with the image; where neither has that major, they are not there.
#include <algorithm>

#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// What the cell brings: the CUDA of the torch build and that of the image, where they are known.
struct CudaLibraries {
    std::string torch, image;  ///< "12.4", "11.8.0"
    std::string torch_text;
};

CudaLibraries cuda_libraries(const Context& context) {
    CudaLibraries out;
    out.torch = torch_cuda(context);
    const auto torch = torch_package(context);
    if (torch && !out.torch.empty()) out.torch_text = torch->text;
    if (context.cell.has(Field::cuda)) {
        const auto resolved = image_cuda(context);
        if (const auto* cuda = std::get_if<lookup::Cuda>(&resolved)) out.image = cuda->exact.text();
    }
    return out;
}

// Is the package built for the CUDA of that version? One that picks among libraries of its own has to have
// that minor's.
bool is_for(const Row& row, std::string_view cuda) {
    const auto version = Version::parse(cuda);
    if (!version) return false;
    if (const auto least = Version::parse(row.text("cuda_min"))) return *version >= *least;
    if (row.has("cuda_minors")) return contains(row.list("cuda_minors"), version->major_minor());
    if (row.has("cuda_majors")) return contains(row.list("cuda_majors"), std::to_string(version->major()));
    return std::to_string(version->major()) == row.text("cuda_major");
}

// "12", "11.7, 11.8", "12.0 or newer".
std::string built_for(const Row& row) {
    if (row.has("cuda_min")) return fmt::format("{} or newer", row.text("cuda_min"));
    for (const auto* column : {"cuda_minors", "cuda_majors"}) {
        if (row.has(column)) return listed(row.list(column));
    }
    return std::string(row.text("cuda_major"));
}

bool takes_torch(const Row& row) {
    return row.text("of_image") != "true";
}

bool takes_image(const Row& row) {
    return row.text("needs_torch") != "true";
}

// The CUDA that the package finds, of the wheel of torch or of the image; empty: none that it takes.
std::string found_by(const Row& row, const CudaLibraries& libraries) {
    if (takes_torch(row) && is_for(row, libraries.torch)) return libraries.torch;
    if (!takes_image(row) || !is_for(row, libraries.image)) return {};
    return libraries.image;
}

// Whether the cell says nothing of the libraries that the package looks for.
bool is_open(const Row& row, const CudaLibraries& libraries) {
    return (!takes_torch(row) || libraries.torch.empty()) && (!takes_image(row) || libraries.image.empty());
}

std::string text_of(const CudaLibraries& libraries) {
    std::string out;
    if (!libraries.torch.empty())
        out = fmt::format("{}, built for CUDA {}", libraries.torch_text, libraries.torch);
    if (!libraries.image.empty())
        out += fmt::format("{}CUDA {}{}", out.empty() ? "" : ", and ", libraries.image,
                           libraries.torch.empty() ? "" : " in the image");
    return out;
}

// The same software for another major: cupy-cuda12x for cupy-cuda11x, at its newest release.
std::optional<FixOption> renamed(const Context& context, const Package& package, const Row& row,
                                 const CudaLibraries& libraries) {
    const auto& version = libraries.torch.empty() ? libraries.image : libraries.torch;
    const auto major = version.substr(0, version.find('.'));
    const auto name = text::replace_all(row.text("instead"), "{major}", major);
    const auto releases = fitting_releases(context.facts, name, [](const PackageRelease&) { return true; });
    if (releases.empty()) return std::nullopt;
    const auto newest = releases.back().version.text();
    const auto* value = context.cell.as_written().value(Field::packages);
    std::string items;
    for (const auto& [other, pin] : value->items) {
        const bool same = pep440::canonical_name(other) == package.name;
        items += fmt::format("{}{}={}", items.empty() ? "" : ",", same ? name : other, same ? newest : pin);
    }
    return set_to(Field::packages, items, fmt::format("{} {} in its place", name, newest));
}

const Row* row_for(std::span<const Row> rows, const Package& package, const pep440::Version& version) {
    for (const auto& row : rows) {
        if (describes(row, package.name, version)) return &row;
    }
    return nullptr;
}

void add_fixes(Ask& ask, const Package& package, const Row& row, const CudaLibraries& libraries,
               Answer answer) {
    if (auto option = renamed(ask, package, row, libraries)) answer.fix(*std::move(option));
    answer.other_release(package.name);
    if (!libraries.torch.empty()) answer.other(Field::torch);
    answer.without(package.name);
}

// A package that holds a library for each CUDA has others in each release: of one that nobody looked into
// nothing is known. A release that no fact knows at all is said by packages-agree.
void judge_gap(Ask& ask, std::span<const Row> rows, const Package& package, const CudaLibraries& libraries) {
    const bool picks = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.text("package") == package.name && row.has("cuda_minors") && !takes_image(row);
    });
    if (!picks || !package.row || libraries.torch.empty()) return;
    ask.question({Field::packages, Field::torch},
                 fmt::format("whether it has one for {}", text_of(libraries)), package.row->text("package"));
    ask.unknown(Field::packages, "no fact says for which CUDA {} holds a library", package.text);
}

void judge_package(Ask& ask, std::span<const Row> rows, const Package& package, CudaLibraries libraries) {
    const auto* row = package.version ? row_for(rows, package, *package.version) : nullptr;
    if (row == nullptr) return judge_gap(ask, rows, package, libraries);
    if (!takes_torch(*row)) libraries.torch.clear();
    std::vector<Field> about{Field::packages};
    if (is_open(*row, libraries)) return;
    if (const auto found = found_by(*row, libraries); !found.empty()) {
        ask.question(std::move(about), fmt::format("whether {}, which takes CUDA {}, finds CUDA {}",
                                                   package.text, built_for(*row), found));
        ask.record_pass({row->ref()});
        return;
    }
    if (!libraries.torch.empty()) about.push_back(Field::torch);
    if (!libraries.image.empty()) about.push_back(Field::cuda);
    ask.question(std::move(about), {}, row->text("package"));
    // Where the cell does not say which CUDA the image has, the image may have the right one.
    const bool open = libraries.image.empty() && takes_image(*row);
    auto answer = ask.say(
        open ? Severity::warning : severity_in(*row),
        fmt::format(
            "{} is built for CUDA {}; the cell has {}: {}{}", package.text, built_for(*row),
            text_of(libraries), row->text("consequence"),
            open ? fmt::format(", unless the image has the libraries of CUDA {}", built_for(*row)) : ""));
    answer.because(row->ref());
    add_fixes(ask, package, *row, libraries, answer);
}

void judge_package_cuda_matches_torch(Ask& ask) {
    const auto libraries = cuda_libraries(ask);
    for (const auto& package : packages_of(ask))
        judge_package(ask, ask.facts.rows("package_cuda"), package, libraries);
}

}  // namespace

Rule package_cuda_matches_torch() {
    return {
        .id = "package-cuda-matches-torch",
        .stage = Stage::runtime,
        .summary = "Packages built for one CUDA major find its libraries in the torch wheel or the image.",
        .why =
            "A binary for CUDA 11 asks the loader for libcublas.so.11 and takes no other. Where torch and "
            "the image bring another major, the import fails (\"cannot open shared object file\") or the "
            "package falls back to the CPU without an error.",
        .fails = "torch: 2.6.0+cu124, cuda: 12.4.1, packages: {cupy-cuda11x: 13.3.0}",
        .passes = "torch: 2.6.0+cu124, cuda: 12.4.1, packages: {cupy-cuda12x: 13.3.0}",
        .reads = {Field::packages, Field::torch, Field::cuda, Field::arch, Field::image, Field::family,
                  Field::python, Field::os},
        .needs = {{Field::packages}, {Field::torch, Field::cuda}},
        .judge = judge_package_cuda_matches_torch,
        .monotone = {Field::packages, Field::torch, Field::cuda},
        .apart = {Field::packages}};
}

}  // namespace cudamatrix::rules
