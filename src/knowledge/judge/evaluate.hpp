// Asks one rule about one projection, and makes sure that what it prints is true: every fix is tried, and
// what rests on an unverified fact is unknown.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge/rules/rule.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::rules {

/// Whether `host_arch` says one for a GPU of an axis while the product says no arch.
[[nodiscard]] bool gpu_implies_arch(const Matrix& matrix, const Facts& facts);

/// Whether the product names a package without a release.
[[nodiscard]] bool leaves_releases_open(const Matrix& matrix);

/// What fields of a cell stand for that it does not say itself.
struct Implies {
    bool arch = true;      ///< its GPU may imply it
    bool releases = true;  ///< a package may be `any`
};
/// What the rule's answer depends on: the fields that it reads, and those by which what it sees is implied.
[[nodiscard]] FieldSet depends_on(const Rule& rule, Implies implies = {});

/// The rule's findings for the cell, without fixes: enough to know whether they were already said.
/// `memo` remembers look-ups between calls with the same facts; `log` learns what was looked at.
[[nodiscard]] Findings ask(const Rule& rule, const Cell& cell, const Facts& facts, std::string_view today,
                           Memo* memo = nullptr, ReadLog* log = nullptr);

/// The same findings with their fixes: for each bound the best of `candidates` that, applied, makes the
/// finding vanish (`vanished`) and makes no other question of the rule open or a rejection.
[[nodiscard]] Findings evaluate(const Rule& rule, const Cell& cell, const Facts& facts,
                                std::string_view today);

/// What our rules said before, for matrices that are judged one after the other or at once by the same facts:
/// each rule is asked once for each projection. Rules of matrix files are none of its business.
class SharedAnswers {
  public:
    /// `facts` are kept by reference.
    SharedAnswers(const Facts& facts, std::string today) : facts_(facts), today_(std::move(today)) {}

    /// As `ask` and `evaluate` say.
    [[nodiscard]] Findings asked(const Rule& rule, const Cell& cell, Memo* memo);
    [[nodiscard]] Findings evaluated(const Rule& rule, const Cell& cell);

  private:
    using Known = std::unordered_map<std::string, Findings>;

    const Facts& facts_;
    std::string today_;
    std::mutex mutex_;
    Known asked_, evaluated_;
};

/// What the rule accepts in the cell. Empty where it has nothing to accept, or accepts without a fact.
[[nodiscard]] Acceptances passes(const Rule& rule, const Cell& cell, const Facts& facts,
                                 std::string_view today);

/// True when `after` has nothing as bad as `finding` to say about the same question: a rejection may become a
/// named limit but no open question, an unknown must become an answer.
[[nodiscard]] bool vanished(const Finding& finding, const Findings& after);

// Cells of the product that agree on the rows of some axes share an answer: the tables of those answers.

/// A number for each position of a projection, 0 until it is set: a plain vector while that is small.
class Projection {
  public:
    /// The axes that have one of `fields`.
    Projection(const Matrix& matrix, FieldSet fields);

    /// The entry of a cell, by the row that it takes of each axis.
    [[nodiscard]] std::uint32_t& entry(std::span<const std::uint64_t> rows) {
        std::uint64_t at = 0;
        for (const auto& [axis, stride] : axes_)
            at += rows[axis] * stride;
        return is_dense_ ? dense_[at] : sparse_[at];
    }

  private:
    std::vector<std::pair<std::size_t, std::uint64_t>> axes_;  ///< axis, stride
    bool is_dense_ = true;
    std::vector<std::uint32_t> dense_;
    std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

}  // namespace cudamatrix::rules
