// How a rule that knows releases of torch judges a torch that none of them is: by two that stand in for it.
#pragma once

#include <functional>
#include <string_view>

#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/ask.hpp"

namespace cudamatrix::rules {

/// Judges two builds in place of the image's torch: the release that its sources are on the way to, and the
/// one whose branch they are newer than. What holds for both holds for the torch; where the two differ, or
/// where no fact says which release it is, the question of `ask` is unknown. The builds carry the text of the
/// torch.
void judge_stand_ins(Ask& ask, const ImageTorch& torch,
                     const std::function<void(Ask&, const TorchBuild&)>& judge);

/// "no fact says WHAT of image X: QUESTION is unknown", where a rule needs to know more of the torch.
Answer unknown_of(Ask& ask, const ImageTorch& torch, std::string_view what);

}  // namespace cudamatrix::rules
