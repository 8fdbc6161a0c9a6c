// nvcc refuses host compilers that its headers do not know (crt/host_config.h).
#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/building.hpp"
#include "rules/subject.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

// Majors of a compiler that a toolkit takes; `most` is 0 where no fact gives it, `least` where there is no
// lower end.
struct Limits {
    std::uint32_t least = 0;
    std::uint32_t most = 0;
};

std::uint32_t number_in(const Row& toolkit, const std::string& column) {
    const auto version = Version::parse(toolkit.text(column));
    return version ? version->major() : 0;
}

Limits limits_of(const std::optional<Row>& toolkit, std::string_view compiler) {
    if (!toolkit) return {};
    return {number_in(*toolkit, fmt::format("{}_min", compiler)),
            number_in(*toolkit, fmt::format("{}_max", compiler))};
}

// The nearest newer and older releases whose limits take the compiler.
std::vector<FixOption> toolkits_for(const Context& context, const HostCompiler& compiler,
                                    const Version& cuda) {
    std::optional<FixOption> newer, older;
    if (!context.wants_fixes) return {};
    for (const auto& release : context.facts.rows("cuda_releases")) {
        const auto version = lookup::required_version(release, "cuda");
        const auto toolkit = context.facts.row(fmt::format("cuda-toolkit-{}", release.text("minor")));
        const auto limits = limits_of(toolkit, compiler.name);
        if (compiler.version.major() > limits.most || compiler.version.major() < limits.least) continue;
        if (version < cuda) older = set_to(Field::cuda, version.text());
        if (version > cuda && !newer) newer = set_to(Field::cuda, version.text());
    }
    std::vector<FixOption> options;
    if (newer) options.push_back(*newer);
    if (older) options.push_back(*older);
    return options;
}

void reject(const Context& context, const lookup::Cuda& cuda, const HostCompiler& compiler,
            std::uint32_t bound, std::string_view which, Findings& out) {
    auto error =
        finding(Severity::error, kStage, "", {Field::compiler, Field::cuda},
                fmt::format("nvcc of CUDA {} refuses {}: {} {} is the {} that it takes", cuda.exact.text(),
                            context.cell.text(Field::compiler), compiler.name, bound, which),
                {cuda.toolkit->ref()});
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
    const auto limits = limits_of(cuda.toolkit, compiler->name);
    if (limits.most == 0) {
        const Unresolved gap{Field::compiler,
                             fmt::format("no fact gives the newest {} that nvcc of CUDA {} takes",
                                         compiler->name, cuda.exact.text()),
                             {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    if (compiler->version.major() > limits.most)
        return reject(context, cuda, *compiler, limits.most, "newest", out);
    if (compiler->version.major() < limits.least)
        return reject(context, cuda, *compiler, limits.least, "oldest", out);
    accept(context, out, kStage, "", about, question, {cuda.toolkit->ref()});
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
            .judge = judge,
            .proof = {Attempt::compile_with, {"*unsupported GNU version!*", "*unsupported clang version!*"}}};
}

}  // namespace cudamatrix::rules
