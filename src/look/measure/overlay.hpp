// Measured rows as an overlay folder for --facts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "look/measure/rows.hpp"

namespace cudamatrix::measure {

/// Puts the rows into FOLDER/TABLE.yaml; rows that stand there from earlier runs stay, but for those of the
/// same id. Each file is replaced as a whole, and none before all of them are known to be fit to be read by
/// --facts. Gives what is left out because the tables would refuse it (it names a CUDA release that no row
/// knows, say), with the reason. Input failure: a file that stands there is no table.
[[nodiscard]] Result<std::vector<std::string>> write_overlay(const std::filesystem::path& folder,
                                                             std::vector<MeasuredRow> rows,
                                                             std::string_view today,
                                                             const std::filesystem::path& base = {});

}  // namespace cudamatrix::measure
