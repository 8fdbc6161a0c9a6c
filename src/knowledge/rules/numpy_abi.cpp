// numpy 2 changed its binary interface: modules compiled against 1.x do not load beside it, and few of them
// say so in their demands.
#include "base/text.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// The newest release of numpy, older than the cell's, outside what the row excludes.
std::optional<FixOption> older_numpy(const Context& context, const Package& numpy, const Row& row) {
    if (!context.wants_fixes) return std::nullopt;
    const auto older = fitting_releases(context.facts, numpy.name, [&](const Release& release) {
        return release.version < *numpy.version && !covers(row, "numpy", release.version);
    });
    if (older.empty()) return std::nullopt;
    return with_package(context, numpy.name, older.back().version.text());
}

void judge_package(const Context& context, const Package& package, const Package& numpy, const Row& row,
                   Findings& out) {
    std::vector<FactRef> facts{row.ref()};
    std::vector<Field> about{Field::packages};
    if (package.field == Field::torch) about.push_back(Field::torch);
    auto found = finding(severity_in(row), kStage, row.text("package"), about,
                         fmt::format("{} was compiled against NumPy 1.x; the cell has {}: {}", package.text,
                                     numpy.text, row.text("consequence")),
                         std::move(facts));
    if (auto option = older_numpy(context, numpy, row)) found.fixes.push_back(*std::move(option));
    if (package.field == Field::torch) {
        for (auto& option : torch_options(context, [&](const Row& wheel) {
                 return !covers(row, "versions", *pep440::Version::parse(wheel.text("torch")));
             })) {
            found.fixes.push_back(std::move(option));
        }
    } else {
        for (auto& option : release_options(context, package, [&](const Release& release) {
                 return !covers(row, "versions", release.version);
             })) {
            found.fixes.push_back(std::move(option));
        }
    }
    out.push_back(std::move(found));
}

// The row that says from which numpy on NVIDIA's own torch does not load: of the image, else of the next one
// that says it, because a build for the newer interface is not followed by one for the older.
std::optional<Row> numpy_row(const Facts& facts, const ImageTorch& torch) {
    if (!torch.row) return std::nullopt;
    for (const auto& row : facts.rows("ngc_images")) {  // sorted
        if (row.has("numpy_below") && row.text("tag") >= torch.row->text("tag")) return row;
    }
    return std::nullopt;
}

void judge_own_torch(const Context& context, const ImageTorch& torch, const Package& numpy, Findings& out) {
    const auto row = numpy_row(context.facts, torch);
    const auto limit = row ? pep440::Version::parse(row->text("numpy_below")) : std::nullopt;
    const auto question = fmt::format("whether {} was compiled for {}", torch.text, numpy.text);
    if (*numpy.version < *pep440::Version::parse("2"))
        return;  // what was compiled for 2 loads beside 1.x, too
    if (!limit) {
        auto open = unknown_of(context, torch, kStage, "torch", Field::packages,
                               "for which numpy the torch was compiled in", question);
        open.fixes.push_back(without_package(context, numpy.name));
        out.push_back(std::move(open));
        return;
    }
    if (*numpy.version < *limit) return;
    auto facts = torch.facts();
    if (row->id() != torch.row->id()) facts.push_back(row->ref());
    auto found = finding(
        Severity::warning, kStage, "torch", torch.about(context, Field::packages),
        fmt::format("{} was compiled against NumPy 1.x; the cell has {}: conversions between tensors and "
                    "arrays fail (\"Numpy is not available\")",
                    torch.text, numpy.text),
        std::move(facts));
    found.fixes.push_back(without_package(context, numpy.name));
    out.push_back(std::move(found));
}

void judge(const Context& context, Findings& out) {
    auto packages = packages_of(context);
    std::optional<Package> numpy;
    for (const auto& package : packages) {
        if (package.name == "numpy" && package.version) numpy = package;
    }
    if (!numpy) return;
    if (const auto own = image_torch(context)) {
        judge_own_torch(context, *own, *numpy, out);
    } else if (auto torch = torch_package(context)) {
        packages.push_back(*std::move(torch));
    }
    for (const auto& row : context.facts.rows("package_numpy_abi")) {
        for (const auto& package : packages) {
            if (package.name != row.text("package") || !package.version) continue;
            if (covers(row, "versions", *package.version) && covers(row, "numpy", *numpy->version)) {
                judge_package(context, package, *numpy, row, out);
                continue;
            }
            passed(context, [&] {
                return Acceptance{{},
                                  kStage,
                                  {Field::packages},
                                  fmt::format("whether {} was compiled for {}", package.text, numpy->text),
                                  {row.ref()}};
            });
        }
    }
}

}  // namespace

Rule numpy_abi() {
    return {
        .id = "numpy-abi",
        .stage = kStage,
        .summary = "torch and the compiled packages load beside the numpy that the cell pins.",
        .why =
            "numpy 2 changed its binary interface. Modules compiled against 1.x fail to load or lose "
            "their conversions (\"A module that was compiled using NumPy 1.x cannot be run in NumPy 2\"), "
            "although pip installs the pair without a word.",
        .fails = "torch: 2.2.2, packages: {numpy: 2.2.6}",
        .passes = "torch: 2.3.1, packages: {numpy: 2.2.6}",
        .reads = {Field::packages, Field::torch, Field::arch, Field::image, Field::family, Field::cuda,
                  Field::python, Field::os},
        .needs = {{Field::packages}},
        .judge = plain(judge),
        .add_up = {Field::packages, Field::torch}};
}

}  // namespace cudamatrix::rules
