// The newest stacks that meet what a user asks for; where there is none, why not and what is the least to
// change.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::solve {

// What a user asks for, as words, made into variables and constraints; words that no fact knows are refused
// with what is near.

/// What a user asks for.
struct Query {
    /// A value, a range (">=1.12,<2"), or a pattern ("A100*"); each field at most once.
    std::vector<std::pair<Field, std::string>> fields;
    /// "transformers==4.27.4", "timm>=0.6", "accelerate": a package of the Python index, any of its known
    /// releases where none is named.
    std::vector<std::string> needs;
};

/// "timm>=0.6" in its parts.
struct Need {
    std::string name;               ///< as it is written
    std::string package;            ///< its canonical name
    std::string clauses;            ///< ">=0.6"; empty: any release
    pep440::Specifiers versions{};  ///< the same, read
};
/// Nothing where the text is no need.
[[nodiscard]] std::optional<Need> need_of(std::string_view text);

/// The fields that may be asked for.
[[nodiscard]] const std::vector<Field>& query_fields();

/// The most constraints: every subset of them may have to be looked at.
inline constexpr std::size_t kMostConstraints = 12;

struct SearchProblem {
    std::vector<Variable>
        variables;  ///< torch, python and the driver always; the rest where it was asked for
    std::vector<Constraint> constraints;  ///< in the order of `query`
};

/// Input failures, all of them at once: malformed values, values and packages that no fact knows, ranges that
/// no known value meets, the same package twice, nothing at all, too much.
[[nodiscard]] Result<SearchProblem> search_problem(const Facts& facts, const Query& query);

/// One combination that works.
struct Stack {
    Verdict verdict = Verdict::accepted;
    std::vector<std::pair<Field, Value>> fields;  ///< in the order of the fields
    std::vector<Finding> limits;                  ///< what makes it degraded
    std::string row;                              ///< as it stands under `include:`
    std::string why = {};                         ///< why it stands at this place
    std::string refusal = {};                     ///< why no image of it is rendered; empty: one is

    [[nodiscard]] Cell cell() const;  ///< points into `fields`
};

/// The stack that the assignment makes.
[[nodiscard]] Stack stack_of(RuleCache& cache, const Assignment& assignment);

/// What makes images of cells.
struct Renderer {
    struct Rendering {
        std::string os = {};       ///< the system that the image gets; empty: its base says
        std::string refusal = {};  ///< why there is no image
    };
    std::vector<std::string> families;  ///< the one to take first comes first
    std::function<Rendering(const Cell&)> render;
};

/// The stack that the assignment makes, with family, toolkit and system filled in so that it is rendered;
/// where no family suits it, as it is, with the reason.
[[nodiscard]] Stack completed(RuleCache& cache, const Assignment& assignment, const Renderer& renderer);

/// A constraint with the words of another value: "driver >= 525.60.13".
struct Remedy {
    std::vector<std::string> changes;
    Stack stack;  ///< what works then
};

struct Clash {
    std::vector<std::string> constraints;  ///< "driver 470.161.03"
    struct Reason {
        std::string_view rule;
        Finding example;
        std::uint64_t closed = 0;
        std::vector<FactRef> facts;
    };
    std::vector<Reason> reasons;
};

struct Suggestion {
    std::vector<std::string> constraints;  ///< what was asked for, in words
    std::vector<std::string> free;         ///< "torch: 132 values": what ranged over the facts
    std::vector<Stack> stacks;             ///< best first
    std::vector<Clash> clashes;  ///< where there is no stack: every smallest set of constraints that conflict
    bool all_clashes = true;
    std::vector<Remedy> remedies;
    bool all_remedies = true;
};

struct SuggestOptions {
    std::string today;       ///< YYYY-MM-DD, for ends of life
    std::size_t limit = 5;   ///< stacks at most
    Renderer renderer = {};  ///< without families: stacks stay as they were found
    OnProgress on_progress =
        {};  ///< where it says stop, the search fails as interrupted, without a diagnostic
};

/// One stack for each build of torch (for each CUDA where no torch is wanted), in the order of Ranking. What
/// cannot be rendered is proposed only where nothing of the first 20 can. Releases that were yanked stand
/// only in stacks of which there are no others.
[[nodiscard]] Result<Suggestion> suggest(const Facts& facts, const Query& query,
                                         const SuggestOptions& options);

/// "include:" with the rows of all stacks: a whole matrix file.
[[nodiscard]] std::string matrix_text(const Suggestion& suggestion);

}  // namespace cudamatrix::solve
