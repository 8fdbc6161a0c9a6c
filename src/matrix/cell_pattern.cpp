#include "matrix/cell_pattern.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "matrix/matrix.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

Result<Condition> values_from(const std::string& which) {
    Condition condition;
    std::vector<Diagnostic> problems;
    for (const auto& part : text::split(which, ',')) {
        const auto equals = std::min(part.find('='), part.size());
        const std::string name(text::trim(std::string_view(part).substr(0, equals)));
        const auto field = field_named(name);
        if (equals == part.size() || !field) {
            std::vector<std::string> names;
            for (const auto& known : all_fields())
                names.emplace_back(known.name);
            const auto near = text::did_you_mean(name, names);
            problems.push_back(
                Diagnostic::error(
                    fmt::format("invalid values {}: expected a field and its value, such as cuda=11.8",
                                in_quotes(part)))
                    .with_fix(field || !near ? "" : fmt::format("did you mean {}?", *near)));
            continue;
        }
        auto all = parse_alternative(*field, text::trim(std::string_view(part).substr(equals + 1)));
        if (auto* problem = std::get_if<ValueProblem>(&all)) {
            problems.push_back(Diagnostic::error(problem->message).with_fix(std::move(problem->fix)));
        } else {
            condition.clauses.push_back({*field, {std::get<std::vector<Predicate>>(std::move(all))}, {}});
        }
    }
    if (!problems.empty()) return Failure{ExitCode::bad_input, std::move(problems)};
    return condition;
}

// Whether `hash` is what ends the shortened id.
bool ends_in_hash(std::string_view id, std::string_view hash) {
    constexpr std::size_t kDigits = 12;
    return hash.size() == kDigits && hash.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
           id.ends_with(hash) && id.substr(0, id.size() - kDigits).ends_with('-');
}

}  // namespace

Result<CellPattern> CellPattern::parse(const std::string& text) {
    CellPattern pattern;
    pattern.text_ = text;
    pattern.by_values_ = text.find('=') != std::string::npos;
    if (pattern.by_values_) {
        CM_TRY_ASSIGN(pattern.values_, values_from(text));
    }
    return pattern;
}

bool CellPattern::means(const std::string& id, const Cell& cell) const {
    if (by_values_) return matches(values_, cell);
    const bool is_glob = text_.find_first_of("*?") != std::string::npos;
    return id == text_ || (is_glob && text::glob_match(text_, id)) || ends_in_hash(id, text_);
}

}  // namespace cudamatrix
