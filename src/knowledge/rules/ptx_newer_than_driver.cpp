// The driver compiles code that is in the image as PTX only, and knows PTX up to that of its own CUDA:
// minor-version compatibility does not help here. Code is PTX only where the cell says so, or where its list
// of architectures has nothing else for its GPU.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// What compiles the PTX: the driver, or compat libraries in its place.
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

// The compiler knows the PTX. Of a list, arch-list-covers-gpu names the limit.
void judge_known(Ask& ask, bool listed, const Compiler& compiler, std::vector<FactRef> facts) {
    cite(facts, ask.facts, "policy-ptx-jit-forward");
    if (listed) return ask.accept(std::move(facts));
    ask.degrade(
           "code that is PTX only is compiled by {} when it is first loaded: the first start takes "
           "longer, and again after each change of the driver",
           compiler.text)
        .because(facts);
}

void judge_isa(Ask& ask, const std::optional<ListedPtx>& listed, const lookup::Cuda& cuda,
               const lookup::Driver& driver) {
    const auto compiler = compiler_of(ask, driver);
    std::vector<Field> about{Field::cuda, Field::driver};
    if (listed) about.insert(about.end(), {listed->list.field, listed->gpu.field});
    ask.question(std::move(about), fmt::format("whether the PTX of CUDA {} is compiled by {}",
                                               cuda.exact.text(), compiler.text));
    const auto wanted = cuda.toolkit ? Version::parse(cuda.toolkit->text("ptx_isa")) : std::nullopt;
    if (!wanted) {
        ask.unknown(Field::cuda, "no fact gives the PTX ISA of CUDA {}", cuda.exact.text());
        return;
    }
    auto facts = compiler.facts;
    facts.push_back(cuda.toolkit->ref());
    if (listed) facts.insert(facts.end(), listed->facts.begin(), listed->facts.end());
    if (compiler.at_least && *wanted <= *compiler.at_least)
        return judge_known(ask, listed.has_value(), compiler, std::move(facts));
    if (!compiler.at_most || *wanted <= *compiler.at_most) {
        ask.unknown(Field::driver, "no fact says which PTX driver branch {} compiles", driver.exact.major())
            .because(facts);
        return;
    }
    cite(facts, ask.facts, "policy-ptx-isa-driver");
    const auto code = listed ? fmt::format("code built with {}, which is PTX only for {},",
                                           listed->list.named(), listed->gpu.text)
                             : "code that is PTX only";
    auto answer = ask.reject(
        "{} compiles PTX up to ISA {}, and CUDA {} writes {}: {} fails with error 222, "
        "the provided PTX was compiled with an unsupported toolchain",
        compiler.text, compiler.at_most->text(), cuda.exact.text(), wanted->text(), code);
    answer.because(facts);
    if (listed) answer.fix(with_gpu_in_list(ask, listed->list, listed->gpu));
    answer.at_least(Field::driver).at_most(Field::cuda);
}

void judge_ptx_newer_than_driver(Ask& ask) {
    std::optional<ListedPtx> listed;
    if (!is_ptx_only(ask)) {
        listed = ptx_only_list(ask);
        if (!listed) return;
    }
    ask.question({Field::cuda}, "whether the driver compiles its PTX");
    const auto cuda = ask.cuda();
    if (!cuda) return;
    const auto release = cuda->exact.text();
    if (const auto gpu = integrated_gpu(ask)) {
        ask.question({Field::driver, gpu->field}, fmt::format("whether driver {} compiles the PTX of CUDA {}",
                                                              ask.cell.text(Field::driver), release));
        auto facts = gpu->facts;
        cite(facts, ask.facts, "policy-jetson-driver");
        ask.unknown(outside_branches(*gpu)).because(facts);
        return;
    }
    ask.question({Field::driver, Field::cuda},
                 fmt::format("whether it compiles the PTX of CUDA {}", release));
    if (const auto driver = ask.known(host_driver(ask))) judge_isa(ask, listed, *cuda, *driver);
}

}  // namespace

Rule ptx_newer_than_driver() {
    return {
        .id = "ptx-newer-than-driver",
        .stage = Stage::runtime,
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
        .judge = judge_ptx_newer_than_driver};
}

}  // namespace cudamatrix::rules
