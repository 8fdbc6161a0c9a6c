// Facts with rows of a test's own laid over the embedded ones.
#pragma once

#include <doctest/doctest.h>

#include <unistd.h>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/facts/facts.hpp"

namespace cudamatrix::rules {

/// The facts with the files of a folder of this text each (name, content) laid over the embedded ones.
inline Facts with_tables(const std::map<std::string, std::string>& tables) {
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("cudamatrix-own-facts-{}", ::getpid());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (const auto& [table, rows] : tables) {
        const auto text = "table: " + table + "\nas_of: \"2026-11-21\"\nrows:\n" + rows;
        const auto written = file::write(folder / (table + ".yaml"), text);
        REQUIRE(written);
    }
    auto facts = Facts::with_overlay(folder, "2026-11-21");
    std::filesystem::remove_all(folder);
    if (!facts) {
        for (const auto& diagnostic : facts.failure().diagnostics)
            MESSAGE(render(diagnostic, {}));
    }
    REQUIRE(facts);
    return *std::move(facts);
}

/// Rows by table, in flow style without the braces: source, date and confidence are added.
inline Facts with_rows(const std::map<std::string, std::vector<std::string>>& tables) {
    std::map<std::string, std::string> texts;
    for (const auto& [table, rows] : tables) {
        for (const auto& row : rows) {
            const bool unverified = row.find("confidence: unverified") != std::string::npos;
            texts[table] += "  - {" + row + ", source: \"" +
                            (unverified ? "none found, 2026-11-21" : "https://example.org/") + "\"" +
                            (row.find("confidence:") == std::string::npos ? ", confidence: read" : "") +
                            "}\n";
        }
    }
    return with_tables(texts);
}

inline Facts with_rows(const std::string& table, const std::vector<std::string>& rows) {
    return with_rows({{table, rows}});
}

/// The embedded facts with the rows `ids` said to be unverified.
inline Facts with_doubts(const std::set<std::string>& ids) {
    const auto quoted = [](std::string_view value) {
        return "\"" + text::replace_all(text::replace_all(value, "\\", "\\\\"), "\"", "\\\"") + "\"";
    };
    std::map<std::string, std::string> tables;
    const auto facts = Facts::embedded();
    for (const auto& table : facts.tables()) {
        for (const auto& row : table.rows) {
            if (!ids.contains(std::string(row.id()))) continue;
            std::string text;
            for (const auto& column : row.columns()) {
                if (column.name == "source" || column.name == "as_of" || column.name == "confidence")
                    continue;
                std::string values;
                for (const auto value : column.values)
                    values += (values.empty() ? "" : ", ") + quoted(value);
                text += fmt::format("{}: {}, ", column.name, column.is_list ? "[" + values + "]" : values);
            }
            tables[std::string(table.name)] +=
                "  - {" + text + "source: \"none found, 2026-11-21\", confidence: unverified}\n";
        }
    }
    return with_tables(tables);
}

}  // namespace cudamatrix::rules
