// How rules that know releases judge a nightly build of torch: by the releases before and after it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "knowledge/rules/ask.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {

/// What a rule says of the releases around a nightly build, each in its variant.
struct Around {
    std::string release;  ///< "2.9.0+cu128", which it goes before
    std::string before;   ///< "2.8.0+cu128", the last minor before that; empty where no fact knows one
    Findings of_release, of_before;
    Acceptances passes;  ///< of the release
};
[[nodiscard]] Around ask_around(Ask& ask, const Nightly& nightly, const std::function<void(Ask&)>& judge);

/// The worst of the findings about one question.
[[nodiscard]] Verdict worst_of(const Findings& findings, std::string_view aspect);

/// Says of the nightly build what holds for its release.
void say_of_nightly(Finding& finding, const Nightly& nightly);

/// The rule, able to judge nightly builds: what holds for both releases around one holds for it, where they
/// differ it is unknown. One whose release no fact knows is judged as that release.
[[nodiscard]] Rule with_nightlies(Rule rule);

/// The torch that the search for fixes looks around: the release in place of a nightly build; nothing for
/// others.
[[nodiscard]] std::optional<Value> release_in_place(const ProjectedCell& cell);

}  // namespace cudamatrix::rules
