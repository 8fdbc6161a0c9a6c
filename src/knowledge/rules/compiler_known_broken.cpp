// Host compilers that nvcc takes and then fails with: reports on public trackers, not crt/host_config.h.
#include <algorithm>

#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

// Which part of the cell's compiler a defect hits: none where the toolkit or the machine is not the one.
Part hit(const Context& context, const Row& defect, const HostCompiler& compiler, const Version& cuda) {
    const auto arch = context.cell.has(Field::arch) ? context.cell.text(Field::arch) : "x86_64";
    if (defect.text("compiler") != compiler.name || (defect.has("arch") && defect.text("arch") != arch))
        return Part::none;
    if (part_within(cuda, defect, "cuda_first", "cuda_last") != Part::all) return Part::none;
    return part_within(compiler.version, defect, "first", "last");
}

// An older toolkit is no way out: it does not take the compiler at all.
std::vector<FixOption> newer_toolkits(const Context& context, const HostCompiler& compiler,
                                      const Version& cuda) {
    const auto defects = context.facts.rows("compiler_defects");
    return cuda_options(context, cuda, [&](const Version& other) {
        return other > cuda && std::none_of(defects.begin(), defects.end(), [&](const Row& defect) {
                   return hit(context, defect, compiler, other) != Part::none;
               });
    });
}

void judge(Ask& ask) {
    const auto text = ask.cell.text(Field::compiler);
    const auto compiler = host_compiler(text);
    const auto toolkit = image_cuda(ask);
    const auto* cuda = std::get_if<lookup::Cuda>(&toolkit);
    if (!compiler || cuda == nullptr) return;
    for (const auto& defect : ask.facts.rows("compiler_defects")) {
        if (defect.text("compiler") != compiler->name) continue;
        const auto part = hit(ask, defect, *compiler, cuda->exact);
        const bool all = part == Part::all;
        const bool fails = defect.text("effect") == "fails";
        ask.question({Field::compiler, Field::cuda},
                     fmt::format("whether {} with nvcc of CUDA {} is spared by the defect of {} {}", text,
                                 cuda->exact.text(), compiler->name, defect.text("first")));
        // Of a bare major only some releases are hit: worth a word where ordinary code fails.
        if (part == Part::none || (!all && !fails)) {
            ask.record_pass({defect.ref()});
            continue;
        }
        const auto how =
            all && fails ? " and fails with it"
            : all        ? ", but code that includes one header fails"
                  : fmt::format(" and fails with {} {} and newer ones", compiler->name, defect.text("first"));
        ask.say(all && fails ? Severity::error : Severity::warning,
                fmt::format("nvcc of CUDA {} takes {}{}: {}", cuda->exact.text(), text, how,
                            defect.text("symptom")))
            .because(defect.ref())
            .fix(Field::compiler, fmt::format("{}-{}", compiler->name, defect.text("works")))
            .fix(newer_toolkits(ask, *compiler, cuda->exact));
    }
}

}  // namespace

Rule compiler_known_broken() {
    return {.id = "compiler-known-broken",
            .stage = Stage::build,
            .summary = "The host compiler is not one that the toolkit's nvcc takes and then fails with.",
            .why =
                "nvcc checks the major of the host compiler only, while later releases of that major "
                "changed headers that its front end cannot read, such as the std::function of gcc 11.3 "
                "(\"parameter packs not expanded with '...'\"). The check passes and every file that "
                "includes <functional> fails.",
            .fails = "cuda: 11.5.2, compiler: gcc-11.4",
            .passes = "cuda: 11.8.0, compiler: gcc-11.4",
            .reads = {Field::compiler, Field::cuda, Field::arch},
            .needs = {{Field::compiler}, {Field::cuda}},
            .judge = judge};
}

}  // namespace cudamatrix::rules
