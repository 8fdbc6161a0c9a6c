#include "base/text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <map>

using namespace cudamatrix;
using text::did_you_mean;
using text::glob_match;
using text::printable;
using List = std::vector<std::string>;

TEST_CASE("split keeps empty parts, join puts them together again") {
    const std::map<std::string, List> cases{
        {"", {""}}, {"a", {"a"}}, {"a,b,,c", {"a", "b", "", "c"}}, {",", {"", ""}}, {"a,", {"a", ""}}};
    for (const auto& [whole, parts] : cases) {
        CHECK(text::split(whole, ',') == parts);
        CHECK(text::join(parts, ",") == whole);
    }
    CHECK(text::join({}, ", ").empty());
    CHECK(text::join({"a", "", "c"}, ", ") == "a, , c");
}

TEST_CASE("trim takes blanks and line ends from both sides only; lower changes ASCII only") {
    const std::vector<List> cases{
        {"", ""}, {" \t\r\n", ""}, {" a b\n", "a b"}, {"a", "a"}, {"\302\240a", "\302\240a"}};
    for (const auto& each : cases)
        CHECK(text::trim(each[0]) == each[1]);
    CHECK(text::lower("RTX 4090 [Z]@`{") == "rtx 4090 [z]@`{");
    CHECK(text::lower("\xc3\x84") == "\xc3\x84");
}

TEST_CASE("replace_all does not look at what it wrote") {
    const std::vector<List> cases{{"aaa", "a", "aa", "aaaaaa"}, {"aaa", "aa", "b", "ba"},
                                  {"abc", "x", "y", "abc"},     {"", "x", "y", ""},
                                  {"abc", "b", "", "ac"},       {"abc", "", "x", "abc"}};
    for (const auto& each : cases)
        CHECK(text::replace_all(each[0], each[1], each[2]) == each[3]);
}

TEST_CASE("invalid_utf8 finds the first bad byte") {
    for (const auto* good :
         {"", "plain", "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf",
          "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"})
        CHECK_FALSE(text::invalid_utf8(good).has_value());
    // Overlong forms, a surrogate, beyond U+10FFFF, no tail.
    for (const auto* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
                            "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3("})
        CHECK(text::invalid_utf8(bad) == 0u);
    CHECK(text::invalid_utf8("a\xbf") == 1u);
    for (const auto* cut : {"ab\xc3", "ab\xe2\x82", "ab\xf0\x90\x80"})
        CHECK(text::invalid_utf8(cut) == 2u);
}

TEST_CASE(
    "printable: no control character, no escape sequence; bytes that are not UTF-8 become one mark each") {
    const std::vector<List> cases{{"", ""},
                                  {"plain ~", "plain ~"},
                                  {"a\tb", "a b"},
                                  {"\x1b[31mred\x1b[0m", "?[31mred?[0m"},
                                  {"a\r\nb\x7f", "a??b?"},
                                  {"a\357\277\276b\357\277\277", "a?b?"},
                                  {std::string(1, '\0'), "?"},
                                  {"\302\23331m", "?31m"},
                                  {"\xc2\xa0\xc3\xa4\xf0\x9f\x98\x80", "\xc2\xa0\xc3\xa4\xf0\x9f\x98\x80"},
                                  {"\xff\xfe", "??"},
                                  {"a\xe2\x82", "a??"},
                                  {"\xed\xa0\x80", "???"},
                                  {"\xc3(", "?("}};
    for (const auto& each : cases)
        CHECK(printable(each[0]) == each[1]);
}

TEST_CASE("printable: nothing that is invisible or turns text around comes through") {
    for (const std::string bad :
         {"\xd8\x9c", "\xe2\x80\x8b", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9",
          "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa0", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf",
          "\xef\xbf\xb9", "\xf3\xa0\x80\x81", "\xf3\xa0\x81\xbf"}) {
        CHECK(printable("a" + bad + "b") == "a?b");
    }
    // Their neighbours do.
    for (const std::string good : {"\xd8\x9b", "\xd8\x9d", "\xe2\x80\x8a", "\xe2\x80\x90", "\xe2\x80\xa7",
                                   "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe2\x81\xb0", "\xef\xbb\xbe",
                                   "\xef\xbf\xb8", "\xef\xbf\xbc", "\xf3\xa0\x82\x80"}) {
        CHECK(printable(good) == good);
    }
}

TEST_CASE("display_width counts code points, and bytes that are none") {
    CHECK(text::display_width("") == 0);
    CHECK(text::display_width("abc") == 3);
    CHECK(text::display_width("\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80") == 3);
    CHECK(text::display_width("\xff\xe2\x82") == 3);
    for (const std::string text : {"a\377b", "\x1b[0m", "\xe2\x80\xae", "\xf0\x9f\x98"})
        CHECK(text::display_width(text) == text::display_width(printable(text)));
}

TEST_CASE(
    "did_you_mean: near words, case ignored, the first of equally near ones; far words are not guessed at") {
    const List fields{"driver", "gpu", "compute", "cuda", "torch"};
    const std::vector<List> near{
        {"drivr", "driver"}, {"DRIVER", "driver"}, {"cud", "cuda"}, {"tocrh", "torch"}, {"gpu", "gpu"}};
    for (const auto& each : near)
        CHECK(did_you_mean(each[0], fields) == each[1]);
    CHECK(did_you_mean("gp", List{"gpu"}) == "gpu");
    CHECK(did_you_mean("cat", {"cap", "car"}) == "cap");
    for (const auto& far : List{"python", "xy", "", std::string(10'000'000, 'd')})
        CHECK_FALSE(did_you_mean(far, fields).has_value());
    CHECK_FALSE(did_you_mean("driver", {}).has_value());
    CHECK_FALSE(did_you_mean("driver", List{"driver_library"}).has_value());
    CHECK(text::did_you_mean_or("cud", fields, "guess") == "did you mean cuda?");
    CHECK(text::did_you_mean_or("xy", fields, "guess") == "guess");
}

TEST_CASE("glob_match") {
    const std::vector<List> matches{{"470.*", "470.161.03"}, {"*", ""},  {"**", "x"},
                                    {"a*b*c", "a__b__b__c"}, {"?", "x"}, {"", ""}};
    for (const auto& each : matches)
        CHECK(glob_match(each[0], each[1]));
    const std::vector<List> others{{"470.*", "4700"}, {"470.*", "1470.1"}, {"", "x"}, {"?", ""},
                                   {"a*b", "a_c"},    {"[ab]", "a"},       {"A", "a"}};
    for (const auto& each : others)
        CHECK_FALSE(glob_match(each[0], each[1]));
    // Many stars must not take exponential time.
    CHECK_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*b", std::string(5'000, 'a')));
}

TEST_CASE("numbers with their nouns and units; never 1000 of a unit") {
    CHECK(text::count(0, "cell") == "0 cells");
    CHECK(text::count(1, "cell") == "1 cell");
    CHECK(text::count(6, "cell") == "6 cells");
    const std::map<std::uint64_t, std::string> sizes{
        {0, "0 B"},
        {999, "999 B"},
        {1'000, "1 kB"},
        {1'499, "1 kB"},
        {1'500, "2 kB"},
        {999'499, "999 kB"},
        {999'500, "1 MB"},
        {812'000'000, "812 MB"},
        {999'499'999, "999 MB"},
        {999'500'000, "1.0 GB"},
        {1'440'000'000, "1.4 GB"},
        {std::numeric_limits<std::uint64_t>::max(), "18446744073.7 GB"}};
    for (const auto& [bytes, shown] : sizes)
        CHECK(text::human_bytes(bytes) == shown);
}

TEST_CASE("The examples of RFC 4648, there and back") {
    const std::vector<List> examples{{"", ""},
                                     {"f", "Zg=="},
                                     {"fo", "Zm8="},
                                     {"foo", "Zm9v"},
                                     {"foob", "Zm9vYg=="},
                                     {"fooba", "Zm9vYmE="},
                                     {"foobar", "Zm9vYmFy"},
                                     {"\xff\xfe\xfd", "//79"}};
    for (const auto& example : examples) {
        CHECK(text::to_base64(example[0]) == example[1]);
        CHECK(text::from_base64(example[1]) == example[0]);
    }
    CHECK(text::to_base64(std::string("\0\0", 2)) == "AAA=");
    CHECK(text::from_base64("Zg") == "f");
}

TEST_CASE("What is no base64 is refused") {
    for (const auto* bad :
         {"Z", "Zg=", "Zg===", "Zg==Zg==", "Zm9v!", "Zm 9v", "Zm9v\n", "Zh==", "Zm9=", "====", "_-AA"})
        CHECK_MESSAGE(!text::from_base64(bad), bad);
}

TEST_CASE("months after a day end where the month is shorter") {
    CHECK(months_later("2026-11-27", 0) == "2026-11-27");
    CHECK(months_later("2026-11-27", 1) == "2026-12-27");
    CHECK(months_later("2026-11-27", 14) == "2028-01-27");
    CHECK(months_later("2026-08-31", 6) == "2027-02-28");
    CHECK(months_later("2023-08-31", 6) == "2024-02-29");
    CHECK(months_later("2026-10-31", 1) == "2026-11-30");
    for (const auto* other : {"", "2026-11", "2026-02-30", "soon"})
        CHECK(months_later(other, 1) == "");
}

TEST_CASE("days are counted from the epoch") {
    CHECK(day_number("1970-01-01") == 0);
    CHECK(day_number("1970-01-02") == 1);
    CHECK(day_number("1969-12-31") == -1);
    CHECK(day_number("2000-03-01") == 11017);
    CHECK(*day_number("2026-11-21") - *day_number("2026-05-25") == 180);
}

TEST_CASE("only days that exist are days") {
    for (const auto* good : {"2024-02-29", "2000-02-29", "2026-12-31", "0001-01-01"})
        CHECK_MESSAGE(is_date(good), good);
    for (const auto* bad :
         {"2023-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-1-01", "2026-01-00",
          "2026/01/01", "2026-01-1x", "-026-01-01", "", "yesterday", "2026-01-011"})
        CHECK_FALSE_MESSAGE(is_date(bad), bad);
}
