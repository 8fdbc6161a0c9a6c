// What torch's headers and torch.utils.cpp_extension demand of the host compiler, beyond nvcc's own limits.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

std::uint32_t number_in(const Row& row, std::string_view column) {
    const auto number = Version::parse(row.text(column));
    return number ? number->major() : 0;
}

// The gcc that compiles extensions of a release, whatever they say about the standard.
std::uint32_t gcc_for(const Row& extension) {
    return std::max(number_in(extension, "gcc_min"), number_in(extension, "gcc_by_default"));
}

void judge_standard(Ask& ask, const TorchBuild& build, const HostCompiler& compiler) {
    const auto text = ask.cell.text(Field::compiler);
    const auto row = extension_row(ask.facts, build.torch.release->text("torch"));
    ask.question({Field::compiler, Field::torch}, fmt::format("whether its headers compile with {}", text),
                 "standard");
    if (!row) {
        ask.unknown(Field::compiler, "no fact says what {} asks of extensions", build.text);
        return;
    }
    if (compiler.name != "gcc") {
        ask.unknown(Field::compiler, "no fact gives the oldest {} for {}", compiler.name, build.text);
        return;
    }
    const auto least = gcc_for(*row);
    const auto major = compiler.version.major();
    if (major >= least) {
        ask.reword(fmt::format("whether the headers of {} compile with {}", build.text, text));
        return ask.record_pass({row->ref()});
    }
    auto answer = major >= number_in(*row, "gcc_min")
                      ? ask.degrade(
                            "cpp_extension of {} passes -std=c++20, which {} does not know, to "
                            "extensions that set no standard: gcc >= {} does",
                            build.text, text, least)
                      : ask.reject(
                            "extensions of {} cannot be built with {}: its headers need C++{}, and "
                            "that way gcc >= {}",
                            build.text, text, row->text("cxx_standard"), least);
    answer.because(row->ref())
        .fix(Field::compiler, fmt::format("gcc-{}", least))
        .accepted_other(Field::torch);
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
void judge_limit(Ask& ask, const TorchBuild& build, const HostCompiler& compiler, const Version& cuda) {
    const auto row = limit(ask.facts, build.torch.exact, compiler, cuda);
    if (!row) return;
    const auto newest = lookup::required_version(*row, "newest");
    const auto part = above(compiler, newest);
    const auto text = ask.cell.text(Field::compiler);
    ask.question({Field::compiler, Field::torch, Field::cuda},
                 fmt::format("whether {} takes {} with nvcc of CUDA {}", build.text, text, cuda.text()),
                 "limit");
    if (part == Part::none) return ask.record_pass({row->ref()});
    const bool all = part == Part::all;
    ask.say(all ? Severity::error : Severity::warning,
            fmt::format("{} refuses {}{} with nvcc of CUDA {}: {} {} is the newest that it takes", build.text,
                        all ? "" : "some releases of ", text, cuda.text(), compiler.name, newest.text()))
        .because(row->ref())
        .fix(Field::compiler, newest.minor() == 0 ? fmt::format("{}-{}", compiler.name, newest.major() - 1)
                                                  : fmt::format("{}-{}", compiler.name, newest.major_minor()))
        .other(Field::torch);
}

void judge_build(Ask& ask, const TorchBuild& build, const HostCompiler& compiler) {
    judge_standard(ask, build, compiler);
    if (!ask.cell.has(Field::cuda)) return;
    if (const auto cuda = if_known(image_cuda(ask))) judge_limit(ask, build, compiler, cuda->exact);
}

void judge_torch_takes_compiler(Ask& ask) {
    if (!wants_torch(ask)) return;
    const auto text = ask.cell.text(Field::compiler);
    const auto compiler = host_compiler(text);
    if (!compiler) return;
    if (const auto own = image_torch(ask)) {
        ask.question(own->about(ask, Field::compiler),
                     fmt::format("whether its headers compile with {}", text));
        judge_stand_ins(ask, *own,
                        [&](Ask& each, const TorchBuild& build) { judge_build(each, build, *compiler); });
    } else if (const auto build = if_known(torch_build(ask))) {
        judge_build(ask, *build, *compiler);
    }
}

}  // namespace

Rule torch_takes_compiler() {
    return {.id = "torch-takes-compiler",
            .stage = Stage::build,
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
            .judge = judge_torch_takes_compiler};
}

}  // namespace cudamatrix::rules
