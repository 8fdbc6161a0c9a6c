// Can the chosen family really supply that toolkit on that distribution? Asked only where the cell names a
// family: the default family serves rendering, and a matrix that names none asks about combinations and not
// about our images.
#include "base/text.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

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

// The rows with the nearest releases below and above, of those that were verified.
struct Nearest {
    std::optional<Row> below, above;
};

Nearest nearest(const std::vector<Row>& rows, const Version& cuda) {
    Nearest found;
    for (const auto& row : rows) {
        if (row.confidence() == Confidence::unverified) continue;
        const auto release = [](const Row& of) { return lookup::required_version(of, "cuda"); };
        const auto version = release(row);
        if (version < cuda && (!found.below || release(*found.below) < version)) found.below = row;
        if (version > cuda && (!found.above || version < release(*found.above))) found.above = row;
    }
    return found;
}

// A distribution that has this toolkit, the other source of it, the nearest toolkits on this distribution;
// for a family without toolkits one that has it.
std::vector<FixOption> options(const Context& context, const Version& cuda, const Nearest& near) {
    const auto family = context.cell.text(Field::family);
    const auto os = context.cell.text(Field::os);
    const auto from = context.cell.text(Field::cuda_from);
    std::vector<FixOption> found;
    for (const auto& row : context.facts.rows("toolkit_sources")) {
        if (lookup::required_version(row, "cuda") != cuda || (!from.empty() && row.text("cuda_from") != from))
            continue;
        const bool here = !row.has("os") || contains(row.list("os"), os);
        if (row.text("family") == family) found.push_back(set_to(Field::os, row.text("os")));
        if (row.text("family") != family && here) found.push_back(set_to(Field::family, row.text("family")));
    }
    for (const std::string_view other : {"archive", "wheels"}) {
        if (!from.empty() && lookup::toolkit_source(context.facts, family, os, cuda, other)) {
            found.push_back(set_to(Field::cuda_from, other));
        }
    }
    if (near.below) found.push_back(set_to(Field::cuda, near.below->text("cuda")));
    if (near.above) found.push_back(set_to(Field::cuda, near.above->text("cuda")));
    return found;
}

void judge(const Context& context, Findings& out) {
    const auto family = context.cell.text(Field::family);
    const auto os = context.cell.text(Field::os);
    const auto from = context.cell.text(Field::cuda_from);
    if (context.cell.has(Field::image)) return;  // a whole reference overrides the family
    // An image that brings the toolkit: image-tag-exists says whether it is there.
    const auto repository = family_repository(context.facts, family);
    if (repository && repository->text("scheme") != "python") return;
    const auto resolved = image_cuda(context);
    const std::vector<Field> about{Field::cuda, Field::os, Field::family};
    const auto question = fmt::format("whether family {} supplies it on {}", family, os);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "", about, *gap, question));
        return;
    }
    const auto& cuda = std::get<lookup::Cuda>(resolved).exact;
    if (const auto source = lookup::toolkit_source(context.facts, family, os, cuda, from)) {
        accept(context, out, kStage, "", about, question, {source->ref()});
        return;
    }
    if (family != "cpu" && supplied(context.facts, family, {}, {}).empty()) {
        const Unresolved gap{
            Field::family, fmt::format("no fact lists the toolkits of family {}", family), {}};
        out.push_back(unknown(kStage, "", about, gap,
                              fmt::format("whether it supplies CUDA {} on {}", cuda.text(), os)));
        return;
    }
    if (family != "cpu" && !lookup::os(context.facts, os)) {
        out.push_back(unknown(kStage, "", about, unknown_os(context.facts, os),
                              fmt::format("whether family {} supplies CUDA {} on it", family, cuda.text())));
        return;
    }
    const auto here = supplied(context.facts, family, os, from);
    const auto near = nearest(here, cuda);
    std::vector<FactRef> facts;
    for (const auto& row : {near.below, near.above}) {
        if (row) facts.push_back(row->ref());
    }
    if (facts.empty()) cite(facts, context.facts, fmt::format("os-{}", os));
    auto error = finding(
        Severity::error, kStage, "", about,
        fmt::format("family {} cannot supply CUDA {} on {}{}: it has {} there", family, cuda.text(), os,
                    from.empty() ? std::string() : fmt::format(" from {}", from), supplied_text(here)),
        std::move(facts));
    error.fixes = options(context, cuda, near);
    out.push_back(std::move(error));
}

}  // namespace

Rule toolkit_available() {
    return {.id = "toolkit-available",
            .stage = kStage,
            .summary = "The family that the cell names can really supply the toolkit on the distribution.",
            .why =
                "A family supplies only the toolkits that its archive or the wheels really hold; any other "
                "version cannot be installed, whatever the tag of the image says.",
            .fails = "family: debian, os: debian12, cuda: 12.4.1, cuda_from: archive",
            .passes = "family: debian, os: debian12, cuda: 11.8.0, cuda_from: archive",
            .reads = {Field::family, Field::image, Field::os, Field::cuda, Field::cuda_from},
            .needs = {{Field::family}, {Field::os}, {Field::cuda}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
