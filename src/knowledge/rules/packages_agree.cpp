// Do the releases that the cell pins meet each other's demands, and can the demands that two of them make on
// a third be met at all? Beside a torch the demands of torchvision and its sisters on it are left to
// companions-match-torch.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kReplaces =
    ", a pre-release to pip: it would replace NVIDIA's build by a wheel of another";

// Whose pairing with torch other rules judge.
bool is_torch_sister(std::string_view name) {
    return name == "torchvision" || name == "torchaudio" || name == "torchtext" || name == "torchdata";
}

struct Member {
    Package package;
    std::vector<Demand> demands;
};

// What is known of builds of torch beside that of the index default, whose other demands are on other
// libraries: the triton that the wheel pins. Its condition is that of the default build.
std::vector<Demand> pinned_triton(const Context& context, Package& torch) {
    if (torch.in_image || other_os(context)) return {};
    const auto build = if_known(torch_build(context));
    if (!build || !build->torch.wheel || !build->torch.wheel->has("triton")) return {};
    const auto usual = lookup::package_release(context.facts, "torch", build->torch.exact.text());
    const auto pinned = pep440::Version::parse(build->torch.wheel->text("triton"));
    if (!usual || !pinned) return {};
    auto demands = demands_of(context, *usual);
    std::erase_if(demands, [&](const Demand& demand) {
        return demand.name != "triton" || !demand.specifiers().admits(*pinned);
    });
    if (!demands.empty()) torch.torch_release = build->torch.wheel->ref();  // what says it
    return demands;
}

std::vector<Demand> own_demands(const Context& context, Package& package) {
    if (!package.row && package.field == Field::torch) return pinned_triton(context, package);
    if (!package.row) return {};
    auto demands = demands_of(context, *package.row);
    // Beside a torch; where the cell names none, what two of them ask of it is asked here.
    // In an image of NVIDIA's own torch is a pre-release to pip, which all who ask for the release would
    // replace.
    const bool judged_elsewhere = wants_wheel(context) && is_torch_sister(package.name);
    std::erase_if(demands, [&](const Demand& demand) { return judged_elsewhere && demand.name == "torch"; });
    return demands;
}

std::vector<Member> members_of(const Context& context) {
    std::vector<Member> members;
    const auto add = [&](Package package) {
        auto demands = own_demands(context, package);
        members.push_back({std::move(package), std::move(demands)});
    };
    if (auto torch = torch_package(context)) add(*std::move(torch));
    for (auto& package : packages_of(context))
        add(std::move(package));
    return members;
}

const Member* named(const std::vector<Member>& members, std::string_view name) {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const Member& member) { return member.package.name == name; });
    return found == members.end() ? nullptr : &*found;
}

std::vector<FactRef> facts_of(const Package& a, const Package& b) {
    std::vector<FactRef> facts;
    for (const auto* package : {&a, &b}) {
        if (package->row) facts.push_back(package->row->ref());
        if (!package->row && package->torch_release) facts.push_back(*package->torch_release);
    }
    return facts;
}

// Changes of one of the two: another release, of an image's own torch a family with wheels; then without it.
void offer_both(const Context& context, const Package& a, const Package& b, Answer answer) {
    for (const auto* package : {&a, &b}) {
        if (package->in_image) {
            if (package->field == Field::family || context.cell.has(Field::family))
                answer.fix(Field::family, "nvidia-cuda");
        } else if (package->field == Field::torch) {
            answer.accepted_other(Field::torch);
        } else {
            answer.other_release(package->name);
        }
    }
    for (const auto* package : {&a, &b}) {
        if (package->field == Field::packages) answer.without(package->name);
    }
}

std::vector<Field> fields_of(const Package& a, const Package& b) {
    for (const auto* package : {&a, &b}) {
        if (package->in_image) return {Field::packages, package->field};
    }
    if (a.field == Field::torch || b.field == Field::torch) return {Field::packages, Field::torch};
    return {Field::packages};
}

void judge_demand(Ask& ask, const std::vector<Member>& members, const Package& package,
                  const Demand& demand) {
    const auto* member = named(members, demand.name);
    if (member == nullptr) return;
    const auto& other = member->package;
    ask.question(fields_of(package, other), {}, demand.text);
    if (!other.version) {
        if (!other.in_image) return;
        ask.reword(fmt::format("whether it meets {}, which needs torch {}", package.text, demand.clauses));
        ask.unknown(other.field, "no fact says which release {} is", other.text);
    } else if (demand.specifiers().admits(*other.version)) {
        if (ask.accepted == nullptr) return;
        ask.reword(fmt::format("whether {}, which needs {} {}, goes with {}", package.text, demand.name,
                               demand.clauses, other.text));
        ask.record_pass(facts_of(package, other));
    } else {
        auto answer = ask.reject("{} needs {} {}; the cell has {}{}", package.text, demand.name,
                                 demand.clauses, other.text, other.in_image ? kReplaces : "");
        answer.because(facts_of(package, other));
        offer_both(ask, other, package, answer);
    }
}

// Two demands on a package that the cell does not name.
void judge_pair(Ask& ask, const std::vector<Member>& members, const Member& a, const Member& b) {
    for (const auto& first : a.demands) {
        if (named(members, first.name) != nullptr) continue;
        for (const auto& second : b.demands) {
            if (second.name != first.name) continue;
            const bool is_conflict = first.specifiers().excludes(second.specifiers());
            if (!is_conflict && ask.accepted == nullptr) continue;
            ask.question(fields_of(a.package, b.package), {}, first.text);
            if (!is_conflict) {
                ask.affirm("the demands of {} and {} on {} do not exclude each other", a.package.text,
                           b.package.text, first.name);
                ask.record_pass(facts_of(a.package, b.package));
                continue;
            }
            auto answer = ask.reject("{} needs {} {}; {} needs {} {}", a.package.text, first.name,
                                     first.clauses, b.package.text, second.name, second.clauses);
            answer.because(facts_of(a.package, b.package));
            offer_both(ask, a.package, b.package, answer);
        }
    }
}

// What another table says of a release that is older than those that were looked up: makers' wheels, which
// the index never had. Builds of triton for Windows are described as triton.
std::optional<Row> described(const Context& context, const Package& package) {
    const auto& facts = context.facts;
    if (package.name == "triton-windows") return cell_triton(context)->row;
    const auto known = facts.package_releases(package.name);
    if (!package.version || (!known.empty() && known.front().version <= *package.version))
        return std::nullopt;
    for (const auto& table : facts.tables()) {
        if (!table.name.starts_with("package_") || table.name == "package_releases") continue;
        for (const auto& row : table.rows) {
            if (row.has("versions") && describes(row, package.name, *package.version)) return row;
        }
    }
    return std::nullopt;
}

// The known release below the version, else the one above it; only such as were opened where demands are
// asked for.
std::optional<PackageRelease> nearest(const Facts& facts, const Package& package, bool opened) {
    const auto is_above = [&](const PackageRelease& release) {
        return package.version && release.version > *package.version;
    };
    auto known = fitting_releases(facts, package.name, [&](const PackageRelease& release) {
        return !opened || release.row.has("requires");
    });
    if (known.empty()) return std::nullopt;
    const auto above = std::find_if(known.begin(), known.end(), is_above);
    return above == known.begin() ? *above : *(above - 1);
}

void judge_known(Ask& ask, const Package& package, bool alone) {
    if (package.field != Field::packages) return;
    ask.question({Field::packages}, {}, package.name);
    const auto other = package.row ? std::nullopt : described(ask, package);
    if (other) {
        ask.note("no fact lists what {} demands of other packages: that is not checked", package.text)
            .because(other->ref());
        return;
    }
    if (!package.row && !knows_package(ask.facts, package.name)) {
        ask.unknown_as(
               "no fact knows {}: whether it works here is unknown; `cudamatrix check --look` looks "
               "into its wheels",
               package.text)
            .without(package.name);
        return;
    }
    if (package.row && (alone || package.row->has("requires"))) return;
    const auto near = nearest(ask.facts, package, package.row.has_value());
    ask.question({Field::packages}, "whether it fits with the rest of the cell",
                 near ? near->row.text("package") : "");
    auto answer = ask.unknown_as(
        "no fact {} {}{}: {} is unknown", package.row ? "lists the demands of" : "knows", package.text,
        near ? fmt::format(" (the nearest that is known is {})", near->version.text()) : "", ask.text());
    if (!near) return;
    answer.because(near->row.ref()).fix(with_package(ask, package.name, near->version.text()));
}

void judge_packages_agree(Ask& ask) {
    const auto members = members_of(ask);
    for (const auto& member : members)
        judge_known(ask, member.package, members.size() == 1);
    for (const auto& member : members) {
        for (const auto& demand : member.demands)
            judge_demand(ask, members, member.package, demand);
    }
    for (std::size_t a = 0; a < members.size(); ++a) {
        for (std::size_t b = a + 1; b < members.size(); ++b)
            judge_pair(ask, members, members[a], members[b]);
    }
}

}  // namespace

Rule packages_agree() {
    return {.id = "packages-agree",
            .stage = Stage::install,
            .summary = "The Python packages meet each other's demands and fit the cell's torch.",
            .why =
                "Each wheel names the versions of others that it needs. Where two pins contradict, pip ends "
                "with \"ResolutionImpossible\"; forced past it (--no-deps), extensions built for another "
                "torch fail when they are loaded, with undefined symbols.",
            .fails = "torch: 2.6.0, packages: {xformers: 0.0.28, transformers: 4.46.3}",
            .passes = "torch: 2.4.1, packages: {xformers: 0.0.28, transformers: 4.46.3}",
            .reads = {Field::packages, Field::torch, Field::python, Field::arch, Field::image, Field::family,
                      Field::cuda, Field::os},
            .needs = {{Field::packages}},
            .judge = judge_packages_agree,
            .proof = {Attempt::resolve_packages,
                      {"{first} depends on {needed}*", "{second} depends on {needed}*"}},
            .monotone = {Field::packages, Field::python}};
}

}  // namespace cudamatrix::rules
