// nvcc refuses host compilers that its headers do not know (crt/host_config.h).
#include <cstdint>
#include <optional>
#include <string_view>

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

// Visual C++ as people call it: by its toolset (14.40), its compiler (19.40), _MSC_VER (1940) or the Visual
// Studio that it comes with (2022), which has several.
struct Msvc {
    Version first;
    std::optional<Version> last;  ///< nothing: newer ones may follow
    std::optional<FactRef> fact;
};

std::optional<Version> toolset(std::uint32_t minor) {
    return Version::parse(fmt::format("14.{}", minor));
}

std::optional<Msvc> msvc_named(const Facts& facts, std::string_view text) {
    constexpr std::string_view name = "msvc-";
    const auto written = text.starts_with(name) ? Version::parse(text.substr(name.size())) : std::nullopt;
    if (!written || !written->suffix().empty()) return std::nullopt;
    // 14.0 is a toolset, 14.1 to 14.4 are series of them.
    const bool is_exact = written->size() > 1 && (written->minor() >= 10 || written->minor() == 0);
    const auto one = [](std::optional<Version> version) { return Msvc{*version, version, {}}; };
    if (written->major() == 14 && is_exact) return one(written);
    if (written->major() == 19 && is_exact) return one(toolset(written->minor()));
    if (written->size() > 1) return std::nullopt;
    if (written->major() >= 1900 && written->major() < 2000) return one(toolset(written->major() - 1900));
    const auto row = facts.row(fmt::format("msvc-{}", written->major()));
    if (!row) return std::nullopt;
    return Msvc{lookup::required_version(*row, "first"), Version::parse(row->text("last")), row->ref()};
}

void judge_msvc(Ask& ask, const Msvc& msvc) {
    const auto cuda = ask.cuda();
    if (!cuda) return;
    const auto text = ask.cell.text(Field::compiler);
    auto limits = limits_of(cuda->toolkit, {}, "msvc");
    if (!limits.least || !limits.most) {
        ask.unknown(Field::compiler, "no fact gives the msvc that nvcc of CUDA {} takes", cuda->exact.text());
        return;
    }
    if (msvc.fact) limits.facts.push_back(*msvc.fact);
    const bool all_new = too_new(limits, msvc.first);
    if (all_new || (msvc.last && too_old(limits, *msvc.last))) {
        const auto bound = all_new ? limits.most->text() : limits.least->text();
        ask.reject("nvcc of CUDA {} refuses {}: msvc {} is the {} that it takes", cuda->exact.text(), text,
                   bound, all_new ? "newest" : "oldest")
            .because(limits.facts)
            .fix(Field::compiler, "msvc-" + bound)
            .other(Field::cuda);
    } else if (!msvc.last || too_new(limits, *msvc.last) || too_old(limits, msvc.first)) {
        ask.unknown(Field::compiler, "{} may be outside of what nvcc of CUDA {} takes: {} to {}", text,
                    cuda->exact.text(), limits.least->text(), limits.most->text())
            .because(limits.facts);
    } else {
        ask.accept(limits.facts);
    }
}

void judge_compiler_supported_by_cuda(Ask& ask) {
    const auto text = ask.cell.text(Field::compiler);
    ask.question({Field::compiler, Field::cuda},
                 fmt::format("whether nvcc of CUDA {} takes {}", ask.cell.text(Field::cuda), text));
    if (const auto msvc = msvc_named(ask.facts, text)) return judge_msvc(ask, *msvc);
    const auto compiler = host_compiler(text);
    if (!compiler) {
        ask.unknown(Field::compiler,
                    "no fact knows compiler {}: gcc-N, clang-N, msvc-14.N and msvc-YEAR are known", text);
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
            .judge = judge_compiler_supported_by_cuda,
            .proof = {Attempt::compile_with, {"*unsupported GNU version!*", "*unsupported clang version!*"}}};
}

}  // namespace cudamatrix::rules
