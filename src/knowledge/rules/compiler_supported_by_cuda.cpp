// nvcc refuses host compilers that its headers do not know (crt/host_config.h).
#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The oldest and the newest of a compiler that a toolkit takes, where facts give them; the newest stands for
// all that it covers.
struct Limits {
    std::optional<Version> least, most;
    std::vector<FactRef> facts;
};

// The row of a toolkit speaks for its newest update; a release's own row goes first.
Limits limits_of(const std::optional<Row>& toolkit, const std::optional<Row>& release,
                 std::string_view compiler) {
    Limits limits;
    if (!toolkit) return limits;
    const auto newest = fmt::format("{}_max", compiler);
    limits.least = Version::parse(toolkit->text(fmt::format("{}_min", compiler)));
    limits.most = Version::parse(toolkit->text(newest));
    limits.facts.push_back(toolkit->ref());
    if (release && release->has(newest)) {
        limits.most = Version::parse(release->text(newest));
        limits.facts.insert(limits.facts.begin(), release->ref());
    }
    return limits;
}

bool too_new(const Limits& limits, const Version& version) {
    return limits.most && version > *limits.most && !limits.most->covers(version);
}

bool too_old(const Limits& limits, const Version& version) {
    return limits.least && version < *limits.least && !version.covers(*limits.least);
}

// Why the limits do not decide, or nothing: clang-3 may be 3.4 or 3.8.
std::string undecided(const Limits& limits, const HostCompiler& compiler, const Version& cuda) {
    const auto missing = [&](std::string_view end) {
        return fmt::format("no fact gives the {} {} that nvcc of CUDA {} takes", end, compiler.name,
                           cuda.text());
    };
    if (!limits.most) return missing("newest");
    if (too_new(limits, compiler.version) || too_old(limits, compiler.version)) return {};
    if (!limits.least)
        return limits.most->major() == compiler.version.major() ? std::string() : missing("oldest");
    if (part_within(compiler.version, *limits.least, *limits.most) == Part::all) return {};
    return fmt::format("{}-{} may be outside of what nvcc of CUDA {} takes: {} to {}", compiler.name,
                       compiler.version.text(), cuda.text(), limits.least->text(), limits.most->text());
}

void judge(Ask& ask) {
    const auto text = ask.cell.text(Field::compiler);
    ask.question({Field::compiler, Field::cuda},
                 fmt::format("whether nvcc of CUDA {} takes {}", ask.cell.text(Field::cuda), text));
    const auto compiler = host_compiler(text);
    if (!compiler) {
        ask.unknown(Field::compiler, "no fact knows compiler {}: gcc-N and clang-N are known", text);
        return;
    }
    const auto cuda = ask.cuda();
    if (!cuda) return;
    const auto limits = limits_of(cuda->toolkit, cuda->release, compiler->name);
    const bool is_new = too_new(limits, compiler->version);
    if (const auto why = undecided(limits, *compiler, cuda->exact); !why.empty()) {
        ask.unknown(Field::compiler, "{}", why);
    } else if (is_new || too_old(limits, compiler->version)) {
        const auto bound = is_new ? limits.most->text() : limits.least->text();
        ask.reject("nvcc of CUDA {} refuses {}: {} {} is the {} that it takes", cuda->exact.text(), text,
                   compiler->name, bound, is_new ? "newest" : "oldest")
            .because(limits.facts)
            .fix(Field::compiler, fmt::format("{}-{}", compiler->name, bound))
            .other(Field::cuda);
    } else {
        ask.accept(limits.facts);
    }
}

}  // namespace

Rule compiler_supported_by_cuda() {
    return {.id = "compiler-supported-by-cuda",
            .stage = Stage::build,
            .summary = "The host compiler is one that the toolkit's nvcc takes.",
            .why =
                "nvcc refuses a host compiler outside the range that its toolkit was tested with "
                "(\"unsupported GNU version\"); forcing it with -allow-unsupported-compiler trades a clear "
                "error for wrong code or errors deep in the headers.",
            .fails = "cuda: 11.8.0, compiler: gcc-13",
            .passes = "cuda: 12.4.1, compiler: gcc-13",
            .reads = {Field::compiler, Field::cuda},
            .needs = {{Field::compiler}, {Field::cuda}},
            .judge = judge,
            .proof = {Attempt::compile_with, {"*unsupported GNU version!*", "*unsupported clang version!*"}}};
}

}  // namespace cudamatrix::rules
