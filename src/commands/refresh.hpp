// What `facts refresh` does: asks every place that the facts are from, and looks into what is new there.
#pragma once

#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/index_options.hpp"
#include "look/measure/measured.hpp"

namespace cudamatrix {

struct RefreshOptions : IndexOptions {
    std::vector<std::string> only;  ///< projects and image repositories; empty: all that the facts know
    std::string archive;            ///< of Debian, up to /dists; empty: none is asked
};

/// Asks for the pages, looks into wheels, and writes their rows to options.out. Failures: an interrupt, a
/// folder that cannot be written; a place that cannot be reached is none.
[[nodiscard]] Result<measure::Refreshed> refresh(const RefreshOptions& options, const std::string& index,
                                                 const Facts& facts, Http& http, const World& world);

}  // namespace cudamatrix
