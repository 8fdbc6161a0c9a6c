// A cell may name an image and nothing of what is in it. The tag says it all the same: its CUDA, and for
// pytorch/pytorch its torch. What the cell leaves out is judged here as those rules would that read it from
// fields; what the cell does say is theirs. The torch of NVIDIA's own images is a build that no wheel has:
// its code is bounded by what the CUDA of the image can make at all, and by the GPUs that its release notes
// name.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/image_content.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// The row that says from which capability on a release is supported: the next one that does, else the last
// one, because later releases never take an older GPU again.
std::optional<Row> support_floor(const Facts& facts, const Row& image) {
    std::optional<Row> floor;
    for (const auto& row : facts.rows("ngc_images")) {
        // The rows are sorted.
        if (!row.has("compute_min")) continue;
        floor = row;
        if (row.text("tag") >= image.text("tag")) break;
    }
    return floor;
}

void judge_code(const Context& context, const ImageContent& image, const lookup::Cuda& cuda,
                const Device& device, Findings& out) {
    const auto arch = device_arch(device.arch);
    const std::vector<Field> about{Field::image, device.field};
    const auto question = fmt::format("whether the torch of {} has code for {}", image.text, device.text);
    auto facts = image.facts;
    facts.insert(facts.end(), device.facts.begin(), device.facts.end());
    const auto open = [&](const std::string& what) {
        out.push_back(unknown(kStage, "gpu", about, {Field::image, what, {}}, question));
        out.back().facts = facts;
    };
    if (!cuda.toolkit) {
        open(fmt::format("no fact lists the targets of CUDA {}", cuda.exact.text()));
        return;
    }
    facts.push_back(cuda.toolkit->ref());
    const auto targets = cuda.toolkit->list("targets");
    const auto below = [&](std::string_view target) { return arch < *fatbin::parse_arch(target); };
    if (std::all_of(targets.begin(), targets.end(), below)) {
        facts.push_back(device.architecture.ref());
        out.push_back(finding(
            Severity::error, kStage, "gpu", about,
            fmt::format("{} has no code for {}: CUDA {}, with which its torch is built, makes none for GPUs "
                        "below {}",
                        image.text, device.text, cuda.exact.text(), targets.front()),
            std::move(facts)));
        return;
    }
    if (!has_sass(targets, arch)) {
        open(
            fmt::format("CUDA {}, with which the torch of {} is built, makes no machine code for {}, and no "
                        "fact says which PTX it holds for the driver to compile",
                        cuda.exact.text(), image.text, device.text));
        return;
    }
    const auto floor = support_floor(context.facts, *image.ngc);
    if (floor && arch < *fatbin::parse_arch(floor->text("compute_min"))) {
        facts.push_back(floor->ref());
        const auto tag = floor->text("tag");
        open(fmt::format("NVIDIA names compute capability {} and newer for image {}:{}{}",
                         floor->text("compute_min"), image.name, tag,
                         tag == image.ngc->text("tag") ? "" : ", the nearest of which a fact says it"));
        return;
    }
    if (floor) facts.push_back(floor->ref());
    accept(context, out, kStage, "gpu", about, question, std::move(facts));
}

void judge_gpu(const Context& context, const ImageContent& image, Findings& out) {
    const auto gpu = device(context);
    const auto question = fmt::format("whether the torch of {} has code for it", image.text);
    if (const auto* gap = std::get_if<Unresolved>(&gpu)) {
        out.push_back(unknown(kStage, "gpu", {gap->field, Field::image}, *gap, question));
        return;
    }
    const auto& known = std::get<Device>(gpu);
    const auto cuda = lookup::cuda(context.facts, image.cuda);
    if (!cuda) {
        const Unresolved gap{Field::image, fmt::format("no fact knows CUDA {}", image.cuda), {}};
        out.push_back(unknown(kStage, "gpu", {Field::image, known.field}, gap, question));
        return;
    }
    judge_code(context, image, *cuda, known, out);
}

// Nothing is known of the content: whatever the cell says of the host is not judged, which has to be said.
void judge_unread(const Context& context, const ImageContent& image, Findings& out) {
    std::vector<Field> about{Field::image};
    std::string host;
    for (const auto field : {Field::driver, Field::gpu, Field::compute}) {
        if (!context.cell.has(field)) continue;
        about.push_back(field);
        host += fmt::format("{}{} {}", host.empty() ? "" : ", ", info(field).name, context.cell.text(field));
    }
    out.push_back(unknown(kStage, "content", std::move(about), image.gap,
                          fmt::format("whether its CUDA and torch run on {}", host)));
    out.back().facts = image.facts;
}

void judge_content(const Context& context, const ImageContent& image, Findings& out) {
    const auto& cell = context.cell;
    const bool on_gpu = cell.has(Field::gpu) || cell.has(Field::compute);
    const bool says_cuda = cell.has(Field::cuda), says_torch = cell.has(Field::torch) && !image.own_torch;
    if (!image.gap.what.empty()) {
        if (!says_cuda && !says_torch) judge_unread(context, image, out);
        return;
    }
    if (!image.cuda.empty() && cell.has(Field::driver) && !says_cuda && !says_torch)
        judge_as(context, image, driver_supports_cuda(), Field::cuda, image.cuda, "driver", out);
    if (!image.cuda.empty() && cell.has(Field::driver) && !says_cuda)
        judge_as(context, image, ptx_newer_than_driver(), Field::cuda, image.cuda, "ptx", out);
    if (!image.torch.empty() && on_gpu && !says_torch)
        judge_as(context, image, torch_ships_compute(), Field::torch, image.torch, "gpu", out);
    if (image.ngc && on_gpu && !says_torch) judge_gpu(context, image, out);
}

void judge_family(const Context& context, Findings& out);

// Another CUDA whose newest image with the rest of what the cell says runs there.
void offer_other_cuda(const Context& context, Findings& out) {
    const auto rows = context.facts.rows("ngc_images");
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
        if (!row->has("cuda")) continue;
        const Value value{std::string(row->text("cuda")), {}, {}};
        const auto cell = context.cell.with(Field::cuda, &value);
        const Context other{cell, context.facts, context.today, false};
        const auto image = ngc_image_of_family(other);
        if (!image || !image->row || image->row->id() != row->id()) continue;
        Findings found;
        judge_family(other, found);
        if (cell.has(Field::driver)) {
            Ask ask(other, Stage::runtime, found);
            driver_supports_cuda().judge(ask);
        }
        if (std::any_of(found.begin(), found.end(),
                        [](const Finding& each) { return each.verdict() >= Verdict::unknown; }))
            continue;
        for (auto& finding : out) {
            if (finding.severity == Severity::error) finding.fixes.push_back(set_to(Field::cuda, value.text));
        }
        return;
    }
}

// The image that family ngc is built on, judged as if the cell named it; the family stands for it.
void judge_family(const Context& context, Findings& out) {
    const auto image = ngc_image_of_family(context);
    if (!image || !image->row) return;  // image-tag-exists says that none is known
    const Value reference{fmt::format("{}:{}", image->repository, image->row->text("tag")), {}, {}};
    const auto named = context.cell.with(Field::image, &reference);
    const auto cell = named.with(Field::torch, nullptr);
    Findings found;
    Acceptances accepted;
    auto other = context.about(cell);
    if (context.accepted != nullptr) other.accepted = &accepted;
    judge_content(other, *image_content(other), found);
    for (auto& finding : found) {
        if (finding.primary == Field::image) finding.primary = Field::family;
        std::replace(finding.about.begin(), finding.about.end(), Field::image, Field::family);
        std::erase_if(finding.fixes, [](const FixOption& fix) {
            return std::any_of(fix.set.begin(), fix.set.end(),
                               [](const auto& set) { return set.first == Field::image; });
        });
        out.push_back(std::move(finding));
    }
    const bool rejected = std::any_of(out.begin(), out.end(),
                                      [](const Finding& each) { return each.severity == Severity::error; });
    if (context.wants_fixes && rejected) offer_other_cuda(context, out);
    for (auto& each : accepted) {
        std::replace(each.about.begin(), each.about.end(), Field::image, Field::family);
        context.accepted->push_back(std::move(each));
    }
}

// A digest decides what it is. Of most images the rules about wheels judge the torch that the cell names all
// the same; that of NVIDIA's own is none.
void judge_pinned(const Context& context, Findings& out) {
    const auto own = wants_torch(context) ? image_torch(context) : std::nullopt;
    if (!own) return;
    out.push_back(unknown_of(context, *own, kStage, "content", Field::image, "what is in the pinned",
                             "whether its CUDA and torch run there"));
}

// Of a repository that no fact describes nothing is known, and the cell says nothing of its content either.
void say_unlisted(const Context& context, Findings& out) {
    const auto& cell = context.cell;
    const auto reference = image_reference(cell.text(Field::image));
    if (reference.pinned || image_repository(context.facts, reference.repository)) return;
    if (cell.has(Field::cuda) || cell.has(Field::torch)) return;
    out.push_back(finding(Severity::note, kStage, "content", {Field::image},
                          fmt::format("no fact describes the images of {}: whether what is in them runs on "
                                      "the host is not checked; cuda and torch can say what it is",
                                      reference.repository),
                          {}));
}

void judge(const Context& context, Findings& out) {
    if (!context.cell.has(Field::image)) return judge_family(context, out);
    const auto image = image_content(context);
    if (!image) {
        say_unlisted(context, out);
        return judge_pinned(context, out);
    }
    judge_content(context, *image, out);
    offer_other_tags(context, *image, judge_content, out);
}

}  // namespace

Rule image_content_runs() {
    return {
        .id = "image-content-runs",
        .stage = kStage,
        .summary =
            "The host runs the CUDA and the torch that the image's tag stands for, where the cell names "
            "none; of family ngc, those of the image that it is built on.",
        .why =
            "A tag names the CUDA inside, and for pytorch/pytorch the torch wheel. Nothing stops such an "
            "image from starting on a driver that is too old or a GPU that the wheel has no code for: it "
            "fails at the first call of CUDA, or at the first kernel. Of a tag that moves, or whose content "
            "no "
            "fact gives, that is unknown.",
        .fails = "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 470.161.03",
        .passes =
            "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 570.124.06, compute: \"12.0\"",
        .reads = {Field::image, Field::driver, Field::cuda, Field::torch, Field::gpu, Field::compute,
                  Field::host_class, Field::arch, Field::os, Field::platform, Field::cuda_compat,
                  Field::family, Field::python, Field::uses, Field::arch_list, Field::env},
        .needs = {{Field::image, Field::family}, {Field::driver, Field::gpu, Field::compute}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
