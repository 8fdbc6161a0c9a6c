// Can the chosen family install that host compiler on that distribution? Asked only where the cell names a
// family, as toolkit-available does.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

// The families whose images install the compiler by its number: the others compile with what their base has.
bool installs_compilers(std::string_view family) {
    return family == "debian" || family == "nvidia-cuda";
}

// "gcc-11, gcc-12".
std::string named(std::span<const std::string_view> majors) {
    std::string out;
    for (const auto major : majors)
        out += fmt::format("{}gcc-{}", out.empty() ? "" : ", ", major);
    return out;
}

// The nearest older and newer ones of the archive, and the distributions whose archive has this one.
std::vector<FixOption> options(const Context& context, std::span<const std::string_view> majors,
                               std::string_view wanted) {
    std::vector<FixOption> found;
    const auto number = [](std::string_view text) { return Version::parse(text)->major(); };
    std::string_view older, newer;
    for (const auto major : majors) {
        if (number(major) < number(wanted)) older = major;
        if (number(major) > number(wanted) && newer.empty()) newer = major;
    }
    for (const auto major : {older, newer}) {
        if (!major.empty()) found.push_back(set_to(Field::compiler, fmt::format("gcc-{}", major)));
    }
    if (!context.wants_fixes) return found;
    for (const auto& row : context.facts.rows("archive_compilers")) {
        if (contains(row.list("gccs"), wanted)) found.push_back(set_to(Field::os, row.text("os")));
    }
    return found;
}

void judge(const Context& context, Findings& out) {
    const auto family = context.cell.text(Field::family);
    // A whole reference overrides the family: whoever writes it builds the image.
    if (context.cell.has(Field::image) || !installs_compilers(family)) return;
    const auto compiler = host_compiler(context.cell.text(Field::compiler));
    if (!compiler || compiler->name != "gcc") return;
    const auto os = context.cell.text(Field::os);
    const auto wanted = std::to_string(compiler->version.major());
    const std::vector<Field> about{Field::compiler, Field::os, Field::family};
    const auto question = fmt::format("whether family {} can install gcc-{} on {}", family, wanted, os);
    const auto system = lookup::os(context.facts, os);
    if (!system) return out.push_back(unknown(kStage, "", about, unknown_os(context.facts, os), question));
    const auto row = context.facts.row(fmt::format("compilers-{}", os));
    std::vector<std::string_view> majors;
    // Packages of dnf have no number in their name: its images compile with the distribution's own.
    if (row) majors.assign(row->list("gccs").begin(), row->list("gccs").end());
    if (!row && system->text("package_manager") == "dnf" && system->has("gcc"))
        majors.push_back(system->text("gcc"));
    if (majors.empty()) {
        const Unresolved gap{
            Field::os, fmt::format("no fact lists the compilers of the archive of {}", os), {}};
        return out.push_back(unknown(kStage, "", about, gap, question));
    }
    const auto fact = row ? row->ref() : system->ref();
    if (contains(majors, wanted)) return accept(context, out, kStage, "", about, question, {fact});
    auto error = finding(Severity::error, kStage, "", about,
                         fmt::format("family {} cannot install {} on {}: its archive has {}", family,
                                     context.cell.text(Field::compiler), os, named(majors)),
                         {fact});
    error.fixes = options(context, majors, wanted);
    out.push_back(std::move(error));
}

}  // namespace

Rule compiler_in_archive() {
    return {.id = "compiler-in-archive",
            .stage = kStage,
            .summary = "The family that the cell names can install the host compiler on the distribution.",
            .why =
                "An image installs the compiler from the archive of its distribution, which holds a few "
                "majors only. For another one apt ends the build with \"Unable to locate package g++-N\".",
            .fails = "family: debian, os: debian12, compiler: gcc-10",
            .passes = "family: debian, os: debian12, compiler: gcc-11",
            .reads = {Field::family, Field::image, Field::os, Field::compiler},
            .needs = {{Field::family}, {Field::os}, {Field::compiler}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
