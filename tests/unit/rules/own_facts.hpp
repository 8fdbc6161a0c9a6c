// Facts with rows of a test's own laid over the embedded ones.
#pragma once

#include <doctest/doctest.h>

#include <unistd.h>
#include <filesystem>
#include <string>

#include "base/file.hpp"
#include "base/text.hpp"
#include "facts/facts.hpp"

namespace cudamatrix::rules {

/// `rows` in flow style, each with id and its columns; source, date and confidence are added.
inline Facts with_rows(const std::string& table, const std::vector<std::string>& rows) {
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("cudamatrix-own-facts-{}", ::getpid());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::string text = "table: " + table + "\nas_of: \"2026-11-21\"\nrows:\n";
    for (const auto& row : rows) {
        const bool unverified = row.find("confidence: unverified") != std::string::npos;
        text += "  - {" + row +
                ", source: " + (unverified ? "\"none found, 2026-11-21\"" : "\"https://example.org/\"") +
                (row.find("confidence:") == std::string::npos ? ", confidence: read" : "") + "}\n";
    }
    const auto written = file::write(folder / "own.yaml", text);
    REQUIRE(written);
    auto facts = Facts::with_overlay(folder);
    std::filesystem::remove_all(folder);
    if (!facts) {
        for (const auto& diagnostic : facts.failure().diagnostics)
            MESSAGE(render(diagnostic, text));
    }
    REQUIRE(facts);
    return *std::move(facts);
}

}  // namespace cudamatrix::rules
