// Flaws of the container toolkit let a container reach its host: who runs foreign images wants to know.
#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// A series without its last part stands for its newest release, which has what was fixed in the series.
bool is_affected(const Version& toolkit, const Version& fixed_in) {
    return toolkit < fixed_in && !(toolkit.size() < 3 && toolkit.covers(fixed_in));
}

void judge(Ask& ask) {
    const auto text = ask.cell.text(Field::toolkit);
    const auto toolkit = Version::parse(text);
    if (!toolkit) return;
    std::vector<std::string> names;
    std::vector<FactRef> flaws;
    std::optional<Version> fixed;
    for (const auto& row : ask.facts.rows("container_toolkit_flaws")) {
        const auto fixed_in = lookup::required_version(row, "fixed_in");
        if (!is_affected(*toolkit, fixed_in)) continue;
        const auto mode = row.text("only_mode");
        names.push_back(fmt::format("{} ({}{})", row.text("cve"), row.text("says"),
                                    mode.empty() ? "" : fmt::format("; only in {} mode", mode)));
        flaws.push_back(row.ref());
        if (!fixed || *fixed < fixed_in) fixed = fixed_in;
    }
    ask.question({Field::toolkit}, "whether it has published flaws");
    if (!names.empty()) {
        ask.degrade("container toolkit {} has {}: {}; fixed in {}", text,
                    text::count(names.size(), "published flaw"), text::join(names, ", "), fixed->text())
            .because(flaws)
            .fix(set_to(Field::toolkit, fixed->text(), "toolkit >= " + fixed->text()));
    } else if (const auto known = container_toolkit(ask)) {
        ask.affirm("no published flaw of container toolkit {} is known", text);
        ask.accept({known->ref()});
    } else {
        const auto last = ask.facts.rows("container_toolkits").back().text("last");
        ask.unknown(Field::toolkit, "no fact knows toolkit {} (the newest that is known is {})", text, last)
            .fix(Field::toolkit, last);
    }
}

}  // namespace

Rule container_toolkit_vulnerable() {
    return {.id = "container-toolkit-vulnerable",
            .stage = Stage::container_start,
            .summary = "The container toolkit has no published flaw.",
            .why =
                "The toolkit prepares each GPU container with the rights of the host. With a flawed release "
                "a crafted image reads the host's files or runs code on it, and nothing in the container "
                "fails to tell so.",
            .fails = "toolkit: 1.17.3",
            .passes = "toolkit: 1.19.1",
            .reads = {Field::toolkit},
            .needs = {{Field::toolkit}},
            .judge = judge};
}

}  // namespace cudamatrix::rules
