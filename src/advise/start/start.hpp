// Matrix files to start from: presets, and rows that work made of what `audit` found.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/audit/audit.hpp"
#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"

namespace cudamatrix::start {

/// One of matrix/presets/, as it lies there.
struct Preset {
    std::string_view name;  ///< training
    std::string_view text;
};
/// THE list of presets is that folder, sorted by name.
[[nodiscard]] std::vector<Preset> presets();

/// A row of the new file, and what it was made of.
struct Row {
    std::string stack;                 ///< "Dockerfile: runtime"
    std::string row;                   ///< as it stands under include:; empty: nothing works
    std::vector<std::string> changes;  ///< "torch 2.1.0+cu122 -> 2.1.0+cu121"; empty: as it was found
    std::string verdict;               ///< of what was found
    std::string why;                   ///< of a stack without a row
    bool compiles = false;
    /// Rules that `check` would call an error though the row works, each with why it does not matter here.
    std::vector<std::pair<std::string, std::string>> waived = {};
};

/// The rows of stacks of which something is known. An image of NVIDIA, python or a distribution becomes its
/// family, so that `render` makes the image; what does not work becomes the nearest that does.
[[nodiscard]] std::vector<Row> rows_of(const audit::Report& found, const Facts& facts,
                                       const std::string& today, const OnProgress& on_progress);

/// The file; empty where no row works.
[[nodiscard]] std::string matrix_of(const std::vector<Row>& rows, std::string_view name,
                                    std::string_view from, std::string_view today);

}  // namespace cudamatrix::start
