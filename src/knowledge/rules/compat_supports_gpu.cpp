// Libraries that come into play in place of the driver's own have to know the GPU as well: a branch that
// dropped an architecture has no compat libraries for it either.
#include "base/text.hpp"
#include "knowledge/resolve/compat_hardware.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/image_content.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// The compat libraries that the cell names, or that its image brings.
struct Libraries {
    Field field = Field::cuda_compat;
    std::string cuda;
    std::vector<FactRef> facts;
};

std::optional<Libraries> libraries_of(const Context& context) {
    if (context.cell.has(Field::cuda_compat))
        return Libraries{Field::cuda_compat, std::string(context.cell.text(Field::cuda_compat)), {}};
    const auto image = compat_in_image(context);
    if (!image) return std::nullopt;
    const auto field = context.cell.has(Field::image) ? Field::image : Field::cuda;
    return Libraries{field, image->cuda, {image_policy(context.facts, image->policy).ref()}};
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

std::string text_of(const Context& context, const Libraries& libraries) {
    auto text = fmt::format("the compat libraries of CUDA {}", libraries.cuda);
    if (libraries.field != Field::image) return text;
    return fmt::format("{} in image {}", text, context.cell.text(Field::image));
}

void judge(const Context& context, Findings& out);

void refuse(const Context& context, const Libraries& libraries, const lookup::Driver& driver,
            const Compat& compat, const Device& gpu, const Row& branch, std::vector<FactRef> facts,
            Findings& out) {
    auto error = finding(
        Severity::error, kStage, "", {libraries.field, gpu.field, Field::driver},
        fmt::format("{} are of driver branch {}, which has no {}: with {} the container toolkit puts them to "
                    "use in place of the driver's own, and they find no device on {}",
                    text_of(context, libraries), branch.text("branch"), gpu.architecture.text("name"),
                    driver_text(driver), gpu.text),
        std::move(facts));
    if (libraries.field != Field::image && compat.native.at_least)
        error.fixes.push_back(set_to(libraries.field, compat.native.at_least->text()));
    Findings found{std::move(error)};
    const auto image = libraries.field == Field::image ? image_content(context) : std::nullopt;
    // A newer CUDA than the driver's own would need its libraries as well.
    const auto runs_without = [&](const Context& other, const ImageContent& content, Findings& findings) {
        const auto cuda = Version::parse(content.cuda);
        const bool needs_none =
            cuda && compat.native.at_least && Version::parse(cuda->major_minor()) <= compat.native.at_least;
        if (!needs_none) findings.push_back(found.front());
        judge(other, findings);
    };
    if (image) offer_other_tags(context, *image, runs_without, found);
    out.push_back(std::move(found.front()));
}

void judge(const Context& context, Findings& out) {
    // GeForce refuses them altogether (forward-compatibility-hardware), Windows and Tegra have none.
    const auto libraries = libraries_of(context);
    if (!libraries || windows_driver(context) || refuses_compat(context) || integrated_gpu(context)) return;
    const auto resolved = host_driver(context);
    const auto* driver = std::get_if<lookup::Driver>(&resolved);
    if (driver == nullptr) return;  // the rules about drivers say so
    const Value value{libraries->cuda, {}, {}};
    const auto cell = context.cell.with(Field::cuda_compat, &value);
    const auto compat = compat_on(context.about(cell), *driver);
    if (compat.use != CompatUse::works) return;  // cuda-compat-matches-driver
    const std::vector<Field> about{libraries->field, Field::gpu, Field::compute, Field::driver};
    const auto question = fmt::format("whether {} have support for it", text_of(context, *libraries));
    const auto known = device(context);
    if (const auto* gap = std::get_if<Unresolved>(&known)) {
        out.push_back(unknown(kStage, "", {gap->field, libraries->field}, *gap, question));
        return;
    }
    const auto& gpu = std::get<Device>(known);
    const auto branch = branch_of(context.facts, compat.cuda);
    if (!branch) {
        const Unresolved gap{libraries->field,
                             fmt::format("no fact knows the driver branch of CUDA {}", compat.cuda.text()),
                             {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    auto facts = libraries->facts;
    facts.insert(facts.end(), gpu.facts.begin(), gpu.facts.end());
    facts.push_back(gpu.architecture.ref());
    facts.push_back(branch->ref());
    cite(facts, context.facts, "policy-compat-hook");
    const auto last = Version::parse(gpu.architecture.text("last_driver_branch"));
    if (last && *last < lookup::required_version(*branch, "branch")) {
        refuse(context, *libraries, *driver, compat, gpu, *branch, std::move(facts), out);
        return;
    }
    accept(context, out, kStage, "", about,
           fmt::format("whether {} support {}", text_of(context, *libraries), gpu.text), std::move(facts));
}

}  // namespace

Rule compat_supports_gpu() {
    return {
        .id = "compat-supports-gpu",
        .stage = kStage,
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
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
