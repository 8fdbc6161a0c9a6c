// Which stages decide the verdict of a cell (`stages:`), and which findings do.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/resolve/context.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// Those that the matrix file names; by default all but torch_compile, and build only where the cell compiles
/// something. What does not work at another stage leaves the cell degraded; what is unknown there, as it is.
class DecidingStages {
  public:
    DecidingStages() = default;
    explicit DecidingStages(const Matrix& matrix);

    /// `log`, where there is one, learns which fields of the cell were looked at.
    [[nodiscard]] bool contain(Stage stage, const Cell& cell, rules::ReadLog* log = nullptr) const;
    /// What a verdict at `stage` makes of the cell.
    [[nodiscard]] Verdict weigh(Stage stage, Verdict verdict, const Cell& cell,
                                rules::ReadLog* log = nullptr) const;
    /// The worst that the verdicts of its stages make of the cell.
    [[nodiscard]] Verdict worst(const std::array<Verdict, kStageCount>& stages, const Cell& cell) const;

  private:
    std::optional<std::array<bool, kStageCount>> named_;
};

/// Those of the cell's findings that alone give it its verdict, in their order.
[[nodiscard]] std::vector<const Finding*> deciding_findings(const DecidingStages& deciding,
                                                            const JudgedCell& cell,
                                                            const std::vector<const FindingGroup*>& findings);

[[nodiscard]] std::vector<const Finding*> deciding_findings(const DecidingStages& deciding,
                                                            const JudgedCell& cell,
                                                            const Judgement& judgement);

}  // namespace cudamatrix
