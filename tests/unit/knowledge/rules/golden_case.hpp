// A case is a folder with a matrix.yaml and the whole text that a check of it gives (expected.txt).
// CUDAMATRIX_UPDATE_GOLDEN=1 rewrites the expected texts.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/judge.hpp"
#include "read_matrix.hpp"

namespace cudamatrix::golden {

namespace fs = std::filesystem;

inline const JudgeOptions kOptions{"2026-11-21", 100'000};

/// The folders in `parent` that hold a matrix, sorted.
inline std::vector<fs::path> cases(const fs::path& parent) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(parent)) {
        if (fs::exists(entry.path() / "matrix.yaml")) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

inline Matrix read_case(const fs::path& folder) {
    auto text = file::read(folder / "matrix.yaml", 1u << 20);
    REQUIRE(text);
    return test::read(*text);
}

struct JudgedBy {
    Facts facts = Facts::embedded();
    std::string today = kOptions.today;
};

inline Judgement judged(const Matrix& matrix, const JudgedBy& by = {}) {
    auto judgement = judge(matrix, by.facts, {by.today, kOptions.cell_limit});
    REQUIRE(judgement);
    return *std::move(judgement);
}

/// Findings, then each cell with its verdict and the stages that are not accepted, then counts. What was not
/// checked for want of a field is left out: each new rule would add a line to every case.
inline std::string check_text(const Matrix& matrix, const Judgement& judgement) {
    std::string out;
    for (const auto* warnings : {&matrix.warnings, &judgement.warnings}) {
        for (const auto& warning : *warnings)
            out += render(warning, matrix.source);
    }
    for (const auto& group : judgement.findings)
        out += render_finding(group, matrix.source);
    for (const auto& cell : judgement.cells) {
        out += fmt::format("{}: {}", cell.id, to_string(cell.verdict));
        for (std::size_t s = 0; s < kStageCount; ++s) {
            if (cell.stages[s] == Verdict::accepted) continue;
            out += fmt::format(", {} at {}", to_string(cell.stages[s]), to_string(static_cast<Stage>(s)));
        }
        out += "\n";
    }
    return out + fmt::format("{} accepted, {} degraded, {} unknown, {} rejected\n",
                             judgement.count(Verdict::accepted), judgement.count(Verdict::degraded),
                             judgement.count(Verdict::unknown), judgement.count(Verdict::rejected));
}

inline void compare(const fs::path& folder, const std::string& actual) {
    const auto path = folder / "expected.txt";
    const char* update = std::getenv("CUDAMATRIX_UPDATE_GOLDEN");
    if (update != nullptr && std::string_view(update) == "1") {
        const auto written = file::write(path, actual);
        REQUIRE(written);
        return;
    }
    const auto expected = file::read(path, 1u << 20);
    REQUIRE(expected);
    CHECK(actual == *expected);
}

}  // namespace cudamatrix::golden
