// torchvision, torchaudio, torchtext and torchdata are compiled against one torch: is it the cell's, and of
// the same CUDA?
#include <array>

#include "base/text.hpp"
#include "knowledge/facts/companions.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;
constexpr std::array<std::string_view, 4> kCompanions{"torchvision", "torchaudio", "torchtext", "torchdata"};
std::vector<Field> about() {
    return {Field::packages, Field::torch};
}

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

// The whole map with one version replaced.
FixOption set_package(const Context& context, std::string_view package, std::string_view version) {
    std::string map;
    for (const auto& [name, value] : context.cell.value(Field::packages)->items) {
        map += fmt::format("{}{}={}", map.empty() ? "" : ",", name, name == package ? version : value);
    }
    return set_to(Field::packages, map, fmt::format("{} {}", package, version));
}

void add_torch_fix(const Context& context, const TorchBuild& build, const Row& row, Finding& finding) {
    if (!row.has("torch")) return;
    const std::string release(row.text("torch"));
    const bool named = context.cell.text(Field::torch).find('+') != std::string_view::npos;
    const auto value = named ? release + "+" + build.torch.variant : release;
    if (lookup::torch(context.facts, value, build.arch)->wheel)
        finding.fixes.push_back(set_to(Field::torch, value));
}

std::string demand_text(const Row& row) {
    return row.has("torch") ? fmt::format("torch {}", row.text("torch"))
                            : fmt::format("torch {} or newer", row.text("torch_min"));
}

void reject_release(const Context& context, const TorchBuild& build, const Wanted& wanted, const Row& row,
                    Findings& out) {
    const auto right = lookup::torch_companion(context.facts, wanted.package, build.torch.exact);
    auto facts = std::vector<FactRef>{row.ref()};
    auto message =
        fmt::format("{} needs {}, not torch {}", wanted.text, demand_text(row), build.torch.exact.text());
    if (right) {
        message += fmt::format(": that goes with {} {}", wanted.package, right->text("version"));
        facts.push_back(right->ref());
    }
    auto error =
        finding(Severity::error, kStage, wanted.package, about(), std::move(message), std::move(facts));
    if (right) {
        const std::string suffix = wanted.variant.empty() ? "" : "+" + build.torch.variant;
        error.fixes.push_back(
            set_package(context, wanted.package, std::string(right->text("version")) + suffix));
    }
    add_torch_fix(context, build, row, error);
    out.push_back(std::move(error));
}

void judge_variant(const Context& context, const TorchBuild& build, const Wanted& wanted, const Row& row,
                   Findings& out) {
    const auto& torch_variant = build.torch.variant;
    if (wanted.variant.empty() || torch_variant.empty() || wanted.variant == torch_variant) return;
    if (no_such_index(context.facts, torch_variant)) return;
    auto facts = std::vector<FactRef>{row.ref(), build.torch.release->ref()};
    cite(facts, context.facts, "policy-companion-same-cuda");
    auto error = finding(Severity::error, kStage, wanted.package, about(),
                         fmt::format("{} is built for {}, {} for {}: the two must be built for the same",
                                     wanted.text, wanted.variant, build.text, torch_variant),
                         std::move(facts));
    error.fixes.push_back(
        set_package(context, wanted.package, fmt::format("{}+{}", wanted.version, torch_variant)));
    const auto value = fmt::format("{}+{}", build.torch.exact.text(), wanted.variant);
    if (lookup::torch(context.facts, value, build.arch)->wheel)
        error.fixes.push_back(set_to(Field::torch, value));
    out.push_back(std::move(error));
}

void judge_one(const Context& context, const TorchBuild& build, const Wanted& wanted, Findings& out) {
    const auto row = row_of(context.facts, wanted);
    const auto question = fmt::format("whether it goes with torch {}", build.torch.exact.text());
    if (!row) {
        Unresolved gap{Field::packages, fmt::format("no fact knows {}", wanted.text), {}};
        if (const auto right = lookup::torch_companion(context.facts, wanted.package, build.torch.exact)) {
            gap.what +=
                fmt::format(" (torch {} goes with {})", build.torch.exact.text(), right->text("version"));
            gap.near.push_back(set_package(context, wanted.package, right->text("version")));
        }
        out.push_back(unknown(kStage, wanted.package, about(), gap, question));
        return;
    }
    if (lookup::goes_with_torch(*row, build.torch.exact)) {
        const auto before = out.size();
        judge_variant(context, build, wanted, *row, out);
        if (out.size() != before) return;
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              about(),
                              fmt::format("whether {} goes with {}", wanted.text, build.text),
                              {row->ref()}};
        });
    }
    if (row->has("built_for")) {
        const Unresolved gap{Field::packages,
                             fmt::format("{} demands no torch and was built for {}", wanted.text,
                                         listed(row->list("built_for"))),
                             {}};
        auto open = unknown(kStage, wanted.package, about(), gap, question);
        open.facts = {row->ref()};
        out.push_back(std::move(open));
        return;
    }
    reject_release(context, build, wanted, *row, out);
}

void judge(const Context& context, Findings& out) {
    // Beside the torch of NVIDIA's own images no release of theirs was made for it: packages-agree says so.
    if (!wants_wheel(context)) return;
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || never_published(*build)) return;  // torch-built-for-cuda asks
    for (const auto& [name, value] : context.cell.value(Field::packages)->items) {
        for (const auto companion : kCompanions) {
            if (name != companion || value == kCompanionVersion) continue;
            const auto plus = value.find('+');
            judge_one(context, *build,
                      {companion, value.substr(0, plus),
                       plus == value.npos ? std::string() : value.substr(plus + 1),
                       fmt::format("{} {}", name, value)},
                      out);
        }
    }
}

}  // namespace

Rule companions_match_torch() {
    return {
        .id = "companions-match-torch",
        .stage = kStage,
        .summary = "torchvision, torchaudio, torchtext and torchdata are the releases made for that torch.",
        .why =
            "These libraries are compiled against one torch and demand exactly it. With another pip "
            "finds no solution or replaces torch; forced in, the import ends with \"operator "
            "torchvision::nms does not exist\" or an undefined symbol.",
        .fails = "torch: 2.6.0, packages: {torchvision: 0.20.0}",
        .passes = "torch: 2.6.0, packages: {torchvision: 0.21.0, torchaudio: 2.6.0}",
        .reads = {Field::torch, Field::packages, Field::arch, Field::image, Field::family},
        .needs = {{Field::torch}, {Field::packages}},
        .judge = plain(judge),
        .proof = {Attempt::resolve_together, {"{package} {version} depends on torch*"}},
        .add_up = {Field::torch, Field::packages}};
}

}  // namespace cudamatrix::rules
