#include "knowledge/resolve/unpinned.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/source_only.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

// Releases that are tried together, where several packages have none pinned; pip gives up some time, too.
constexpr std::size_t kMostTried = 50'000;

// Torch or a pin of the cell, or a release that may be taken.
struct Member {
    std::string name;
    std::string text;  ///< "vllm 0.33.0"
    std::optional<pep440::Version> version;
    std::vector<Demand> demands;
    std::optional<Row> row;
    Field field = Field::packages;
};

struct Obstacle {
    std::string text;
    Field field = Field::packages;
    std::vector<FactRef> facts;
};

// A release that fits the cell.
struct FittingRelease {
    PackageRelease release;
    Member member;
};

struct Open {
    Unpinned answer;
    std::size_t looked_at = 0;              ///< releases, from the newest
    std::vector<FittingRelease> fitting{};  ///< of those, newest first
    std::size_t taken = 0;
};

// What the first demands of the second and does not get.
std::optional<std::string> unmet(const Member& from, const Member& to) {
    for (const auto& demand : from.demands) {
        if (demand.name == to.name && to.version && !demand.specifiers().admits(*to.version))
            return fmt::format("{} needs {} {}, not {}", from.text, demand.name, demand.clauses, to.text);
    }
    return std::nullopt;
}

// What the two demand of a third that cannot be met.
std::optional<std::string> contradiction(const Member& a, const Member& b) {
    for (const auto& first : a.demands) {
        for (const auto& second : b.demands) {
            if (second.name == first.name && first.specifiers().excludes(second.specifiers()))
                return fmt::format("{} needs {} {}, {} needs {} {}", a.text, first.name, first.clauses,
                                   b.text, second.name, second.clauses);
        }
    }
    return std::nullopt;
}

std::optional<std::string> clash(const Member& a, const Member& b) {
    auto text = unmet(a, b);
    if (!text) text = unmet(b, a);
    return text ? text : contradiction(a, b);
}

// Finds releases as pip does: the newest first, and an older one of an earlier package only where a later one
// has none that goes with it.
class Choosing {
  public:
    explicit Choosing(const Context& context)
        : context_(context),
          machine_(machine_of(context)),
          python_(python_of(context.cell.text(Field::python))),
          wheels_only_(gets_image(context.cell)) {
        if (const auto torch = torch_package(context)) pins_.push_back(member_of(*torch));
        for (const auto& package : packages_of(context))
            pins_.push_back(member_of(package));
    }

    std::vector<Unpinned> run() {
        for (const auto& [name, version] : context_.cell.value(Field::packages)->items) {
            if (version == kAnyVersion) open_.push_back({Unpinned{.name = pep440::canonical_name(name)}});
        }
        for (auto& open : open_)
            begin(open);
        const bool found = choose(0);
        for (auto& open : open_) {
            if (open.fitting.empty()) continue;
            if (found) {
                open.answer.release = open.fitting[open.taken].release;
            } else if (tried_ <= kMostTried) {
                open.answer.obstacle =
                    fmt::format("it and {} have no releases that go together", others(open));
                open.answer.facts = {open.fitting.front().release.row.ref()};
            }
        }
        std::vector<Unpinned> out;
        for (auto& open : open_)
            out.push_back(std::move(open.answer));
        return out;
    }

  private:
    [[nodiscard]] Member member_of(const Package& package) const {
        auto demands = package.row ? demands_of(context_, *package.row) : std::vector<Demand>();
        return {package.name, package.text, package.version, std::move(demands), package.row, package.field};
    }

    // The newest that fits, or why there is none.
    void begin(Open& open) const {
        auto& answer = open.answer;
        const auto known = context_.facts.package_releases(answer.name);
        answer.is_known = !known.empty();
        if (known.empty()) return;
        if (find_next(open)) {
            answer = {.name = std::move(answer.name), .is_known = true};
        } else if (answer.obstacle.empty()) {
            answer.obstacle = "all its releases were yanked";
            answer.facts = {known.back().row.ref()};
        }
    }

    // One more that fits; false where there are no more.
    bool find_next(Open& open) const {
        auto& answer = open.answer;
        const auto known = context_.facts.package_releases(answer.name);
        const auto is_early = [](const PackageRelease& each) { return each.version.is_prerelease(); };
        const bool only_early = std::all_of(known.begin(), known.end(), is_early);
        while (open.looked_at < known.size()) {
            const auto& release = known[known.size() - ++open.looked_at];
            // A yanked release is for those who pin exactly it, a pre-release for want of others.
            if (lookup::is_yanked(release.row) || (is_early(release) && !only_early)) continue;
            const auto text = fmt::format("{} {}", answer.name, release.text);
            auto obstacle = not_installed(text, release.row);
            if (!obstacle) {
                Member member{answer.name, text, release.version, demands_of(context_, release.row),
                              release.row};
                obstacle = disagreement(member);
                if (!obstacle) {
                    open.fitting.push_back({release, std::move(member)});
                    return true;
                }
            }
            if (!answer.obstacle.empty() || !open.fitting.empty()) continue;
            answer.obstacle = "the newest: " + std::move(obstacle->text);
            answer.field = obstacle->field;
            answer.facts = std::move(obstacle->facts);
        }
        return false;
    }

    // What torch and the pins have against it, or a source that it brings.
    [[nodiscard]] std::optional<Obstacle> disagreement(const Member& release) const {
        for (const auto& pin : pins_) {
            auto text = clash(release, pin);
            if (!text) continue;
            std::vector<FactRef> facts{release.row->ref()};
            if (pin.row) facts.push_back(pin.row->ref());
            return Obstacle{*std::move(text), pin.field, std::move(facts)};
        }
        if (!wheels_only_) return std::nullopt;
        auto source =
            source_only(context_, release.text, *release.row, [&](auto name) { return is_named(name); });
        if (!source) return std::nullopt;
        return Obstacle{source->chain + ", which has no wheel", Field::packages, std::move(source->facts)};
    }

    [[nodiscard]] bool is_named(std::string_view name) const {
        return std::any_of(pins_.begin(), pins_.end(), [&](const Member& pin) { return pin.name == name; }) ||
               std::any_of(open_.begin(), open_.end(),
                           [&](const Open& open) { return open.answer.name == name; });
    }

    // What the python and the machine have against it.
    [[nodiscard]] std::optional<Obstacle> not_installed(const std::string& text, const Row& row) const {
        if (python_ && !admits(row, *python_)) {
            return Obstacle{fmt::format("{} needs python {}, not python {}", text,
                                        row.text("requires_python"), python_->text),
                            Field::python,
                            {row.ref()}};
        }
        if (!row.has("abi") || !knows_wheels(row, machine_)) return std::nullopt;
        if (row.text("sdist") == "true" && !wheels_only_) return std::nullopt;
        if (lacks_wheels(row, machine_)) {
            return Obstacle{
                fmt::format("{} has no wheel for {}", text, machine_.text), machine_.field(), {row.ref()}};
        }
        if (!python_ || has_wheel(row, *python_, machine_)) return std::nullopt;
        return Obstacle{
            fmt::format("{} has no wheel for python {} on {}", text, python_->text, on_system(machine_)),
            Field::python,
            {row.ref()}};
    }

    // Takes one of each package from `from` on; false where there are none that go together.
    bool choose(std::size_t from) {
        if (from == open_.size()) return true;
        auto& open = open_[from];
        if (open.fitting.empty()) return choose(from + 1);
        for (open.taken = 0; open.taken < open.fitting.size() || find_next(open); ++open.taken) {
            if (++tried_ > kMostTried) return false;
            if (goes_with_taken(from) && choose(from + 1)) return true;
        }
        return false;
    }

    [[nodiscard]] bool goes_with_taken(std::size_t at) const {
        const auto taken = [](const Open& open) -> const Member& { return open.fitting[open.taken].member; };
        for (std::size_t i = 0; i < at; ++i) {
            if (!open_[i].fitting.empty() && clash(taken(open_[i]), taken(open_[at]))) return false;
        }
        return true;
    }

    [[nodiscard]] std::string others(const Open& but) const {
        std::vector<std::string> names;
        for (const auto& open : open_) {
            if (&open != &but && !open.fitting.empty()) names.push_back(open.answer.name);
        }
        return text::join(names, ", ");
    }

    const Context& context_;
    Machine machine_;
    std::optional<Python> python_;
    bool wheels_only_;
    std::vector<Member> pins_;
    std::vector<Open> open_;
    std::size_t tried_ = 0;
};

std::string key_of(const Context& context) {
    std::string key;
    for (const auto& field : all_fields()) {
        if (!kReadByUnpinned.contains(field.field)) continue;
        key += context.cell.has(field.field) ? context.cell.text(field.field) : "-";
        key += '\n';
    }
    return key;
}

}  // namespace

std::string_view implied_arch(const Facts& facts, const Cell& cell) {
    const auto* gpu = cell.get(Field::gpu);
    return gpu == nullptr || cell.has(Field::arch) ? std::string_view() : host_arch(facts, gpu->text);
}

bool has_unpinned(const Value* packages) {
    return packages != nullptr && std::any_of(packages->items.begin(), packages->items.end(),
                                              [](const auto& item) { return item.second == kAnyVersion; });
}

std::vector<Unpinned> unpinned(const Context& context) {
    if (context.memo == nullptr) return Choosing(context).run();
    auto& known = context.memo->unpinned[key_of(context)];
    if (!known) known = std::make_shared<const std::vector<Unpinned>>(Choosing(context).run());
    return *known;
}

std::optional<Value> with_releases(const Cell& cell, const Facts& facts, Memo* memo, ReadLog* log) {
    const auto* written = cell.get(Field::packages);
    if (!has_unpinned(written)) return std::nullopt;
    const Value arch{std::string(implied_arch(facts, cell)), {}, {}};
    ProjectedCell view(cell, kReadByUnpinned, log);
    if (!arch.text.empty()) view = view.with(Field::arch, &arch);
    auto value = *written;
    const auto found = unpinned({view, facts, {}, memo, nullptr});
    for (auto next = found.begin(); auto& [name, version] : value.items) {
        if (version != kAnyVersion) continue;
        if (next->release) version = next->release->text;
        ++next;
    }
    set_text_from_items(value, Syntax::string_map);
    return value;
}

}  // namespace cudamatrix::rules
