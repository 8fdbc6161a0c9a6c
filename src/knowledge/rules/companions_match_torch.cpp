// torchvision, torchaudio, torchtext and torchdata are compiled against one torch: is it the cell's, and of
// the same CUDA?
#include <algorithm>
#include <array>

#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::array<std::string_view, 4> kCompanions{"torchvision", "torchaudio", "torchtext", "torchdata"};

struct Wanted {
    std::string_view package;  ///< one of kCompanions
    std::string version;       ///< 0.21.0
    std::string variant;       ///< cu124 of 0.21.0+cu124, or empty
    std::string text;          ///< "torchvision 0.21.0+cu124"
};

std::optional<Row> row_of(const Facts& facts, const Wanted& wanted) {
    const auto version = Version::parse(wanted.version);
    for (const auto& row : facts.rows("torch_companions")) {
        if (row.text("package") == wanted.package && version == lookup::required_version(row, "version"))
            return row;
    }
    return std::nullopt;
}

void reject_release(Ask& ask, const TorchBuild& build, const Wanted& wanted, const Row& row) {
    const auto right = lookup::torch_companion(ask.facts, wanted.package, build.torch.exact);
    const auto demanded = row.has("torch") ? fmt::format("torch {}", row.text("torch"))
                                           : fmt::format("torch {} or newer", row.text("torch_min"));
    const auto goes_with =
        right ? fmt::format(": that goes with {} {}", wanted.package, right->text("version")) : "";
    auto answer =
        ask.reject("{} needs {}, not torch {}{}", wanted.text, demanded, build.torch.exact.text(), goes_with);
    answer.because(row.ref()).because(right);
    if (right) {
        const auto suffix = wanted.variant.empty() ? "" : "+" + build.torch.variant;
        answer.fix(with_package(ask, wanted.package, std::string(right->text("version")) + suffix));
    }
    if (row.has("torch")) answer.other(Field::torch);
}

void judge_release(Ask& ask, const TorchBuild& build, const Wanted& wanted, const Row& row) {
    const auto& variant = build.torch.variant;
    if (wanted.variant.empty() || variant.empty() || wanted.variant == variant ||
        no_such_index(ask.facts, variant)) {
        ask.reword(fmt::format("whether {} goes with {}", wanted.text, build.text));
        ask.record_pass({row.ref()});
        return;
    }
    ask.reject("{} is built for {}, {} for {}: the two must be built for the same", wanted.text,
               wanted.variant, build.text, variant)
        .because(row.ref())
        .because(build.torch.release->ref())
        .because(ask.facts.row("policy-companion-same-cuda"))
        .fix(with_package(ask, wanted.package, fmt::format("{}+{}", wanted.version, variant)))
        .other_build(wanted.variant);
}

void judge_one(Ask& ask, const TorchBuild& build, const Wanted& wanted) {
    const auto& torch = build.torch.exact;
    const auto row = row_of(ask.facts, wanted);
    ask.question({Field::packages, Field::torch}, fmt::format("whether it goes with torch {}", torch.text()),
                 wanted.package);
    if (!row) {
        Unresolved gap{Field::packages, fmt::format("no fact knows {}", wanted.text), {}};
        if (const auto right = lookup::torch_companion(ask.facts, wanted.package, torch)) {
            gap.what += fmt::format(" (torch {} goes with {})", torch.text(), right->text("version"));
            gap.near.push_back(with_package(ask, wanted.package, right->text("version")));
        }
        ask.unknown(gap);
    } else if (lookup::goes_with_torch(*row, torch)) {
        judge_release(ask, build, wanted, *row);
    } else if (row->has("built_for")) {
        ask.unknown(Field::packages, "{} demands no torch and was built for {}", wanted.text,
                    listed(row->list("built_for")))
            .because(row->ref());
    } else {
        reject_release(ask, build, wanted, *row);
    }
}

void judge_companions_match_torch(Ask& ask) {
    // No release was made for the torch of NVIDIA's own images: packages-agree says so.
    if (!wants_wheel(ask)) return;
    const auto torch = torch_build(ask);
    const auto* build = std::get_if<TorchBuild>(&torch);
    if (build == nullptr || never_published(*build)) return;  // torch-built-for-cuda asks
    for (const auto& [name, value] : ask.cell.value(Field::packages)->items) {
        const auto* const companion = std::find(kCompanions.begin(), kCompanions.end(), name);
        const bool is_open = value == kCompanionVersion || value == kAnyVersion;
        if (companion == kCompanions.end() || is_open) continue;
        const auto plus = value.find('+');
        judge_one(
            ask, *build,
            {*companion, value.substr(0, plus), plus == value.npos ? std::string() : value.substr(plus + 1),
             fmt::format("{} {}", name, value)});
    }
}

}  // namespace

Rule companions_match_torch() {
    return {
        .id = "companions-match-torch",
        .stage = Stage::install,
        .summary = "torchvision, torchaudio, torchtext and torchdata are the releases made for that torch.",
        .why =
            "These libraries are compiled against one torch and demand exactly it. With another pip "
            "finds no solution or replaces torch; forced in, the import ends with \"operator "
            "torchvision::nms does not exist\" or an undefined symbol.",
        .fails = "torch: 2.6.0, packages: {torchvision: 0.20.0}",
        .passes = "torch: 2.6.0, packages: {torchvision: 0.21.0, torchaudio: 2.6.0}",
        .reads = {Field::torch, Field::packages, Field::arch, Field::image, Field::family},
        .needs = {{Field::torch}, {Field::packages}},
        .judge = judge_companions_match_torch,
        .proof = {Attempt::resolve_together, {"{package} {version} depends on torch*"}},
        .monotone = {Field::torch, Field::packages},
        .apart = {Field::packages}};
}

}  // namespace cudamatrix::rules
