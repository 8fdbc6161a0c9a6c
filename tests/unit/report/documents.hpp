// Documents made by hand, for the tests of their formats.
#pragma once

#include <string>

#include "report/document.hpp"

namespace fixtures {

/// One section with each kind of block.
[[nodiscard]] cudamatrix::report::Document review();

/// `text` in each place of a document where text can be.
[[nodiscard]] cudamatrix::report::Document filled_with(const std::string& text);

}  // namespace fixtures
