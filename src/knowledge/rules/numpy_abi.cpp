// numpy 2 changed its binary interface: modules compiled against 1.x do not load beside it, and few of them
// say so in their demands.
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

void judge_package(Ask& ask, const Package& package, const Package& numpy, const Row& row) {
    const bool is_torch = package.field == Field::torch;
    ask.question(is_torch ? std::vector{Field::packages, Field::torch} : std::vector{Field::packages}, {},
                 row.text("package"));
    auto answer =
        ask.say(severity_in(row), fmt::format("{} was compiled against NumPy 1.x; the cell has {}: {}",
                                              package.text, numpy.text, row.text("consequence")));
    answer.because(row.ref()).other_release(numpy.name);
    is_torch ? answer.other(Field::torch) : answer.other_release(package.name);
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

void judge_own_torch(Ask& ask, const ImageTorch& torch, const Package& numpy) {
    const auto row = numpy_row(ask.facts, torch);
    const auto limit = row ? pep440::Version::parse(row->text("numpy_below")) : std::nullopt;
    // What was compiled for 2 loads with 1.x, too.
    if (*numpy.version < *pep440::Version::parse("2")) return;
    ask.question(torch.about(ask, Field::packages),
                 fmt::format("whether {} was compiled for {}", torch.text, numpy.text), "torch");
    if (!limit) {
        ask.unknown(torch.field, "no fact says for which numpy the torch was compiled in {}", torch.image)
            .because(torch.facts())
            .fix(without_package(ask, numpy.name));
        return;
    }
    if (*numpy.version < *limit) return;
    auto answer = ask.degrade(
        "{} was compiled against NumPy 1.x; the cell has {}: conversions between tensors and arrays fail "
        "(\"Numpy is not available\")",
        torch.text, numpy.text);
    answer.because(torch.facts());
    if (row->id() != torch.row->id()) answer.because(row->ref());
    answer.fix(without_package(ask, numpy.name));
}

void judge_numpy_abi(Ask& ask) {
    auto packages = packages_of(ask);
    std::optional<Package> numpy;
    for (const auto& package : packages) {
        if (package.name == "numpy" && package.version) numpy = package;
    }
    if (!numpy) return;
    if (const auto own = image_torch(ask)) {
        judge_own_torch(ask, *own, *numpy);
    } else if (auto torch = torch_package(ask)) {
        packages.push_back(*std::move(torch));
    }
    const auto machine = machine_of(ask);
    for (const auto& row : ask.facts.rows("package_numpy_abi")) {
        if (!lookup::is_about_system(row, machine.system)) continue;
        for (const auto& package : packages) {
            if (package.name != row.text("package") || !package.version) continue;
            if (covers(row, "versions", *package.version) && covers(row, "numpy", *numpy->version)) {
                judge_package(ask, package, *numpy, row);
                continue;
            }
            ask.question({Field::packages}, [&] {
                return fmt::format("whether {} was compiled for {}", package.text, numpy->text);
            });
            ask.affirm("no mismatch between the numpy ABI of {} and {} is known", package.text, numpy->text);
            ask.record_pass(row);
        }
    }
}

}  // namespace

Rule numpy_abi() {
    return {
        .id = "numpy-abi",
        .stage = Stage::runtime,
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
        .judge = judge_numpy_abi,
        .monotone = {Field::packages, Field::torch}};
}

}  // namespace cudamatrix::rules
