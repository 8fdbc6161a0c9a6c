// What the parts of `facts measure` share: its options, and its overlay.
#pragma once

#include <string>
#include <vector>

#include "commands/index_options.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/measured.hpp"

namespace cudamatrix {

struct MeasureOptions : IndexOptions {
    std::vector<std::string> packages;
    std::string versions;
    std::string arch = "x86_64,aarch64";
    bool declared = false;
    bool held = false;
    bool execute = false;
    bool accept = false;
    bool missing = false;
    bool is_torch = false;
    bool is_toolkit = false;
};

/// What --versions admits; input failure: it is no version specifier.
[[nodiscard]] Result<pep440::Specifiers> versions_of(const MeasureOptions& options);

/// Rows that contradict known ones only where the user takes them.
[[nodiscard]] Status write_rows(const MeasureOptions& options, measure::Measured& measured,
                                std::string_view today);

}  // namespace cudamatrix
