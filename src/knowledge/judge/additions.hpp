// Judging what images and services of the matrix file add to cells: packages and environment variables.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::rules {

/// Why cells are unknown by what is added to them, by their place in the judgement.
using HeldCells = std::map<std::size_t, std::pair<Stage, std::string>>;

/// What the rules say of the cells that an entry of images or services is for (those that are not rejected or
/// unknown by themselves), and only with what the entry adds. Each stands at the variable or package that it
/// is about and says how many cells it meets. Capabilities of GPUs that no fact knows are errors, an entry of
/// images that matches no cell at all is warned of. `today` (YYYY-MM-DD) decides about waivers, which accept
/// findings of rules here, too. A judgement without cells is asked nothing. Fails where read_deployment does.
/// `held` learns what is to be given to hold().
[[nodiscard]] Result<std::vector<Diagnostic>> judge_additions(const Matrix& matrix, const Facts& facts,
                                                              const Judgement& judgement,
                                                              std::string_view today,
                                                              HeldCells* held = nullptr);
/// Makes them unknown, like a cell that says it by itself, where the matrix asks for the stage.
void hold(const Matrix& matrix, const HeldCells& held, Judgement& judgement);

/// Whether something that images and services add is rejected.
[[nodiscard]] bool has_errors(const std::vector<Diagnostic>& said);
/// Whether a fact is missing to say.
[[nodiscard]] bool has_unknowns(const std::vector<Diagnostic>& said);

}  // namespace cudamatrix::rules
