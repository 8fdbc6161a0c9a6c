// Rows of a matrix file, judged by the judge itself: what a search says is compared with it.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/solve/suggest.hpp"
#include "read_matrix.hpp"

namespace cudamatrix::solve {

inline const std::string kToday = "2026-11-21";

inline Matrix read_rows(const std::string& text) {
    return test::read(text, "rows.yaml");
}

/// The verdict of every row, in order.
inline std::vector<Verdict> verdicts_of(const std::string& matrix_text, const Facts& facts) {
    const auto matrix = read_rows(matrix_text);
    const auto judgement = judge(matrix, facts, {kToday, 100'000});
    REQUIRE(judgement);
    std::vector<Verdict> out;
    for (const auto& cell : judgement->cells)
        out.push_back(cell.verdict);
    return out;
}

inline Verdict verdict_of_row(const std::string& row, const Facts& facts) {
    const auto verdicts = verdicts_of("version: 1\ninclude:\n  - " + row + "\n", facts);
    REQUIRE(verdicts.size() == 1);
    return verdicts.front();
}

inline Suggestion suggested(const Query& query, std::size_t limit = 5) {
    auto found = suggest(Facts::embedded(), query, {kToday, limit});
    if (!found) {
        for (const auto& diagnostic : found.failure().diagnostics)
            MESSAGE(render(diagnostic, {}));
    }
    REQUIRE(found);
    return *std::move(found);
}

/// The failure as it is printed.
template <class T>
std::string failure_text(const Result<T>& result) {
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == ExitCode::bad_input);
    std::string out;
    for (const auto& diagnostic : result.failure().diagnostics)
        out += render(diagnostic, {});
    return out;
}

}  // namespace cudamatrix::solve
