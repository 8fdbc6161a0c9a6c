// Do the releases that the cell pins meet each other's demands, and can the demands that two of them make on
// a third be met at all? Beside a torch the demands of torchvision and its sisters on it are left to
// companions-match-torch.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

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

std::vector<Demand> own_demands(const Context& context, const Package& package) {
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

// Whether the others' demands on `who` admit a release of it.
bool is_met_by(const std::vector<Member>& members, const Package& who, const Release& release) {
    return std::all_of(members.begin(), members.end(), [&](const Member& other) {
        return std::all_of(other.demands.begin(), other.demands.end(), [&](const Demand& demand) {
            return demand.name != who.name || demand.specifiers().admits(release.version);
        });
    });
}

// Whether a demand leaves room for the cell's pin of that package, or else for the others' demands on it.
bool can_be_met(const std::vector<Member>& members, const Package& who, const Demand& demand) {
    if (const auto* pinned = named(members, demand.name); pinned != nullptr) {
        return pinned->package.name == who.name || !pinned->package.version ||
               demand.specifiers().admits(*pinned->package.version);
    }
    return std::none_of(members.begin(), members.end(), [&](const Member& other) {
        return other.package.name != who.name &&
               std::any_of(other.demands.begin(), other.demands.end(), [&](const Demand& theirs) {
                   return theirs.name == demand.name && demand.specifiers().excludes(theirs.specifiers());
               });
    });
}

// Whether a release of `who` would meet and be met by all others. Most releases end at the first line: the
// own demands are read of few.
bool fits_in(const Context& context, const std::vector<Member>& members, const Package& who,
             const Release& release) {
    if (!release.row.has("requires") || !is_met_by(members, who, release)) return false;
    Package changed = who;
    changed.row = release.row;
    const auto demands = own_demands(context, changed);
    // A sister of torch that demands none goes with one torch all the same: it is no way out.
    const auto asks_for_torch = [](const Demand& demand) { return demand.name == "torch"; };
    if (!wants_torch(context) && is_torch_sister(who.name) &&
        std::none_of(demands.begin(), demands.end(), asks_for_torch))
        return false;
    return std::all_of(demands.begin(), demands.end(),
                       [&](const Demand& demand) { return can_be_met(members, who, demand); });
}

std::vector<FactRef> facts_of(const Package& a, const Package& b) {
    std::vector<FactRef> facts;
    for (const auto* package : {&a, &b}) {
        if (package->row) facts.push_back(package->row->ref());
        if (!package->row && package->torch_release) facts.push_back(*package->torch_release);
    }
    return facts;
}

// Ways to change one of the two: another release that fits with all others, or, of torch, another build.
void offer(const Context& context, const std::vector<Member>& members, const Package& package,
           Finding& error) {
    if (!context.wants_fixes) return;
    std::vector<FixOption> options;
    if (package.in_image) {
        if (package.field == Field::family || context.cell.has(Field::family))
            options.push_back(set_to(Field::family, "nvidia-cuda"));
    } else if (package.field == Field::torch) {
        options = torch_options(context, [&](const Row& wheel) {
            const auto version =
                pep440::Version::parse(fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant")));
            return std::all_of(members.begin(), members.end(), [&](const Member& other) {
                return std::all_of(other.demands.begin(), other.demands.end(), [&](const Demand& demand) {
                    return demand.name != "torch" || demand.specifiers().admits(*version);
                });
            });
        });
    } else {
        options = release_options(context, package, [&](const Release& release) {
            return fits_in(context, members, package, release);
        });
    }
    for (auto& option : options)
        error.fixes.push_back(std::move(option));
}

void offer_both(const Context& context, const std::vector<Member>& members, const Package& a,
                const Package& b, Finding& error) {
    offer(context, members, a, error);
    offer(context, members, b, error);
    for (const auto* package : {&a, &b}) {
        if (package->field == Field::packages) error.fixes.push_back(without_package(context, package->name));
    }
}

std::vector<Field> fields_of(const Package& a, const Package& b) {
    for (const auto* package : {&a, &b}) {
        if (package->in_image) return {Field::packages, package->field};
    }
    if (a.field == Field::torch || b.field == Field::torch) return {Field::packages, Field::torch};
    return {Field::packages};
}

void judge_demands(const Context& context, const std::vector<Member>& members, const Member& member,
                   Findings& out) {
    for (const auto& demand : member.demands) {
        const auto* other = named(members, demand.name);
        if (other != nullptr && other->package.in_image && !other->package.version) {
            const Unresolved gap{other->package.field,
                                 fmt::format("no fact says which release {} is", other->package.text),
                                 {}};
            out.push_back(unknown(kStage, demand.text, fields_of(member.package, other->package), gap,
                                  fmt::format("whether it meets {}, which needs torch {}",
                                              member.package.text, demand.clauses)));
            continue;
        }
        if (other == nullptr || !other->package.version) continue;
        if (demand.specifiers().admits(*other->package.version)) {
            passed(context, [&] {
                return Acceptance{
                    {},
                    kStage,
                    fields_of(member.package, other->package),
                    fmt::format("whether {}, which needs {} {}, goes with {}", member.package.text,
                                demand.name, demand.clauses, other->package.text),
                    facts_of(member.package, other->package)};
            });
            continue;
        }
        auto error = finding(
            Severity::error, kStage, demand.text, fields_of(member.package, other->package),
            fmt::format("{} needs {} {}; the cell has {}{}", member.package.text, demand.name, demand.clauses,
                        other->package.text, other->package.in_image ? kReplaces : ""),
            facts_of(member.package, other->package));
        offer_both(context, members, other->package, member.package, error);
        out.push_back(std::move(error));
    }
}

// Two demands on a package that the cell does not name.
void judge_pair(const Context& context, const std::vector<Member>& members, const Member& a, const Member& b,
                Findings& out) {
    for (const auto& first : a.demands) {
        if (named(members, first.name) != nullptr) continue;
        for (const auto& second : b.demands) {
            if (second.name != first.name || !first.specifiers().excludes(second.specifiers())) continue;
            auto error = finding(Severity::error, kStage, first.text, fields_of(a.package, b.package),
                                 fmt::format("{} needs {} {}; {} needs {} {}", a.package.text, first.name,
                                             first.clauses, b.package.text, second.name, second.clauses),
                                 facts_of(a.package, b.package));
            offer_both(context, members, a.package, b.package, error);
            out.push_back(std::move(error));
        }
    }
}

// The known release below the version, else the one above it; only such as were opened where demands are
// asked for.
std::optional<Release> nearest(const Facts& facts, const Package& package, bool opened) {
    const auto is_above = [&](const Release& release) {
        return package.version && release.version > *package.version;
    };
    auto known = fitting_releases(
        facts, package.name, [&](const Release& release) { return !opened || release.row.has("requires"); });
    if (known.empty()) return std::nullopt;
    const auto above = std::find_if(known.begin(), known.end(), is_above);
    return above == known.begin() ? *above : *(above - 1);
}

void judge_known(const Context& context, const Package& package, bool alone, Findings& out) {
    if (package.field != Field::packages) return;
    const std::vector<Field> about{Field::packages};
    if (!package.row && !knows_package(context.facts, package.name)) {
        out.push_back(finding(
            Severity::note, kStage, "", about,
            fmt::format("no fact lists the releases of {}: its own demands are not checked", package.name),
            {}));
        return;
    }
    if (package.row && (alone || package.row->has("requires"))) return;
    const auto near = nearest(context.facts, package, package.row.has_value());
    const Unresolved gap{
        Field::packages,
        fmt::format("no fact {} {}", package.row ? "lists the demands of" : "knows", package.text),
        {}};
    auto open = unknown(kStage, "", about, gap, "whether it fits with the rest of the cell");
    if (near) {
        open.message = fmt::format(
            "{} (the nearest that is known is {}): whether it fits with the rest of "
            "the cell is unknown",
            gap.what, near->version.text());
        open.facts = {near->row.ref()};
        open.fixes = {with_package(context, package.name, near->version.text())};
        open.aspect = near->row.text("package");
    }
    out.push_back(std::move(open));
}

void judge(const Context& context, Findings& out) {
    const auto members = members_of(context);
    for (const auto& member : members)
        judge_known(context, member.package, members.size() == 1, out);
    for (const auto& member : members)
        judge_demands(context, members, member, out);
    for (std::size_t a = 0; a < members.size(); ++a) {
        for (std::size_t b = a + 1; b < members.size(); ++b)
            judge_pair(context, members, members[a], members[b], out);
    }
}

}  // namespace

Rule packages_agree() {
    return {.id = "packages-agree",
            .stage = kStage,
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
            .judge = plain(judge),
            .add_up = {Field::packages, Field::python}};
}

}  // namespace cudamatrix::rules
