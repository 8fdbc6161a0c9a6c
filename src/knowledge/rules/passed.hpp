// What a rule has nothing against, said to `explain` alone: unlike accept() it makes no verdict (private to
// src/rules).
#pragma once

#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {

/// `make` gives the Acceptance; it is called only where somebody wants to know.
template <class Make>
void passed(const Context& context, const Make& make) {
    if (context.accepted != nullptr) context.accepted->push_back(make());
}

}  // namespace cudamatrix::rules
