// How a rule that knows releases of torch judges a torch that none of them is: by two that stand in for it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/ask.hpp"

namespace cudamatrix::rules {

/// The first release of the last minor before `release`: from its branch on, the sources went their own way.
[[nodiscard]] std::optional<Version> minor_before(const Facts& facts, const std::optional<Version>& release);

/// Judges two builds in place of the image's torch: the release that its sources are on the way to, and the
/// one whose branch they are newer than. What holds for both holds for the torch; where the two differ, or
/// where no fact says which release it is, the question of `ask` is unknown. The builds carry the text of the
/// torch.
void judge_stand_ins(Ask& ask, const ImageTorch& torch,
                     const std::function<void(Ask&, const TorchBuild&)>& judge);

/// "no fact says WHAT of image X: QUESTION is unknown", where a rule needs to know more of the torch.
Answer unknown_of(Ask& ask, const ImageTorch& torch, std::string_view what);

}  // namespace cudamatrix::rules
