// A way that a review found, and recorded, carried out later.
#pragma once

#include <string>
#include <vector>

#include "advise/upgrade/outcome.hpp"
#include "advise/upgrade/plans.hpp"
#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::upgrade {

/// `aim`, `steps` and `source` of its Outcome.
struct FoundWay {
    Aim aim = Aim::hold;
    std::vector<Step> steps;
    std::string source;
};

/// The file with that text, judged beside what it was. `judgement` is of `matrix`, as of `today`. Input
/// failures: a text that is no matrix file.
[[nodiscard]] Result<Outcome> applied(const Matrix& matrix, const Judgement& judgement, const Facts& facts,
                                      const std::string& today, FoundWay way, const Reread& read,
                                      const OnProgress& on_progress = {});

}  // namespace cudamatrix::upgrade
