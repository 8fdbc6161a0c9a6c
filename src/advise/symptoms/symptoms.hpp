// What error messages mean: the rows of matrix/facts/symptoms.yaml that stand in a message or a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"

namespace cudamatrix::symptoms {

struct Match {
    Row row;
    std::size_t line;     ///< of the log, counted from 1: where the message begins, the first time
    std::string excerpt;  ///< of that line; fit for a terminal
};

struct Found {
    std::vector<Match> matches;  ///< the row with the longest message first, of equal ones the earlier line
    std::vector<Row> nearest;    ///< where nothing matches: rows that share most words with a short text
};

/// Bytes of any kind may stand in the text.
[[nodiscard]] Found find(const Facts& facts, std::string_view text);

}  // namespace cudamatrix::symptoms
