// Host compilers that nvcc takes and then fails with: reports on public trackers, not crt/host_config.h.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

// Which part of the cell's compiler a defect hits: none where the toolkit or the machine is not the one.
Part hit(const Context& context, const Row& defect, const HostCompiler& compiler, const Version& cuda) {
    const auto arch = context.cell.has(Field::arch) ? context.cell.text(Field::arch) : "x86_64";
    if (defect.text("compiler") != compiler.name || (defect.has("arch") && defect.text("arch") != arch))
        return Part::none;
    if (part_within(cuda, defect, "cuda_first", "cuda_last") != Part::all) return Part::none;
    return part_within(compiler.version, defect, "first", "last");
}

// Of a bare major only some releases are hit: worth a word where ordinary code fails.
bool too_vague(const Row& defect, Part part) {
    return part == Part::some && defect.text("effect") != "fails";
}

bool works(const Context& context, std::span<const Row> defects, const HostCompiler& compiler,
           const Version& cuda) {
    return std::none_of(defects.begin(), defects.end(), [&](const Row& defect) {
        return hit(context, defect, compiler, cuda) != Part::none;
    });
}

void judge(const Context& context, Findings& out) {
    const auto text = context.cell.text(Field::compiler);
    const auto compiler = host_compiler(text);
    const auto toolkit = image_cuda(context);
    const auto* cuda = std::get_if<lookup::Cuda>(&toolkit);
    const auto defects = context.facts.rows("compiler_defects");
    if (!compiler || cuda == nullptr) return;
    for (const auto& defect : defects) {
        const auto part = hit(context, defect, *compiler, cuda->exact);
        if (part == Part::none || too_vague(defect, part)) {
            // Of the many defects those of the same compiler are worth a word.
            if (defect.text("compiler") != compiler->name) continue;
            passed(context, [&] {
                return Acceptance{
                    {},
                    kStage,
                    {Field::compiler, Field::cuda},
                    fmt::format("whether {} with nvcc of CUDA {} is spared by the defect of {} {}", text,
                                cuda->exact.text(), compiler->name, defect.text("first")),
                    {defect.ref()}};
            });
            continue;
        }
        const bool fails = part == Part::all && defect.text("effect") == "fails";
        const auto symptom = defect.text("symptom");
        std::string message;
        if (fails) {
            message = fmt::format("nvcc of CUDA {} takes {} and fails with it: {}", cuda->exact.text(), text,
                                  symptom);
        } else if (part == Part::all) {
            message = fmt::format("nvcc of CUDA {} takes {}, but code that includes one header fails: {}",
                                  cuda->exact.text(), text, symptom);
        } else {
            message = fmt::format("nvcc of CUDA {} takes {} and fails with {} {} and newer ones: {}",
                                  cuda->exact.text(), text, compiler->name, defect.text("first"), symptom);
        }
        auto found = finding(fails ? Severity::error : Severity::warning, kStage, "",
                             {Field::compiler, Field::cuda}, std::move(message), {defect.ref()});
        found.fixes.push_back(
            set_to(Field::compiler, fmt::format("{}-{}", compiler->name, defect.text("works"))));
        // An older toolkit is no way out: it does not take the compiler at all.
        for (auto& option : cuda_options(context, cuda->exact, [&](const Version& other) {
                 return other > cuda->exact && works(context, defects, *compiler, other);
             })) {
            found.fixes.push_back(std::move(option));
        }
        out.push_back(std::move(found));
    }
}

}  // namespace

Rule compiler_known_broken() {
    return {.id = "compiler-known-broken",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
