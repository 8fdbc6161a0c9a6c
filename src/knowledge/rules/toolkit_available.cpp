// Can the chosen family really supply that toolkit on that distribution? Asked only where the cell names a
// family: the default family is for rendering, and a matrix that names none asks about combinations, not
// about our images.
#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// Rows of a family, of one distribution or of all.
std::vector<Row> supplied(const Facts& facts, std::string_view family, std::string_view os,
                          std::string_view from) {
    std::vector<Row> rows;
    for (const auto& row : facts.rows("toolkit_sources")) {
        if (row.text("family") != family) continue;
        if (!os.empty() && row.has("os") && !contains(row.list("os"), os)) continue;
        if (!from.empty() && row.text("cuda_from") != from) continue;
        rows.push_back(row);
    }
    return rows;
}

// "11.8.0 (archive), 13.0.1 to 13.4.3 (wheels)".
std::string supplied_text(const std::vector<Row>& rows) {
    constexpr std::size_t kShown = 3;
    std::string out;
    for (const std::string_view from : {"archive", "wheels"}) {
        std::vector<std::string_view> versions;
        for (const auto& row : rows) {
            if (row.text("cuda_from") == from) versions.push_back(row.text("cuda"));
        }
        if (versions.empty()) continue;
        const auto text = versions.size() > kShown
                              ? fmt::format("{} to {}", versions.front(), versions.back())
                              : listed(versions);
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", text, from);
    }
    return out.empty() ? "no toolkit" : out;
}

// The rows with the nearest verified releases below and above.
std::vector<Row> nearest(const std::vector<Row>& rows, const Version& cuda) {
    const auto release = [](const Row& of) { return lookup::required_version(of, "cuda"); };
    std::optional<Row> below, above;
    for (const auto& row : rows) {
        if (row.confidence() == Confidence::unverified) continue;
        const auto version = release(row);
        if (version < cuda && (!below || release(*below) < version)) below = row;
        if (version > cuda && (!above || version < release(*above))) above = row;
    }
    std::vector<Row> found;
    for (const auto& row : {below, above}) {
        if (row) found.push_back(*row);
    }
    return found;
}

void judge_missing(Ask& ask, const Version& cuda) {
    const auto family = ask.cell.text(Field::family);
    const auto os = ask.cell.text(Field::os);
    const auto from = ask.cell.text(Field::cuda_from);
    const auto here = supplied(ask.facts, family, os, from);
    const auto near = nearest(here, cuda);
    auto answer =
        ask.reject("family {} cannot supply CUDA {} on {}{}: it has {} there", family, cuda.text(), os,
                   from.empty() ? std::string() : fmt::format(" from {}", from), supplied_text(here));
    // A distribution that has this toolkit, another family that has it, the other source of it.
    for (const auto& row : ask.facts.rows("toolkit_sources")) {
        if (lookup::required_version(row, "cuda") != cuda) continue;
        const auto field = row.text("family") == family ? Field::os : Field::family;
        answer.fix(field, row.text(info(field).name));
    }
    for (const std::string_view other : {"archive", "wheels"}) {
        if (!from.empty()) answer.fix(Field::cuda_from, other);
    }
    for (const auto& row : near)
        answer.because(row.ref()).fix(Field::cuda, row.text("cuda"));
    if (near.empty()) answer.because(ask.facts.row(fmt::format("os-{}", os)));
}

void judge_toolkit_available(Ask& ask) {
    const auto family = ask.cell.text(Field::family);
    const auto os = ask.cell.text(Field::os);
    if (ask.cell.has(Field::image)) return;  // a whole reference overrides the family
    // Of an image that brings the toolkit, image-tag-exists says whether it is there.
    const auto repository = family_repository(ask.facts, family);
    if (repository && repository->text("scheme") != "python") return;
    ask.question({Field::cuda, Field::os, Field::family},
                 fmt::format("whether family {} supplies it on {}", family, os));
    const auto known = ask.cuda();
    if (!known) return;
    const auto& cuda = known->exact;
    if (const auto source =
            lookup::toolkit_source(ask.facts, family, os, cuda, ask.cell.text(Field::cuda_from))) {
        ask.affirm("family {} supplies CUDA {} on {}", family, cuda.text(), os);
        ask.accept({source->ref()});
    } else if (family != "cpu" && supplied(ask.facts, family, {}, {}).empty()) {
        ask.reword(fmt::format("whether it supplies CUDA {} on {}", cuda.text(), os));
        ask.unknown(Field::family, "no fact lists the toolkits of family {}", family);
    } else if (family != "cpu" && !lookup::os(ask.facts, os)) {
        ask.reword(fmt::format("whether family {} supplies CUDA {} on it", family, cuda.text()));
        ask.unknown(unknown_os(ask.facts, os));
    } else {
        judge_missing(ask, cuda);
    }
}

}  // namespace

Rule toolkit_available() {
    return {.id = "toolkit-available",
            .stage = Stage::install,
            .summary = "The family that the cell names can really supply the toolkit on the distribution.",
            .why =
                "A family supplies only the toolkits that its archive or the wheels really hold; any other "
                "version cannot be installed, whatever the tag of the image says.",
            .fails = "family: debian, os: debian12, cuda: 12.4.1, cuda_from: archive",
            .passes = "family: debian, os: debian12, cuda: 11.8.0, cuda_from: archive",
            .reads = {Field::family, Field::image, Field::os, Field::cuda, Field::cuda_from},
            .needs = {{Field::family}, {Field::os}, {Field::cuda}},
            .judge = judge_toolkit_available};
}

}  // namespace cudamatrix::rules
