// A cell may name an image and nothing of what is in it. The tag says it all the same: its CUDA, and for
// pytorch/pytorch its torch. What the cell leaves out is judged here as those rules would that read it from
// fields; what the cell does say is theirs.
#include <algorithm>

#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/compat_hardware.hpp"
#include "rules/images.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// What the image holds; empty where its name does not tell.
struct Content {
    std::string text;  ///< "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
    std::string name;  ///< "pytorch/pytorch"
    std::string cuda;
    std::optional<PytorchTag> pytorch;
    std::vector<FactRef> facts;
};

std::optional<Content> content_of(const Context& context) {
    const auto reference = image_reference(context.cell.text(Field::image));
    const auto repository = image_repository(context.facts, reference.repository);
    if (!repository || reference.pinned) return std::nullopt;  // a digest may be anything
    Content out{fmt::format("image {}:{}", reference.name, reference.tag), reference.name, {}, {}, {}};
    const auto scheme = repository->text("scheme");
    if (scheme == "cuda") {
        const auto tag = cuda_tag(reference.tag);
        if (!tag) return std::nullopt;
        out.cuda = tag->cuda;
        cite(out.facts, context.facts, "image-policy-cuda-tag-form");
    } else if (scheme == "pytorch") {
        out.pytorch = pytorch_tag(reference.tag);
        if (!out.pytorch) return std::nullopt;
        out.cuda = out.pytorch->cuda;
        cite(out.facts, context.facts, "image-policy-pytorch-tag-form");
    } else if (const auto row = context.facts.row("ngc-pytorch-" + reference.tag)) {
        out.cuda = row->text("cuda");
        out.facts = {row->ref()};
    }
    return out;
}

// The other rule's answer, about the image in place of the field that the cell does not have. Its ways out
// would set that field against the image: only those by the host stay.
Finding about_image(const Content& image, Finding found, Field stands_for, std::string_view aspect) {
    found.aspect = aspect;
    found.primary = found.primary == stands_for ? Field::image : found.primary;
    std::replace(found.about.begin(), found.about.end(), stands_for, Field::image);
    found.message = fmt::format("{}: {}", image.text, found.message);
    found.facts.insert(found.facts.begin(), image.facts.begin(), image.facts.end());
    std::erase_if(found.fixes, [](const FixOption& fix) {
        return std::any_of(fix.set.begin(), fix.set.end(),
                           [](const auto& set) { return set.first != Field::driver; });
    });
    return found;
}

void judge_as(const Context& context, const Content& image, const Rule& rule, Field field,
              const std::string& value, std::string_view aspect, Findings& out) {
    const Value stands_in{value, {}, {}};
    const auto cell = context.cell.with(field, &stands_in);
    Findings found;
    rule.judge({cell, context.facts, context.today, context.wants_fixes, context.memo}, found);
    for (auto& finding : found) {
        // Notes and gaps about the tag itself belong to the rules about images.
        const bool is_gap = finding.severity == Severity::unknown && finding.primary == field;
        if (!is_gap && finding.severity != Severity::note)
            out.push_back(about_image(image, std::move(finding), field, aspect));
    }
}

bool on_gpu(const Context& context) {
    return context.cell.has(Field::gpu) || context.cell.has(Field::compute);
}

void judge_content(const Context& context, const Content& image, Findings& out) {
    const bool says_cuda = context.cell.has(Field::cuda), says_torch = context.cell.has(Field::torch);
    if (!image.cuda.empty() && context.cell.has(Field::driver) && !says_cuda && !says_torch)
        judge_as(context, image, driver_supports_cuda(), Field::cuda, image.cuda, "driver", out);
    if (image.pytorch && on_gpu(context) && !says_torch) {
        judge_as(context, image, torch_ships_compute(), Field::torch,
                 image.pytorch->torch + "+" + image.pytorch->variant(), "gpu", out);
    }
}

bool runs(const Context& context, const std::string& tag, const Content& image) {
    const Value value{image.name + ":" + tag, {}, {}};
    const auto cell = context.cell.with(Field::image, &value);
    const Context other{cell, context.facts, context.today, false, nullptr};
    const auto content = content_of(other);
    Findings found;
    if (content) judge_content(other, *content, found);
    return content && std::none_of(found.begin(), found.end(), [](const Finding& finding) {
               return finding.verdict() >= Verdict::unknown;
           });
}

// The nearest tags of pytorch/pytorch that run there: of the same torch, else of the next newer and the next
// older one.
std::vector<FixOption> other_tags(const Context& context, const Content& image) {
    const auto* table = context.facts.table("pytorch_images");
    const auto torch = image.pytorch ? Version::parse(image.pytorch->torch) : std::nullopt;
    if (!context.wants_fixes || table == nullptr || !torch) return {};
    std::optional<std::string> same, newer, older;
    for (const auto& row : table->rows) {
        const auto release = Version::parse(row.text("torch"));
        if (row.text("exists") != "true" || !release ||
            !contains(row.list("flavours"), image.pytorch->flavour))
            continue;
        for (const auto cuda : row.list("cuda")) {
            const auto tag = PytorchTag{std::string(row.text("torch")), std::string(cuda),
                                        std::string(row.text("cudnn")), image.pytorch->flavour}
                                 .text();
            auto& best = *release == *torch ? same : *release > *torch ? newer : older;
            if (&best == &newer && newer) continue;  // rows ascend: the first is the nearest
            if (runs(context, tag, image)) best = tag;
        }
    }
    std::vector<FixOption> out;
    const auto offer = [&](const std::optional<std::string>& tag) {
        if (tag) out.push_back(set_to(Field::image, image.name + ":" + *tag));
    };
    offer(same);
    if (!same) {
        offer(newer);
        offer(older);
    }
    return out;
}

void judge(const Context& context, Findings& out) {
    const auto image = content_of(context);
    if (!image) return;
    judge_content(context, *image, out);
    for (auto& finding : out) {
        if (finding.severity != Severity::error) continue;
        auto tags = other_tags(context, *image);
        finding.fixes.insert(finding.fixes.end(), tags.begin(), tags.end());
    }
}

}  // namespace

Rule image_content_runs() {
    return {
        .id = "image-content-runs",
        .stage = kStage,
        .summary =
            "The host runs the CUDA and the torch that the image's tag names, where the cell does not.",
        .why =
            "A tag names the CUDA inside, and for pytorch/pytorch the torch wheel. Nothing stops such an "
            "image from starting on a driver that is too old or a GPU that the wheel has no code for: it "
            "fails at the first call of CUDA, or at the first kernel.",
        .fails = "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 470.161.03",
        .passes =
            "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 570.124.06, compute: \"12.0\"",
        .reads = {Field::image, Field::driver, Field::cuda, Field::torch, Field::gpu, Field::compute,
                  Field::host_class, Field::arch, Field::os, Field::platform, Field::cuda_compat,
                  Field::family},
        .needs = {{Field::image}, {Field::driver, Field::gpu, Field::compute}},
        .judge = judge};
}

}  // namespace cudamatrix::rules
