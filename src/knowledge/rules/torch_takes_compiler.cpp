// What torch's headers and torch.utils.cpp_extension demand of the host compiler, beyond nvcc's own limits.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;
constexpr std::string_view kStandard = "standard";
constexpr std::string_view kLimit = "limit";

std::uint32_t number_in(const Row& row, std::string_view column) {
    const auto number = Version::parse(row.text(column));
    return number ? number->major() : 0;
}

// The gcc that compiles extensions of a release, whatever they say about the standard.
std::uint32_t gcc_for(const Row& extension) {
    return std::max(number_in(extension, "gcc_min"), number_in(extension, "gcc_by_default"));
}

void judge_standard(const Context& context, const TorchBuild& build, const HostCompiler& compiler,
                    Findings& out) {
    const std::vector<Field> about{Field::compiler, Field::torch};
    const auto row = extension_row(context.facts, build.torch.release->text("torch"));
    const auto text = context.cell.text(Field::compiler);
    if (!row || compiler.name != "gcc") {
        const Unresolved gap{
            Field::compiler,
            row ? fmt::format("no fact gives the oldest {} for {}", compiler.name, build.text)
                : fmt::format("no fact says what {} asks of extensions", build.text),
            {}};
        out.push_back(
            unknown(kStage, kStandard, about, gap, fmt::format("whether its headers compile with {}", text)));
        return;
    }
    const auto least = gcc_for(*row);
    if (compiler.version.major() >= least) {
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              about,
                              fmt::format("whether the headers of {} compile with {}", build.text, text),
                              {row->ref()}};
        });
    }
    const bool by_default = compiler.version.major() >= number_in(*row, "gcc_min");
    auto message = by_default ? fmt::format(
                                    "cpp_extension of {} passes -std=c++20, which {} does not know, to "
                                    "extensions that set no standard: gcc >= {} does",
                                    build.text, text, least)
                              : fmt::format(
                                    "extensions of {} cannot be built with {}: its headers need C++{}, "
                                    "and that way gcc >= {}",
                                    build.text, text, row->text("cxx_standard"), least);
    auto error = finding(by_default ? Severity::warning : Severity::error, kStage, kStandard, about,
                         std::move(message), {row->ref()});
    error.fixes.push_back(set_to(Field::compiler, fmt::format("gcc-{}", least)));
    for (auto& option : torch_options(context, [&](const Row& wheel) {
             const auto other = extension_row(context.facts, wheel.text("torch"));
             return other && compiler.version.major() >= gcc_for(*other);
         })) {
        error.fixes.push_back(std::move(option));
    }
    out.push_back(std::move(error));
}

// The row that limits a compiler for this torch and this minor of CUDA.
std::optional<Row> limit(const Facts& facts, const Version& torch, const HostCompiler& compiler,
                         const Version& cuda) {
    for (const auto& row : facts.rows("torch_compiler_limits")) {
        if (row.text("compiler") == compiler.name && lookup::required_version(row, "cuda").covers(cuda) &&
            part_within(torch, row, "torch_first", "torch_last") == Part::all) {
            return row;
        }
    }
    return std::nullopt;
}

// How much of the written compiler lies above the limit. A bare major may be any of its releases; gcc's first
// one is N.1.
Part above(const HostCompiler& compiler, const Version& newest) {
    if (compiler.version > newest) return Part::all;
    if (compiler.version.size() > 1 || compiler.version.major() < newest.major()) return Part::none;
    const bool before_first = compiler.name == "gcc" && newest.minor() == 0;
    return before_first ? Part::all : Part::some;
}

// Torch 1.12 and 1.13 compare whole versions, so that gcc 10.2.1 passes and gcc 10.3 does not.
void judge_limit(const Context& context, const TorchBuild& build, const HostCompiler& compiler,
                 const lookup::Cuda& cuda, Findings& out) {
    const auto row = limit(context.facts, build.torch.exact, compiler, cuda.exact);
    if (!row) return;
    const auto newest = lookup::required_version(*row, "newest");
    const auto part = above(compiler, newest);
    if (part == Part::none) {
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {Field::compiler, Field::torch, Field::cuda},
                              fmt::format("whether {} takes {} with nvcc of CUDA {}", build.text,
                                          context.cell.text(Field::compiler), cuda.exact.text()),
                              {row->ref()}};
        });
    }
    const bool all = part == Part::all;
    auto found =
        finding(all ? Severity::error : Severity::warning, kStage, kLimit,
                {Field::compiler, Field::torch, Field::cuda},
                fmt::format("{} refuses {}{} with nvcc of CUDA {}: {} {} is the newest that it takes",
                            build.text, all ? "" : "some releases of ", context.cell.text(Field::compiler),
                            cuda.exact.text(), compiler.name, newest.text()),
                {row->ref()});
    found.fixes.push_back(set_to(
        Field::compiler, newest.minor() == 0 ? fmt::format("{}-{}", compiler.name, newest.major() - 1)
                                             : fmt::format("{}-{}", compiler.name, newest.major_minor())));
    for (auto& option : torch_options(context, [&](const Row& wheel) {
             const auto other = lookup::required_version(wheel, "torch");
             const auto bound = limit(context.facts, other, compiler, cuda.exact);
             return !bound || above(compiler, lookup::required_version(*bound, "newest")) == Part::none;
         })) {
        found.fixes.push_back(std::move(option));
    }
    out.push_back(std::move(found));
}

void judge_build(const Context& context, const TorchBuild& build, const HostCompiler& compiler,
                 Findings& out) {
    judge_standard(context, build, compiler, out);
    if (!context.cell.has(Field::cuda)) return;
    const auto toolkit = image_cuda(context);
    if (const auto* cuda = std::get_if<lookup::Cuda>(&toolkit))
        judge_limit(context, build, compiler, *cuda, out);
}

void judge(const Context& context, Findings& out) {
    if (!wants_torch(context)) return;
    const auto compiler = host_compiler(context.cell.text(Field::compiler));
    if (const auto own = image_torch(context)) {
        if (!compiler) return;
        const auto judge_one = [&](const Context& other, const TorchBuild& build, Findings& found) {
            judge_build(other, build, *compiler, found);
        };
        judge_image_torch(
            context, *own, kStage, Field::compiler,
            fmt::format("whether its headers compile with {}", context.cell.text(Field::compiler)), judge_one,
            out);
        return;
    }
    const auto torch = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&torch);
    if (compiler && build != nullptr) judge_build(context, *build, *compiler, out);
}

}  // namespace

Rule torch_takes_compiler() {
    return {.id = "torch-takes-compiler",
            .stage = kStage,
            .summary = "The host compiler can compile torch's headers, and torch's build helper takes it.",
            .why =
                "torch's headers stop old compilers with #error (\"C++17 or later compatible compiler is "
                "required\", \"We need GCC 9 or later\"), and the cpp_extension of torch 1.12 and 1.13 "
                "raises where gcc is newer, to the patch level, than its table for that CUDA.",
            .fails = "torch: 2.6.0+cu124, compiler: gcc-7",
            .passes = "torch: 2.6.0+cu124, compiler: gcc-11",
            .reads = {Field::compiler, Field::torch, Field::arch, Field::cuda, Field::image, Field::family,
                      Field::python, Field::os},
            .needs = {{Field::compiler}, {Field::torch}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
