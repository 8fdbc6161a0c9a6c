// The part of `facts` that asks an index.
#pragma once

#include "commands/command.hpp"

namespace cudamatrix {

/// Adds what `facts measure` takes to its subcommand.
Action add_facts_measure(CLI::App& app);

}  // namespace cudamatrix
