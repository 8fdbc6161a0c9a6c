// Every file of tests/matrices: combinations that another project publishes or tests, restated as cells.
//
//     works: torch: (2.9.1 | 2.10.0), python: 3.12      accepted or degraded
//     fails: torch: 2.9.1, python: 3.8                  rejected
//     works, unknown today: ...                         what we say instead, for want of a fact or by mistake
//
// A row that is judged better than its `today` says fails the test, so that the word goes. The head of a file
// names the project; a comment before each group of rows gives the commit and the file that they are from. No
// fact cites that file: these rows are witnesses of their own.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "entries.hpp"
#include "knowledge/judge/judge.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

namespace fs = std::filesystem;

Verdict verdict_of_cell(const std::string& cell) {
    const auto judgement = judge(read_cell(cell), Facts::embedded(), {std::string(kToday), 100'000});
    REQUIRE(judgement);
    REQUIRE(judgement->cells.size() == 1);
    return judgement->cells.front().verdict;
}

bool is_as_said(std::string_view word, Verdict verdict) {
    if (const auto today = word.find(", "); today != std::string_view::npos)
        return word.substr(today + 2) == std::string(to_string(verdict)) + " today";
    if (word == "fails") return verdict == Verdict::rejected;
    return word == "works" && (verdict == Verdict::accepted || verdict == Verdict::degraded);
}

// "github:OWNER/NAME@COMMIT" of a comment; empty without one.
std::string commit_in(const std::string& comment) {
    const auto at = comment.find("github:");
    const auto hex = comment.find('@', at);
    if (at == std::string::npos || hex == std::string::npos) return {};
    const auto end = comment.find_first_not_of("0123456789abcdef", hex + 1);
    return std::min(end, comment.size()) - hex - 1 == 40 ? comment.substr(at, hex + 41 - at) : std::string();
}

// What the facts cite: the last two parts of the path, by commit.
std::map<std::string, std::set<std::string>> cited_files() {
    std::map<std::string, std::set<std::string>> files;
    for (const auto& table : Facts::embedded().tables()) {
        for (const auto& row : table.rows) {
            for (const auto& source : row.ref().sources) {
                const auto commit = commit_in(source);
                const fs::path path(source.substr(std::min(source.size(), commit.size() + 1)));
                if (!commit.empty())
                    files[commit].insert((path.parent_path().filename() / path.filename()).string());
            }
        }
    }
    return files;
}

}  // namespace

TEST_CASE("matrices of other projects: what works there is not refused, what fails there is") {
    const auto cited = cited_files();
    std::map<std::string, std::size_t> rows;
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(tests_dir()) / "matrices")) {
        CAPTURE(entry.path().filename().string());
        ++files;
        const auto text = file::read(entry.path(), 1u << 20);
        REQUIRE(text);
        std::string commit;
        for (const auto& line : text::split(text->substr(0, text->find_last_not_of('\n') + 1), '\n')) {
            CAPTURE(line);
            if (line.starts_with("#")) {
                if (const auto found = commit_in(line); !found.empty()) commit = found;
                for (const auto& file : cited.contains(commit) ? cited.at(commit) : std::set<std::string>())
                    CHECK(line.find(file) == std::string::npos);
                continue;
            }
            CHECK_FALSE(commit.empty());
            const auto colon = line.find(": ");
            REQUIRE(colon != std::string::npos);
            const auto word = line.substr(0, colon);
            for (const auto& cell : alternatives(line.substr(colon + 2))) {
                CAPTURE(cell);
                const auto verdict = verdict_of_cell(cell);
                CHECK_MESSAGE(is_as_said(word, verdict), word, ", judged ", to_string(verdict));
                ++rows[word];
            }
        }
    }
    std::string counts;
    for (const auto& [word, count] : rows)
        counts += fmt::format("; {} {}", word, count);
    MESSAGE(fmt::format("{} projects{}", files, counts));
    CHECK(files >= 15);
}
