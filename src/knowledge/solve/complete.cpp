// A stack with the family, the toolkit and the system that render needs for an image of it.
#include <deque>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/solve/suggest.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

class Completing {
  public:
    Completing(RuleCache& cache, const Assignment& assignment, const Renderer& renderer)
        : cache_(cache), base_(cache.cell(assignment)), renderer_(renderer) {
        base_verdict_ = cache.verdict(assignment);
    }

    std::optional<Stack> best() {
        const auto of_torch = base_.has(Field::cuda) ? std::vector<std::string>() : toolkits();
        for (const auto& family : renderer_.families) {
            auto cell = base_;
            set(cell, Field::family, family);
            if (attempt(cell)) return std::move(best_);
            for (const auto& toolkit : of_torch) {
                auto with_toolkit = cell;
                set(with_toolkit, Field::cuda, toolkit);
                if (attempt(with_toolkit)) return std::move(best_);
            }
        }
        return std::move(best_);
    }

    [[nodiscard]] const std::string& refusal() const { return refusal_; }

  private:
    void set(Cell& cell, Field field, const std::string& text) {
        auto value = value_from_text(field, text);
        if (std::holds_alternative<Value>(value))
            cell.set(field, &values_.emplace_back(std::get<Value>(std::move(value))));
    }

    // Whether nothing better is to be expected.
    bool attempt(Cell cell) {
        const auto rendering = renderer_.render(cell);
        if (!rendering.refusal.empty()) {
            if (refusal_.empty()) refusal_ = rendering.refusal;
            return false;
        }
        if (!cell.has(Field::os) && !rendering.os.empty()) set(cell, Field::os, rendering.os);
        RuleCache cache(cache_.facts(), cache_.today(), variables_of(cell));
        const Assignment all(cache.variables().size(), 0);
        const auto verdict = cache.verdict(all);
        if (verdict > kGoodEnough || (best_ && best_->verdict <= verdict)) return false;
        best_ = stack_of(cache, all);
        return verdict <= base_verdict_;
    }

    // Those of the CUDA that the torch was built for, the newest first.
    std::vector<std::string> toolkits() const {
        std::vector<std::string> out;
        const auto* torch = base_.get(Field::torch);
        const auto* arch = base_.get(Field::arch);
        const auto build = torch == nullptr
                               ? std::nullopt
                               : lookup::torch(cache_.facts(), torch->text, arch ? arch->text : "x86_64");
        if (!build || !build->wheel || !build->wheel->has("cuda")) return out;
        const auto built = Version::parse(build->wheel->text("cuda"));
        for (const auto& value : variable_of(cache_.facts(), Field::cuda).values) {
            const auto cuda = Version::parse(value->text);
            if (built && cuda && cuda->major_minor() == built->major_minor()) out.push_back(value->text);
        }
        return out;
    }

    RuleCache& cache_;
    Cell base_;
    const Renderer& renderer_;
    Verdict base_verdict_ = Verdict::accepted;
    std::deque<Value> values_;
    std::optional<Stack> best_;
    std::string refusal_;
};

}  // namespace

Stack completed(RuleCache& cache, const Assignment& assignment, const Renderer& renderer) {
    Completing completing(cache, assignment, renderer);
    if (auto best = completing.best()) return *std::move(best);
    auto stack = stack_of(cache, assignment);
    stack.refusal = completing.refusal().empty() ? "no family of images suits it" : completing.refusal();
    return stack;
}

}  // namespace cudamatrix::solve
