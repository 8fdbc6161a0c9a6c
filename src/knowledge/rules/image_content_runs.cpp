// A cell may name an image and nothing of what is in it. The tag says it all the same: its CUDA, and for
// pytorch/pytorch its torch. What the cell leaves out is judged here as those rules would that read it from
// fields; what the cell does say is theirs. The torch of NVIDIA's own images is a build that no wheel has:
// its code is bounded by what the CUDA of the image can make at all, and by the GPUs that its release notes
// name.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/image_content.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

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

void judge_code(Ask& ask, const ImageContent& image, const lookup::Cuda& cuda, const Device& device) {
    const auto arch = device_arch(device.arch);
    ask.question({Field::image, device.field},
                 fmt::format("whether the torch of {} has code for {}", image.text, device.text), "gpu");
    auto facts = image.facts;
    facts.insert(facts.end(), device.facts.begin(), device.facts.end());
    if (!cuda.toolkit) {
        ask.unknown(Field::image, "no fact lists the targets of CUDA {}", cuda.exact.text()).because(facts);
        return;
    }
    facts.push_back(cuda.toolkit->ref());
    const auto targets = cuda.toolkit->list("targets");
    const auto below = [&](std::string_view target) { return arch < *fatbin::parse_arch(target); };
    if (std::all_of(targets.begin(), targets.end(), below)) {
        ask.reject(
               "{} has no code for {}: CUDA {}, with which its torch is built, makes none for GPUs below {}",
               image.text, device.text, cuda.exact.text(), targets.front())
            .because(facts)
            .because(device.architecture.ref());
        return;
    }
    if (!has_sass(targets, arch)) {
        ask.unknown(Field::image,
                    "CUDA {}, with which the torch of {} is built, makes no machine code for {}, and no fact "
                    "says which PTX it holds for the driver to compile",
                    cuda.exact.text(), image.text, device.text)
            .because(facts);
        return;
    }
    const auto floor = support_floor(ask.facts, *image.ngc);
    if (floor) facts.push_back(floor->ref());
    if (floor && arch < *fatbin::parse_arch(floor->text("compute_min"))) {
        const auto tag = floor->text("tag");
        ask.unknown(Field::image, "NVIDIA names compute capability {} and newer for image {}:{}{}",
                    floor->text("compute_min"), image.name, tag,
                    tag == image.ngc->text("tag") ? "" : ", the nearest of which a fact says it")
            .because(facts);
        return;
    }
    ask.accept(std::move(facts));
}

void judge_gpu(Ask& ask, const ImageContent& image) {
    const auto gpu = device(ask);
    const auto question = fmt::format("whether the torch of {} has code for it", image.text);
    if (const auto* gap = std::get_if<Unresolved>(&gpu)) {
        ask.question({gap->field, Field::image}, question, "gpu");
        ask.unknown(*gap);
        return;
    }
    const auto& known = std::get<Device>(gpu);
    if (const auto cuda = lookup::cuda(ask.facts, image.cuda)) return judge_code(ask, image, *cuda, known);
    ask.question({Field::image, known.field}, question, "gpu");
    ask.unknown(Field::image, "no fact knows CUDA {}", image.cuda);
}

// Nothing is known of the content: whatever the cell says of the host is not judged, which has to be said.
void judge_unread(Ask& ask, const ImageContent& image) {
    std::vector<Field> about{Field::image};
    std::string host;
    for (const auto field : {Field::driver, Field::gpu, Field::compute}) {
        // Of its libraries judge_libraries says whether they run on the GPU.
        if (!ask.cell.has(field) || (field != Field::driver && layers_read(ask, image))) continue;
        about.push_back(field);
        host += fmt::format("{}{} {}", host.empty() ? "" : ", ", info(field).name, ask.cell.text(field));
    }
    if (host.empty()) return;
    ask.question(std::move(about), fmt::format("whether its CUDA and torch run on {}", host), "content");
    ask.unknown(image.gap).because(image.facts);
}

void judge_content_runs(Ask& ask, const ImageContent& image) {
    const auto& cell = ask.cell;
    const bool on_gpu = cell.has(Field::gpu) || cell.has(Field::compute);
    const bool says_cuda = cell.has(Field::cuda), says_torch = cell.has(Field::torch) && !image.own_torch;
    if (image.other && on_gpu) judge_libraries(ask, image);
    if (!image.gap.what.empty()) {
        if (!says_cuda && !says_torch) judge_unread(ask, image);
        return;
    }
    if (!image.cuda.empty() && cell.has(Field::driver) && !says_cuda && !says_torch)
        judge_as(ask, image, driver_supports_cuda(), Field::cuda, image.cuda, "driver");
    if (!image.cuda.empty() && cell.has(Field::driver) && !says_cuda)
        judge_as(ask, image, ptx_newer_than_driver(), Field::cuda, image.cuda, "ptx");
    if (!image.torch.empty() && on_gpu && !says_torch)
        judge_as(ask, image, torch_ships_compute(), Field::torch, image.torch, "gpu");
    if (image.ngc && on_gpu && !says_torch) judge_gpu(ask, image);
}

// The image that family ngc is built on, judged as if the cell named it; the family stands for it.
void judge_family_runs(Ask& ask) {
    const auto image = ngc_image_of_family(ask);
    if (!image || !image->row) return;  // image-tag-exists says that none is known
    const Value reference{fmt::format("{}:{}", image->repository, image->row->text("tag")), {}, {}};
    const auto named = ask.cell.with(Field::image, &reference);
    const auto cell = named.with(Field::torch, nullptr);
    Findings found;
    Acceptances accepted;
    auto other = ask.on(cell).into(found, ask.accepted == nullptr ? nullptr : &accepted);
    judge_content_runs(other, *image_content(other));
    for (auto& finding : found) {
        if (finding.primary == Field::image) finding.primary = Field::family;
        std::replace(finding.about.begin(), finding.about.end(), Field::image, Field::family);
        finding.drop_bounds(Field::image);
        ask.out().push_back(std::move(finding));
    }
    for (auto& finding : ask.out()) {
        if (finding.severity == Severity::error) Answer(finding).other(Field::cuda);
    }
    for (auto& each : accepted) {
        std::replace(each.about.begin(), each.about.end(), Field::image, Field::family);
        ask.accepted->push_back(std::move(each));
    }
}

// A digest decides what it is. Of most images the rules about wheels judge the torch that the cell names all
// the same; that of NVIDIA's own is none.
void judge_pinned(Ask& ask) {
    const auto own = wants_torch(ask) ? image_torch(ask) : std::nullopt;
    if (!own) return;
    ask.question(own->about(ask, Field::image), "whether its CUDA and torch run there", "content");
    unknown_of(ask, *own, "what is in the pinned");
}

// Of an image that no fact describes nothing is known, and the cell says nothing of its content either.
void say_unlisted(Ask& ask) {
    const auto reference = image_reference(ask.cell.text(Field::image));
    if (reference.pinned || image_repository(ask.facts, reference.repository)) return;
    if (ask.cell.has(Field::cuda) || ask.cell.has(Field::torch)) return;
    ask.question({Field::image}, {}, "content");
    ask.unknown_as(
        "no fact describes the images of {}: whether what is in them runs on the host is unknown; cuda and "
        "torch can say what it is",
        reference.repository);
}

void judge_image_content_runs(Ask& ask) {
    if (!ask.cell.has(Field::image)) return judge_family_runs(ask);
    const auto image = image_content(ask);
    if (!image) {
        say_unlisted(ask);
        return judge_pinned(ask);
    }
    judge_content_runs(ask, *image);
    offer_other_tags(ask);
}

}  // namespace

Rule image_content_runs() {
    return {
        .id = "image-content-runs",
        .stage = Stage::runtime,
        .summary =
            "The host runs the CUDA and the torch that the image's tag stands for, where the cell names "
            "none; of family ngc, those of the image that it is built on.",
        .why =
            "A tag names the CUDA inside, and for pytorch/pytorch the torch wheel. Nothing stops such an "
            "image from starting on a driver that is too old or a GPU that the wheel has no code for: it "
            "fails at the first call of CUDA, or at the first kernel. Of a tag that moves, or whose content "
            "no fact gives, that is unknown. Of other images whose layers were read (--look=deep), each "
            "library has to hold code for the GPU.",
        .fails = "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 470.161.03",
        .passes =
            "image: \"pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime\", driver: 570.124.06, compute: \"12.0\"",
        .reads = {Field::image, Field::driver, Field::cuda, Field::torch, Field::gpu, Field::compute,
                  Field::host_class, Field::arch, Field::os, Field::platform, Field::cuda_compat,
                  Field::family, Field::python, Field::uses, Field::arch_list, Field::env},
        .needs = {{Field::image, Field::family}, {Field::driver, Field::gpu, Field::compute}},
        .judge = judge_image_content_runs};
}

}  // namespace cudamatrix::rules
