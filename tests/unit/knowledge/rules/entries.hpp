// tests/verdicts/RULE.txt: cells, written as under `set:`, each with the verdict that RULE gives, or
// `notice`.
//
//     accepted: gpu: (H100 | B200), arch: aarch64
//     rejected: gpu: GH200, torch: 2.6.0
//       error: torch 2.6.0 for aarch64 is a CPU build on the default index, ... [torch-published-for-arch, at
//       install] fix: torch 2.7.0+cu128
//
// (a | b) stands for one cell with each. Indented lines below an entry are, if there are any, everything that
// is printed of RULE for that cell: findings and their fixes, compared as a whole. CUDAMATRIX_UPDATE_GOLDEN=1
// rewrites them (write two blanks and `?` below a new entry). The entries at the top are judged by the
// embedded facts on kToday; further down, lines before the entries that they hold for say what differs:
//
//     on 2025-10-01                   another day
//     with TABLE: id: x, column: y    a row laid over the facts
//     doubt ID                        that row of the facts is unverified
//
// all-rules.txt has cells with the verdict of all rules together.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "own_facts.hpp"
#include "read_matrix.hpp"
#include "rule_check.hpp"

namespace cudamatrix::rules {

inline constexpr std::string_view kNeverUnknown = "never unknown";

struct Entry {
    std::string line;     ///< as written
    std::string verdict;  ///< empty: a comment or an empty line
    std::vector<std::string> cells;
    std::vector<std::string> conditions;  ///< the lines "on ...", "with ..." and "doubt ..." that hold for it
    std::vector<std::string> printed;
};

inline std::filesystem::path entries_path(std::string_view rule) {
    return std::filesystem::path(tests_dir()) / "verdicts" / (std::string(rule) + ".txt");
}

/// One text for each combination of what stands in parentheses.
inline std::vector<std::string> alternatives(const std::string& text) {
    const auto bar = text.find(" | ");
    if (bar == std::string::npos) return {text};
    const auto open = text.rfind('(', bar), close = text.find(')', bar);
    REQUIRE_MESSAGE((open != std::string::npos && close != std::string::npos), text);
    std::vector<std::string> out;
    for (auto rest = text.substr(open + 1, close - open - 1); !rest.empty();) {
        const auto end = std::min(rest.find(" | "), rest.size());
        for (auto& each : alternatives(text.substr(0, open) + rest.substr(0, end) + text.substr(close + 1)))
            out.push_back(std::move(each));
        rest.erase(0, end + 3);
    }
    return out;
}

inline bool is_condition(std::string_view line) {
    return line.starts_with("on ") || line.starts_with("with ") || line.starts_with("doubt ");
}

inline std::vector<Entry> read_entries(std::string_view rule) {
    const auto text = file::read(entries_path(rule), 1u << 20);
    REQUIRE_MESSAGE(text, "tests/verdicts/" << rule << ".txt is missing: write it, see entries.hpp");
    std::vector<Entry> entries;
    std::vector<std::string> conditions;
    for (const auto& line : text::split(text->substr(0, text->find_last_not_of('\n') + 1), '\n')) {
        if (line.starts_with("  ")) {
            REQUIRE_MESSAGE((!entries.empty() && !entries.back().verdict.empty()), line);
            entries.back().printed.push_back(line.substr(2));
            continue;
        }
        if (!entries.empty() && !entries.back().verdict.empty() && is_condition(line)) conditions.clear();
        if (is_condition(line)) conditions.push_back(line);
        auto& entry = entries.emplace_back();
        entry.line = line;
        if (line.empty() || line.front() == '#' || is_condition(line)) continue;
        const auto colon = line.find(": ");
        REQUIRE_MESSAGE(colon != std::string::npos, line);
        entry.verdict = line.substr(0, colon);
        entry.conditions = conditions;
        if (entry.verdict != kNeverUnknown) entry.cells = alternatives(line.substr(colon + 2));
    }
    return entries;
}

inline void write_entries(std::string_view rule, const std::vector<Entry>& entries) {
    std::string out;
    for (const auto& entry : entries) {
        out += entry.line + "\n";
        for (const auto& line : entry.printed)
            out += "  " + line + "\n";
    }
    const auto written = file::write(entries_path(rule), out);
    REQUIRE(written);
}

inline bool updating() {
    const char* update = std::getenv("CUDAMATRIX_UPDATE_GOLDEN");
    return update != nullptr && std::string_view(update) == "1";
}

inline std::string day_of(const Entry& entry) {
    for (const auto& condition : entry.conditions) {
        if (condition.starts_with("on ")) return condition.substr(3);
    }
    return std::string(kToday);
}

/// The embedded facts, or those with what the entry lays over them. Laying takes a while: each is kept.
inline const Facts& facts_of(const Entry& entry) {
    static const auto embedded = Facts::embedded();
    static std::map<std::string, Facts> kept;
    std::map<std::string, std::vector<std::string>> rows;
    std::set<std::string> doubts;
    for (const auto& condition : entry.conditions) {
        const auto colon = condition.find(": ");
        if (condition.starts_with("with "))
            rows[condition.substr(5, colon - 5)].push_back(condition.substr(colon + 2));
        if (condition.starts_with("doubt ")) doubts.insert(condition.substr(6));
    }
    REQUIRE((rows.empty() || doubts.empty()));
    if (rows.empty() && doubts.empty()) return embedded;
    const auto key = text::join(entry.conditions, "\n");
    const auto known = kept.find(key);
    if (known != kept.end()) return known->second;
    return kept.emplace(key, rows.empty() ? with_doubts(doubts) : with_rows(rows)).first->second;
}

/// Whether an entry has facts of its own; solve/printed_test.cpp judges these, so that they are laid once.
inline bool has_own_facts(const Entry& entry) {
    return std::any_of(entry.conditions.begin(), entry.conditions.end(),
                       [](const std::string& each) { return !each.starts_with("on "); });
}

inline Matrix read_cell(const std::string& cell) {
    return test::read("version: 1\nname: example\nset: {" + cell + "}\n", "example.yaml");
}

struct ExampleAnswer {
    bool asked = false;  ///< the cell has what the rule needs
    Findings findings;
};

/// One rule asked about one cell.
inline ExampleAnswer asked_example(const Rule& rule, std::string_view example,
                                   const Facts& facts = Facts::embedded(), std::string_view today = kToday) {
    const auto matrix = read_cell(std::string(example));
    ExampleAnswer out;
    for_each_cell(matrix, [&](const Cell& cell) {
        out.asked = applies(rule, cell);
        if (out.asked) out.findings = evaluate(rule, cell, facts, today);
        return false;
    });
    return out;
}

}  // namespace cudamatrix::rules
