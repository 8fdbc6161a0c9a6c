// nvcc refuses host compilers that its headers do not know (crt/host_config.h).
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

// The oldest and the newest of a compiler that a toolkit takes, where facts give them; the newest stands for
// all that it covers.
struct Limits {
    std::optional<Version> least, most;
    std::vector<FactRef> facts;
};

// The toolkit's, of its newest update; what a release says of itself goes before that.
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
    if (!limits.most) {
        return fmt::format("no fact gives the newest {} that nvcc of CUDA {} takes", compiler.name,
                           cuda.text());
    }
    if (too_new(limits, compiler.version) || too_old(limits, compiler.version)) return {};
    if (!limits.least) {
        if (limits.most->major() == compiler.version.major()) return {};
        return fmt::format("no fact gives the oldest {} that nvcc of CUDA {} takes", compiler.name,
                           cuda.text());
    }
    if (part_within(compiler.version, *limits.least, *limits.most) == Part::all) return {};
    return fmt::format("{}-{} may be outside of what nvcc of CUDA {} takes: {} to {}", compiler.name,
                       compiler.version.text(), cuda.text(), limits.least->text(), limits.most->text());
}

// The nearest newer and older releases whose limits take the compiler.
std::vector<FixOption> toolkits_for(const Context& context, const HostCompiler& compiler,
                                    const Version& cuda) {
    std::optional<FixOption> newer, older;
    if (!context.wants_fixes) return {};
    for (const auto& release : context.facts.rows("cuda_releases")) {
        const auto version = lookup::required_version(release, "cuda");
        const auto toolkit = context.facts.row(fmt::format("cuda-toolkit-{}", release.text("minor")));
        const auto limits = limits_of(toolkit, release, compiler.name);
        if (too_new(limits, compiler.version) || too_old(limits, compiler.version) ||
            !undecided(limits, compiler, version).empty())
            continue;
        if (version < cuda) older = set_to(Field::cuda, version.text());
        if (version > cuda && !newer) newer = set_to(Field::cuda, version.text());
    }
    std::vector<FixOption> options;
    if (newer) options.push_back(*newer);
    if (older) options.push_back(*older);
    return options;
}

void reject(const Context& context, const lookup::Cuda& cuda, const HostCompiler& compiler,
            const Limits& limits, Findings& out) {
    const bool is_new = too_new(limits, compiler.version);
    const auto bound = is_new ? limits.most->text() : limits.least->text();
    auto error = finding(
        Severity::error, kStage, "", {Field::compiler, Field::cuda},
        fmt::format("nvcc of CUDA {} refuses {}: {} {} is the {} that it takes", cuda.exact.text(),
                    context.cell.text(Field::compiler), compiler.name, bound, is_new ? "newest" : "oldest"),
        limits.facts);
    error.fixes.push_back(set_to(Field::compiler, fmt::format("{}-{}", compiler.name, bound)));
    for (auto& option : toolkits_for(context, compiler, cuda.exact))
        error.fixes.push_back(std::move(option));
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    const auto text = context.cell.text(Field::compiler);
    const auto toolkit = image_cuda(context);
    const std::vector<Field> about{Field::compiler, Field::cuda};
    const auto compiler = host_compiler(text);
    const auto question =
        fmt::format("whether nvcc of CUDA {} takes {}", context.cell.text(Field::cuda), text);
    if (!compiler) {
        const Unresolved gap{
            Field::compiler, fmt::format("no fact knows compiler {}: gcc-N and clang-N are known", text), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    if (const auto* gap = std::get_if<Unresolved>(&toolkit)) {
        out.push_back(unknown(kStage, "", about, *gap, question));
        return;
    }
    const auto& cuda = std::get<lookup::Cuda>(toolkit);
    const auto limits = limits_of(cuda.toolkit, cuda.release, compiler->name);
    if (const auto why = undecided(limits, *compiler, cuda.exact); !why.empty()) {
        out.push_back(unknown(kStage, "", about, Unresolved{Field::compiler, why, {}}, question));
        return;
    }
    if (too_new(limits, compiler->version) || too_old(limits, compiler->version))
        return reject(context, cuda, *compiler, limits, out);
    accept(context, out, kStage, "", about, question, limits.facts);
}

}  // namespace

Rule compiler_supported_by_cuda() {
    return {.id = "compiler-supported-by-cuda",
            .stage = kStage,
            .summary = "The host compiler is one that the toolkit's nvcc takes.",
            .why =
                "nvcc refuses a host compiler outside the range that its toolkit was tested with "
                "(\"unsupported GNU version\"); forcing it with -allow-unsupported-compiler trades a clear "
                "error for wrong code or errors deep in the headers.",
            .fails = "cuda: 11.8.0, compiler: gcc-13",
            .passes = "cuda: 12.4.1, compiler: gcc-13",
            .reads = {Field::compiler, Field::cuda},
            .needs = {{Field::compiler}, {Field::cuda}},
            .judge = plain(judge),
            .proof = {Attempt::compile_with, {"*unsupported GNU version!*", "*unsupported clang version!*"}}};
}

}  // namespace cudamatrix::rules
