// Can the chosen family install that host compiler on that distribution? Asked only where the cell names a
// family, as toolkit-available does.
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// "gcc-11, gcc-12".
std::string named(std::span<const std::string_view> majors) {
    std::string out;
    for (const auto major : majors)
        out += fmt::format("{}gcc-{}", out.empty() ? "" : ", ", major);
    return out;
}

// The nearest older and newer ones of the archive, and the distributions whose archive has this one.
std::vector<FixOption> options(const Context& context, std::span<const std::string_view> majors,
                               std::uint32_t wanted) {
    std::vector<FixOption> found;
    std::string_view older, newer;
    for (const auto major : majors) {
        const auto number = Version::parse(major)->major();
        if (number < wanted) older = major;
        if (number > wanted && newer.empty()) newer = major;
    }
    for (const auto major : {older, newer}) {
        if (!major.empty()) found.push_back(set_to(Field::compiler, fmt::format("gcc-{}", major)));
    }
    for (const auto& row : context.facts.rows("archive_compilers")) {
        if (contains(row.list("gccs"), std::to_string(wanted)))
            found.push_back(set_to(Field::os, row.text("os")));
    }
    return found;
}

void judge(Ask& ask) {
    const auto family = ask.cell.text(Field::family);
    // A whole reference overrides the family: whoever writes it builds the image. The images of the other
    // families compile with what their base has.
    if (ask.cell.has(Field::image) || (family != "debian" && family != "nvidia-cuda")) return;
    const auto compiler = host_compiler(ask.cell.text(Field::compiler));
    if (!compiler || compiler->name != "gcc") return;
    const auto os = ask.cell.text(Field::os);
    const auto wanted = compiler->version.major();
    ask.question({Field::compiler, Field::os, Field::family},
                 fmt::format("whether family {} can install gcc-{} on {}", family, wanted, os));
    const auto system = lookup::os(ask.facts, os);
    if (!system) {
        ask.unknown(unknown_os(ask.facts, os));
        return;
    }
    const auto row = ask.facts.row(fmt::format("compilers-{}", os));
    std::vector<std::string_view> majors;
    // Packages of dnf have no number in their name: its images compile with the distribution's own.
    if (row) majors.assign(row->list("gccs").begin(), row->list("gccs").end());
    if (!row && system->text("package_manager") == "dnf" && system->has("gcc"))
        majors.push_back(system->text("gcc"));
    const auto fact = row ? row->ref() : system->ref();
    if (majors.empty()) {
        ask.unknown(Field::os, "no fact lists the compilers of the archive of {}", os);
    } else if (contains(majors, std::to_string(wanted))) {
        ask.accept({fact});
    } else {
        ask.reject("family {} cannot install {} on {}: its archive has {}", family,
                   ask.cell.text(Field::compiler), os, named(majors))
            .because(fact)
            .fix(options(ask, majors, wanted));
    }
}

}  // namespace

Rule compiler_in_archive() {
    return {.id = "compiler-in-archive",
            .stage = Stage::install,
            .summary = "The family that the cell names can install the host compiler on the distribution.",
            .why =
                "An image installs the compiler from the archive of its distribution, which holds a few "
                "majors only. For another one apt ends the build with \"Unable to locate package g++-N\".",
            .fails = "family: debian, os: debian12, compiler: gcc-10",
            .passes = "family: debian, os: debian12, compiler: gcc-11",
            .reads = {Field::family, Field::image, Field::os, Field::compiler},
            .needs = {{Field::family}, {Field::os}, {Field::compiler}},
            .judge = judge};
}

}  // namespace cudamatrix::rules
