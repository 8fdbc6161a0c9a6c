// Code that is in the image as PTX only is compiled by the driver, which knows PTX up to the CUDA that it is
// of: minor-version compatibility does not help here. It is PTX only where the cell says so, or where its
// list of architectures has nothing else for its GPU.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// What compiles the PTX: the driver, or compat libraries that stand in for it.
struct Compiler {
    std::string text;
    std::optional<Version> at_least;  ///< bounds of the PTX ISA that it knows
    std::optional<Version> at_most;
    std::vector<FactRef> facts;
};

// Of a branch without a row of its own the neighbours are bounds: a newer one never knows less.
void narrow(Compiler& compiler, const Row& branch, std::uint32_t driver) {
    const auto number = lookup::required_version(branch, "branch").major();
    const auto isa = Version::parse(branch.text("ptx_isa"));
    if (!isa) return;
    // The rows are sorted.
    if (number <= driver) compiler.at_least = isa;
    if (number >= driver && !compiler.at_most) compiler.at_most = isa;
}

Compiler compiler_of(const Context& context, const lookup::Driver& driver) {
    if (context.cell.has(Field::cuda_compat) && !windows_driver(context)) {
        const auto compat = compat_on(context, driver);
        const auto toolkit = context.facts.row(fmt::format("cuda-toolkit-{}", compat.cuda.text()));
        if (compat.use == CompatUse::works) {
            const auto isa = Version::parse(toolkit->text("ptx_isa"));
            return {fmt::format("the compat libraries of CUDA {}", compat.cuda.text()),
                    isa,
                    isa,
                    {compat.row->ref(), toolkit->ref()}};
        }
    }
    Compiler out{host_driver_text(context, driver), {}, {}, {driver.branch->ref()}};
    if (driver.branch->has("ptx_isa")) {
        out.at_least = out.at_most = Version::parse(driver.branch->text("ptx_isa"));
        return out;
    }
    for (const auto& row : context.facts.rows("driver_branches"))
        narrow(out, row, driver.exact.major());
    return out;
}

// The oldest driver that knows the ISA, and the newest toolkit that writes none newer than `isa`.
void offer(const Context& context, const Version& wanted, const Compiler& compiler, Finding& finding) {
    if (!context.wants_fixes) return;
    for (const auto& row : context.facts.rows("driver_branches")) {
        const auto isa = Version::parse(row.text("ptx_isa"));
        if (!isa || *isa < wanted || !row.has("oldest")) continue;
        const auto least = windows_driver(context) ? row.text("branch") : row.text("oldest");
        finding.fixes.push_back(set_to(Field::driver, least, fmt::format("driver >= {}", least)));
        break;
    }
    std::optional<std::string_view> newest;
    for (const auto& row : context.facts.rows("cuda_toolkits")) {
        if (row.has("newest") && lookup::required_version(row, "ptx_isa") <= *compiler.at_most)
            newest = row.text("newest");
    }
    if (newest) finding.fixes.push_back(set_to(Field::cuda, *newest));
}

// The compiler knows the PTX. Of a list arch-list-covers-gpu names the limit.
void pass(const Context& context, const std::optional<ListedPtx>& listed, const std::string& compiler,
          std::vector<Field> about, std::string_view question, std::vector<FactRef> facts, Findings& out) {
    cite(facts, context.facts, "policy-ptx-jit-forward");
    if (listed) return accept(context, out, kStage, "", std::move(about), question, std::move(facts));
    out.push_back(finding(Severity::warning, kStage, "", std::move(about),
                          fmt::format("code that is PTX only is compiled by {} when it is first loaded: the "
                                      "first start takes longer, and again after each change of the driver",
                                      compiler),
                          std::move(facts)));
}

// The code that fails, in the words of the cell.
std::string code_text(const std::optional<ListedPtx>& listed) {
    if (!listed) return "code that is PTX only";
    return fmt::format("code built with {}, which is PTX only for {},", listed->list.named(),
                       listed->gpu.text);
}

void judge_isa(const Context& context, const std::optional<ListedPtx>& listed, const lookup::Cuda& cuda,
               const lookup::Driver& driver, Findings& out) {
    std::vector<Field> about{Field::cuda, Field::driver};
    if (listed) about.insert(about.end(), {listed->list.field, listed->gpu.field});
    const auto wanted = cuda.toolkit ? Version::parse(cuda.toolkit->text("ptx_isa")) : std::nullopt;
    auto compiler = compiler_of(context, driver);
    const auto question =
        fmt::format("whether {} compiles the PTX of CUDA {}", compiler.text, cuda.exact.text());
    auto facts = std::move(compiler.facts);
    if (cuda.toolkit) facts.push_back(cuda.toolkit->ref());
    if (listed) facts.insert(facts.end(), listed->facts.begin(), listed->facts.end());
    if (!wanted) {
        const Unresolved gap{
            Field::cuda, fmt::format("no fact gives the PTX ISA of CUDA {}", cuda.exact.text()), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    if (compiler.at_least && *wanted <= *compiler.at_least)
        return pass(context, listed, compiler.text, about, question, std::move(facts), out);
    if (!compiler.at_most || *wanted <= *compiler.at_most) {
        const Unresolved gap{
            Field::driver,
            fmt::format("no fact says which PTX driver branch {} compiles", driver.exact.major()),
            {}};
        auto open = unknown(kStage, "", about, gap, question);
        open.facts = std::move(facts);
        out.push_back(std::move(open));
        return;
    }
    cite(facts, context.facts, "policy-ptx-isa-driver");
    auto error = finding(
        Severity::error, kStage, "", about,
        fmt::format("{} compiles PTX up to ISA {}, and CUDA {} writes {}: {} fails with error 222, the "
                    "provided PTX was compiled with an unsupported toolchain",
                    compiler.text, compiler.at_most->text(), cuda.exact.text(), wanted->text(),
                    code_text(listed)),
        std::move(facts));
    if (listed) error.fixes.push_back(with_gpu_in_list(context, listed->list, listed->gpu));
    offer(context, *wanted, compiler, error);
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    std::optional<ListedPtx> listed;
    if (!is_ptx_only(context)) {
        listed = ptx_only_list(context);
        if (!listed) return;
    }
    const auto cuda = image_cuda(context);
    if (const auto* gap = std::get_if<Unresolved>(&cuda)) {
        out.push_back(unknown(kStage, "", {Field::cuda}, *gap, "whether the driver compiles its PTX"));
        return;
    }
    const auto& toolkit = std::get<lookup::Cuda>(cuda);
    const auto question = fmt::format("whether it compiles the PTX of CUDA {}", toolkit.exact.text());
    if (const auto gpu = integrated_gpu(context)) {
        auto open = unknown(kStage, "", {Field::driver, gpu->field}, outside_branches(*gpu),
                            fmt::format("whether driver {} compiles the PTX of CUDA {}",
                                        context.cell.text(Field::driver), toolkit.exact.text()));
        open.facts = gpu->facts;
        cite(open.facts, context.facts, "policy-jetson-driver");
        out.push_back(std::move(open));
        return;
    }
    const auto resolved = host_driver(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "", {Field::driver, Field::cuda}, *gap, question));
        return;
    }
    judge_isa(context, listed, toolkit, std::get<lookup::Driver>(resolved), out);
}

}  // namespace

Rule ptx_newer_than_driver() {
    return {
        .id = "ptx-newer-than-driver",
        .stage = kStage,
        .summary = "The driver compiles the PTX of code that is in the image as PTX only.",
        .why =
            "PTX is compiled by the driver when it is loaded, and a driver knows the PTX ISA of its own CUDA "
            "and older ones. Newer PTX fails with error 222, unsupported PTX version, even where "
            "minor-version compatibility lets the machine code of the same toolkit run.",
        .fails = "driver: 535.183.01, cuda: 12.4.1, uses: [ptx-only]",
        .passes = "driver: 535.183.01, cuda: 12.4.1, uses: [THC]",
        .reads = {Field::uses, Field::cuda, Field::driver, Field::cuda_compat, Field::os, Field::platform,
                  Field::gpu, Field::compute, Field::host_class, Field::arch_list, Field::env, Field::torch,
                  Field::arch},
        .needs = {{Field::uses, Field::arch_list, Field::env}, {Field::cuda}, {Field::driver}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
