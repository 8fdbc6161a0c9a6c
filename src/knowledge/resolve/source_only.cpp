#include "knowledge/resolve/source_only.hpp"

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

constexpr int kLongestChain = 3;

class Following {
  public:
    Following(const Context& context, const std::function<bool(std::string_view)>& is_named)
        : context_(context),
          machine_(machine_of(context)),
          python_(python_of(context.cell.text(Field::python))),
          is_named_(is_named) {}

    [[nodiscard]] std::optional<SourceOnly> of(std::string_view text, const Row& release, int links) const {
        for (const auto& demand : demands_of(context_, release)) {
            if (demand.name == "torch" || is_named_(demand.name)) continue;
            auto found = behind(demand, links);
            if (!found) continue;
            const auto rest = found->chain.empty() ? "" : ", " + found->chain;
            found->chain = fmt::format("{} needs {} {}{}", text, demand.name, demand.clauses, rest);
            found->facts.insert(found->facts.begin(), release.ref());
            return found;
        }
        return std::nullopt;
    }

    /// What an answer rests on beside the packages that are named.
    [[nodiscard]] std::string key(const Row& release) const {
        return fmt::format("{}\n{}\n{}\n{}", release.id(), context_.cell.text(Field::python), machine_.system,
                           machine_.arch);
    }

  private:
    // Of the releases that the demand takes the newest, if each of them comes to a source.
    [[nodiscard]] std::optional<SourceOnly> behind(const Demand& demand, int links) const {
        std::optional<SourceOnly> newest;
        const auto known = context_.facts.package_releases(demand.name);
        for (auto each = known.rbegin(); each != known.rend(); ++each) {
            const auto& row = each->row;
            if (!demand.specifiers().admits(each->version) || lookup::is_yanked(row)) continue;
            if (python_ && !admits(row, *python_)) continue;
            if (!row.has("abi") || !knows_wheels(row, machine_)) return std::nullopt;
            std::optional<SourceOnly> found;
            if (!lacks_wheels(row, machine_)) {
                if (links < kLongestChain)
                    found = of(fmt::format("{} {}", demand.name, each->text), row, links + 1);
                if (!found) return std::nullopt;
            } else if (row.text("sdist") == "true") {
                found = SourceOnly{{}, std::string(demand.name), *each, {row.ref()}};
            }
            if (!newest) newest = std::move(found);
        }
        return newest;
    }

    const Context& context_;
    Machine machine_;
    std::optional<Python> python_;
    const std::function<bool(std::string_view)>& is_named_;
};

}  // namespace

std::optional<SourceOnly> source_only(const Context& context, std::string_view text, const Row& release,
                                      const std::function<bool(std::string_view)>& is_named) {
    const Following following(context, is_named);
    if (context.memo != nullptr) {
        // The more packages are named, the fewer are followed: most releases come to no source anyway.
        const auto [known, is_new] = context.memo->sources.try_emplace(following.key(release), false);
        if (is_new) {
            const std::function<bool(std::string_view)> none = [](std::string_view) { return false; };
            known->second = Following(context, none).of(text, release, 1).has_value();
        }
        if (!known->second) return std::nullopt;
    }
    return following.of(text, release, 1);
}

}  // namespace cudamatrix::rules
