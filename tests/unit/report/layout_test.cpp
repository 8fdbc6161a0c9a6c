#include "report/layout.hpp"

#include <doctest/doctest.h>

#include "unit/report/fixtures.hpp"

using namespace cudamatrix::report;

TEST_CASE("clipped: what fits stays, the rest ends in dots") {
    CHECK(clipped("", 5).empty());
    CHECK(clipped("abcde", 5) == "abcde");
    CHECK(clipped("abcdef", 5) == "ab...");
    CHECK(clipped("abcdef", 3) == "...");
    CHECK(clipped("abcdef", 0).empty());
    CHECK(clipped("a\nb\tc\x1b", 10) == "a b c?");
    CHECK(clipped("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 4) == "\xe4\xb8\xad...");
    CHECK(clipped(std::string(10'000'000, 'x'), 10) == "xxxxxxx...");
}

TEST_CASE("clipped in the middle: both ends stay") {
    CHECK(clipped_middle("abcdefghij", 10) == "abcdefghij");
    CHECK(clipped_middle("abcdefghijk", 10) == "abcd...ijk");
    CHECK(clipped_middle("abcdefghijk", 9) == "abc...ijk");
    CHECK(clipped_middle("abcdefghijk", 5) == "ab...");
    CHECK(clipped_middle("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8"
                         "\xad\xe4\xb8\xad",
                         7) == "\xe4\xb8\xad\xe4\xb8\xad...\xe4\xb8\xad\xe4\xb8\xad");
}

TEST_CASE("wrapped: breaks at blanks, hard where there are none, ends in dots") {
    CHECK(wrapped("", 2, 20, 3).empty());
    CHECK(wrapped("  \n ", 2, 20, 3).empty());
    CHECK(wrapped("one two", 2, 20, 3) == "  one two\n");
    CHECK(wrapped("one two three four five", 2, 14, 3) == "  one two\n  three four\n  five\n");
    CHECK(wrapped("abcdefghijklmnopqrstuvwxyz", 2, 14, 3) == "  abcdefghijkl\n  mnopqrstuvwx\n  yz\n");
    CHECK(wrapped("abcdefghijklmnopqrstuvwxyz", 2, 14, 2) == "  abcdefghijkl\n  mnopqrstu...\n");
    CHECK(wrapped("one two three four five six", 2, 14, 1) == "  one two t...\n");
    CHECK(wrapped("exactly twelve", 0, 14, 1) == "exactly twelve\n");
}

TEST_CASE("table: columns are as wide as they must be, numbers stand right") {
    TextTable table({{"NAME"}, {"N", true}, {"WHAT"}});
    table.add({"a", "10", "x"});
    table.add({"longer", "9", ""});
    CHECK(table.render(80, false) ==
          "  NAME     N  WHAT\n"
          "  a       10  x\n"
          "  longer   9\n");
}

TEST_CASE("table: too wide a row gives its name a line, then the widest columns shrink") {
    TextTable table({{"NAME"}, {"LEFT"}, {"RIGHT", true}});
    table.add({std::string(30, 'n'), std::string(40, 'l'), "1"});
    CHECK(table.render(60, false) ==
          "  NAME\n    LEFT                                      RIGHT\n"
          "  " +
              std::string(30, 'n') + "\n    " + std::string(40, 'l') + "      1\n");
    const auto narrow = table.render(40, false);
    CHECK(narrow ==
          "  NAME\n    LEFT                           RIGHT\n"
          "  " +
              std::string(30, 'n') + "\n    " + std::string(13, 'l') + "..." + std::string(13, 'l') +
              "      1\n");
    CHECK(table.render(0, false) == narrow);
    CHECK(fixtures::widest_line(narrow) == 40);
}

TEST_CASE("table: a hostile value cannot break its row") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        TextTable table({{"NAME"}, {"A"}, {"B", true}});
        table.add({hostile, hostile, hostile});
        const auto text = table.render(80, false);
        CHECK(fixtures::terminal_safe(text));
        CHECK(fixtures::widest_line(text) <= 80);
    }
}
