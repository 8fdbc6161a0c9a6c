// The part of `facts` that asks an index.
#pragma once

#include "commands/command.hpp"

namespace cudamatrix {

/// Adds what `facts measure` takes to its subcommand.
Action add_facts_measure(const Arguments& app);

/// The same of `facts refresh`.
Action add_facts_refresh(const Arguments& app);

}  // namespace cudamatrix
