// Can the chosen family install that host compiler on that distribution? Asked only where the cell names a
// family, as toolkit-available does.
#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

void judge_compiler_in_archive(Ask& ask) {
    const auto family = ask.cell.text(Field::family);
    // A whole reference overrides the family: whoever writes it builds the image. The images of the other
    // families compile with what their base has.
    constexpr std::string_view installing[] = {"debian", "nvidia-cuda", "rockylinux", "ubuntu"};
    if (ask.cell.has(Field::image) || std::ranges::find(installing, family) == std::end(installing)) return;
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
        std::vector<std::string> compilers;
        for (const auto major : majors)
            compilers.push_back(fmt::format("gcc-{}", major));
        ask.reject("family {} cannot install {} on {}: its archive has {}", family,
                   ask.cell.text(Field::compiler), os, text::join(compilers, ", "))
            .because(fact)
            .one_of(Field::compiler, compilers)
            .accepted_other(Field::os);
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
            .judge = judge_compiler_in_archive};
}

}  // namespace cudamatrix::rules
