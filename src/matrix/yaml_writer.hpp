// A document as YAML, so that no value becomes anything else: what is not plainly a word is quoted as JSON
// does it.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace cudamatrix::yaml {

/// `head` as comments, then the document in block style. Text of several lines that ends with one is written
/// literally (|). Lists of single values, and maps in lists that hold nothing else, stand on one line. A
/// member whose name ends with '#' is a comment behind the one before it: {"uses": "a@b", "uses#": "v7.0.1"}.
[[nodiscard]] std::string document_text(const std::vector<std::string>& head, const Json& document);

}  // namespace cudamatrix::yaml
