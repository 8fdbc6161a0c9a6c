// Libraries that come into play in place of the driver's own have to know the GPU as well: a branch that
// dropped an architecture has no compat libraries for it either.
#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/image_content.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The compat libraries that the cell names, or that its image brings.
struct CompatLibraries {
    Field field = Field::cuda_compat;
    std::string cuda;
    std::string text;  ///< "the compat libraries of CUDA 12.4"
    std::vector<FactRef> facts;
};

std::optional<CompatLibraries> compat_libraries(const Context& context) {
    CompatLibraries out;
    if (context.cell.has(Field::cuda_compat)) {
        out.cuda = context.cell.text(Field::cuda_compat);
    } else if (const auto image = compat_in_image(context)) {
        out.field = context.cell.has(Field::image) ? Field::image : Field::cuda;
        out.cuda = image->cuda;
        out.facts.push_back(image_policy(context.facts, image->policy).ref());
    } else {
        return std::nullopt;
    }
    out.text = fmt::format("the compat libraries of CUDA {}", out.cuda);
    if (out.field == Field::image) out.text += fmt::format(" in image {}", context.cell.text(Field::image));
    return out;
}

// The first driver branch of a CUDA minor is the one that its compat libraries are of.
std::optional<Row> branch_of(const Facts& facts, const Version& cuda) {
    const auto minor = cuda.major_minor();
    for (const auto& row : facts.rows("driver_branches")) {
        const auto native = Version::parse(row.text("cuda"));
        if (native && native->major_minor() == minor) return row;
    }
    return std::nullopt;
}

void judge_compat_supports_gpu(Ask& ask) {
    // GeForce refuses them altogether (forward-compatibility-hardware), Windows and Tegra have none.
    const auto libraries = compat_libraries(ask);
    if (!libraries || windows_driver(ask) || refuses_compat(ask) || integrated_gpu(ask)) return;
    const auto resolved = host_driver(ask);
    const auto* driver = std::get_if<lookup::Driver>(&resolved);
    if (driver == nullptr) return;  // the rules about drivers say so
    const Value value{libraries->cuda, {}, {}};
    const auto cell = ask.cell.with(Field::cuda_compat, &value);
    const auto compat = compat_on(ask.on(cell), *driver);
    if (compat.use != CompatUse::works) return;  // cuda-compat-matches-driver
    const auto& name = libraries->text;
    const auto device = rules::device(ask);
    if (const auto* gap = std::get_if<Unresolved>(&device)) {
        ask.question({gap->field, libraries->field}, fmt::format("whether {} have support for it", name));
        ask.unknown(*gap);
        return;
    }
    const auto& gpu = std::get<Device>(device);
    ask.question({libraries->field, Field::gpu, Field::compute, Field::driver},
                 fmt::format("whether {} have support for it", name));
    const auto branch = branch_of(ask.facts, compat.cuda);
    if (!branch) {
        ask.unknown(libraries->field, "no fact knows the driver branch of CUDA {}", compat.cuda.text());
        return;
    }
    auto facts = libraries->facts;
    facts.insert(facts.end(), gpu.facts.begin(), gpu.facts.end());
    facts.push_back(gpu.architecture.ref());
    facts.push_back(branch->ref());
    cite(facts, ask.facts, "policy-compat-hook");
    const auto last = Version::parse(gpu.architecture.text("last_driver_branch"));
    if (!last || *last >= lookup::required_version(*branch, "branch")) {
        ask.reword(fmt::format("whether {} support {}", name, gpu.text));
        return ask.accept(std::move(facts));
    }
    ask.question({libraries->field, gpu.field, Field::driver}, {});
    const auto& native = compat.native.at_least;
    auto answer = ask.reject(
        "{} are of driver branch {}, which has no {}: with {} the container toolkit puts them to use in "
        "place of the driver's own, and they find no device on {}",
        name, branch->text("branch"), gpu.architecture.text("name"), driver_text(*driver), gpu.text);
    answer.because(facts);
    if (libraries->field != Field::image && native) answer.fix(libraries->field, native->text());
    if (libraries->field == Field::image) answer.other(Field::image);
}

}  // namespace

Rule compat_supports_gpu() {
    return {
        .id = "compat-supports-gpu",
        .stage = Stage::runtime,
        .summary = "The CUDA compat libraries that come into use are of a driver that still has the GPU.",
        .why =
            "Compat libraries are the user part of a newer driver. The images of nvidia/cuda bring those of "
            "their own CUDA, and on an older driver the container toolkit puts them to use; it does not look "
            "at the GPU. Where the newer branch has dropped the GPU's architecture, the program gets a "
            "library that knows no such GPU, and fails with no CUDA-capable device is detected, although the "
            "driver of the host runs it.",
        .fails = "driver: \"470\", gpu: Tesla K80, cuda_compat: \"11.7\"",
        .passes = "driver: \"470\", gpu: A100 80GB, cuda_compat: \"11.7\"",
        .reads = {Field::cuda_compat, Field::image, Field::family, Field::cuda, Field::driver, Field::gpu,
                  Field::compute, Field::host_class, Field::arch, Field::os, Field::platform, Field::flavour,
                  Field::cudnn, Field::torch, Field::python, Field::toolkit},
        .needs = {{Field::cuda_compat, Field::image, Field::family},
                  {Field::driver},
                  {Field::gpu, Field::compute}},
        .judge = judge_compat_supports_gpu};
}

}  // namespace cudamatrix::rules
