// What a Debian archive has of the packages that our facts name, and the rows that follow from it.
#pragma once

#include <string_view>

#include "knowledge/facts/facts.hpp"
#include "look/measure/news.hpp"

namespace cudamatrix::measure {

/// Of the text of an archive's Packages ("debian12"): other versions of the packages that toolkit_sources
/// names for it than its rows say, and those rows as they are now. A row keeps its id, whatever CUDA the
/// archive has by now: what it said before is no longer true.
[[nodiscard]] News archive_news(std::string_view packages, std::string_view os, const Facts& facts);

}  // namespace cudamatrix::measure
