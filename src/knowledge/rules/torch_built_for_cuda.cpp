// Was that torch ever built for that CUDA? A variant that was never published cannot be installed, whatever
// the rest says.
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/nightly.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The variants of the release that have a wheel for the arch; all of the release's where no row tells the
// arches apart.
std::string variants_text(const Facts& facts, const TorchBuild& build) {
    std::vector<std::string_view> variants;
    for (const auto variant : build.torch.release->list("variants")) {
        if (facts.row(fmt::format("torch-{}+{}-{}", build.torch.exact.text(), variant, build.arch)))
            variants.push_back(variant);
    }
    return variants.empty() ? listed(build.torch.release->list("variants")) : listed(variants);
}

// The first release of the CUDA of a variant that facts date ("cu134": 13.4.1).
std::optional<Row> first_release(const Facts& facts, std::string_view variant) {
    std::optional<Row> first;
    for (const auto& row : facts.rows("cuda_releases")) {
        const auto name = "cu" + text::replace_all(row.text("minor"), ".", "");
        if (name != variant || !row.has("released")) continue;
        if (!first || row.text("released") < first->text("released")) first = row;
    }
    return first;
}

// A CUDA that came after the torch: nobody can have built it with that. The days compare as texts.
std::optional<Row> later_cuda(const Facts& facts, const TorchBuild& build) {
    auto cuda = first_release(facts, build.torch.variant);
    const auto& release = *build.torch.release;
    if (!cuda || !release.has("released") || cuda->text("released") <= release.text("released"))
        return std::nullopt;
    return cuda;
}

void judge_torch_release(Ask& ask) {
    ask.question({Field::torch}, "whether it was published");
    const auto build = ask.torch_build();
    if (!build) return;
    ask.reword(fmt::format("whether {} was published", build->text));
    const auto& torch = build->torch;
    if (no_such_index(ask.facts, torch.variant)) return;  // wheel-index-exists says so
    if (no_wheels_for_arch(*build)) return;               // torch-published-for-arch says so
    if (torch.wheel) {
        ask.accept({torch.release->ref(), torch.wheel->ref()});
    } else if (torch.absent) {
        const auto row = torch.absent->ref();
        ask.reject("{} for {} is not on the index of {}, which was looked at on {}", build->text, build->arch,
                   torch.variant, row.as_of)
            .because(torch.release->ref())
            .because(row)
            .other(Field::torch)
            .other_build(torch.variant);
    } else if (never_published(*build)) {
        // The builds for GPUs of other makers (rocm6.2.4, xpu) are in no fact: no claim that there is none.
        const bool foreign = !torch.variant.starts_with("cu") && torch.variant != "cpu";
        ask.reject("{} {}: torch {} was built for {}", build->text,
                   foreign ? "is no build for CUDA" : "was never published", torch.exact.text(),
                   variants_text(ask.facts, *build))
            .because(torch.release->ref())
            .other(Field::torch)
            .other_build(torch.variant);
    } else if (const auto cuda = later_cuda(ask.facts, *build)) {
        ask.reject("{} was never published: torch {} came out on {}, CUDA {} on {}", build->text,
                   torch.exact.text(), torch.release->text("released"), cuda->text("minor"),
                   cuda->text("released"))
            .because(torch.release->ref())
            .because(cuda->ref())
            .other(Field::torch)
            .other_build(torch.variant);
    } else {
        ask.unknown(no_wheel_row(*build));
    }
}

// Nobody can say whether the wheel of a nightly build is still there. What neither release around it was
// built for never was.
void judge_nightly(Ask& ask, const Nightly& nightly) {
    auto around = ask_around(ask, nightly, judge_torch_release);
    const auto release = worst_of(around.of_release, {});
    const bool never = release == Verdict::rejected &&
                       (around.before.empty() || worst_of(around.of_before, {}) == Verdict::rejected);
    if (never) {
        for (auto& each : around.of_release) {
            say_of_nightly(each, nightly);
            ask.out().push_back(std::move(each));
        }
        return;
    }
    if (!nightly.variant.empty() && no_such_index(ask.facts, nightly.variant.substr(1))) return;
    const auto policy = *ask.facts.row("policy-torch-nightlies");
    ask.question({Field::torch}, {});
    auto answer = ask.unknown_as(
        "no fact says whether torch {} can be installed: {}; torch {}, which it goes before, is {}",
        ask.cell.text(Field::torch), policy.text("says"), around.release, to_string(release));
    answer.because(policy.ref());
    for (const auto& each : around.of_release)
        answer.because(each.facts);
    answer.fix(Field::torch, around.release);
}

void judge_torch_built_for_cuda(Ask& ask) {
    if (!wants_wheel(ask)) return;
    const auto nightly = nightly_of(ask.cell.text(Field::torch));
    if (nightly) return judge_nightly(ask, *nightly);
    judge_torch_release(ask);
}

}  // namespace

Rule torch_built_for_cuda() {
    return {.id = "torch-built-for-cuda",
            .stage = Stage::install,
            .summary = "The torch release was published for the CUDA variant that the cell names.",
            .why =
                "Each torch release is published for a few CUDA variants only. Asking pip for another one "
                "ends with \"No matching distribution\", or, without the variant's own index, silently "
                "installs another build.",
            .fails = "torch: 1.12.1+cu118",
            .passes = "torch: 1.12.1+cu113",
            .reads = {Field::torch, Field::arch, Field::family, Field::image},
            .needs = {{Field::torch}},
            .judge = judge_torch_built_for_cuda,
            .proof = {Attempt::resolve_variant, {"ERROR: No matching distribution found for {requirement}"}},
            .judges_nightlies = true};
}

}  // namespace cudamatrix::rules
