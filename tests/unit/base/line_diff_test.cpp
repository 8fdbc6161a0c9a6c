
#include <doctest/doctest.h>

#include <random>
#include <sstream>
#include <vector>

#include "base/text.hpp"

using namespace cudamatrix;

namespace {

std::string diff(std::string_view before, std::string_view after) {
    return unified_diff(before, after, "a/f", "b/f");
}

// What `patch` does, for texts whose lines all end: the new text from the old one and the diff.
std::string patched(const std::string& before, const std::string& difference) {
    auto old_lines = text::split(before, '\n');
    old_lines.pop_back();
    std::string out;
    std::size_t at = 0;
    for (const auto& line : text::split(difference, '\n')) {
        if (line.starts_with("--- ") || line.starts_with("+++ ") || line.empty()) continue;
        if (line.starts_with("@@ -")) {
            std::istringstream numbers(line.substr(4));
            std::size_t first = 0;
            numbers >> first;
            const bool none = line.substr(4, line.find(' ', 4) - 4).ends_with(",0");
            for (; at < (none ? first : first - 1); ++at)
                out += old_lines.at(at) + "\n";
            continue;
        }
        if (line.front() != '+') REQUIRE(old_lines.at(at++) == line.substr(1));
        if (line.front() != '-') out += line.substr(1) + "\n";
    }
    for (; at < old_lines.size(); ++at)
        out += old_lines[at] + "\n";
    return out;
}

}  // namespace

TEST_CASE("equal texts have no diff") {
    CHECK(diff("", "").empty());
    CHECK(diff("a\nb\n", "a\nb\n").empty());
}

TEST_CASE("a change stands between three lines of context") {
    CHECK(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n") ==
          "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("changes that are near share a hunk, others do not") {
    CHECK(diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n") ==
          "--- a/f\n+++ b/f\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
    CHECK(diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n") ==
          "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

TEST_CASE("new and vanished texts, and a last line that does not end") {
    CHECK(unified_diff("", "a\nb\n", "/dev/null", "b/f") ==
          "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    CHECK(unified_diff("a\n", "", "a/f", "/dev/null") == "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    CHECK(diff("a", "a\n") == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    CHECK(diff("x\na\n", "x\na") ==
          "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n x\n-a\n+a\n\\ No newline at end of file\n");
}

TEST_CASE("the least edits, not the first that come to mind") {
    CHECK(diff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n") ==
          "--- a/f\n+++ b/f\n@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n");
}

TEST_CASE("a text in which everything differs is replaced, in bounded time") {
    std::string before, after;
    for (int i = 0; i < 5000; ++i) {
        before += fmt::format("old {}\n", i);
        after += fmt::format("new {}\n", i);
    }
    const auto whole = diff("same\n" + before + "end\n", "same\n" + after + "end\n");
    CHECK(whole.starts_with("--- a/f\n+++ b/f\n@@ -1,5002 +1,5002 @@\n same\n-old 0\n"));
    CHECK(patched("same\n" + before + "end\n", whole) == "same\n" + after + "end\n");
}

TEST_CASE("applied to the old text every diff gives the new one") {
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
        std::string before, after;
        const auto lines = random() % 40;
        for (unsigned i = 0; i < lines; ++i) {
            const auto line = fmt::format("{}\n", random() % 6);
            if (random() % 5 != 0) before += line;
            if (random() % 5 != 0) after += random() % 8 == 0 ? "x\n" : line;
        }
        CAPTURE(before);
        CAPTURE(after);
        CHECK(patched(before, diff(before, after)) == after);
    }
}
