#include "base/text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace cudamatrix;
using text::did_you_mean;
using text::glob_match;
using text::printable;
using List = std::vector<std::string>;

TEST_CASE("split keeps empty parts") {
    CHECK(text::split("", ',') == List{""});
    CHECK(text::split("a", ',') == List{"a"});
    CHECK(text::split("a,b,,c", ',') == List{"a", "b", "", "c"});
    CHECK(text::split(",", ',') == List{"", ""});
    CHECK(text::split("a,", ',') == List{"a", ""});
}

TEST_CASE("trim takes blanks and line ends from both sides only") {
    CHECK(text::trim("") == "");
    CHECK(text::trim(" \t\r\n") == "");
    CHECK(text::trim(" a b\n") == "a b");
    CHECK(text::trim("a") == "a");
    CHECK(text::trim("\xc2\xa0"
                     "a") ==
          "\xc2\xa0"
          "a");
}

TEST_CASE("join") {
    CHECK(text::join({}, ", ").empty());
    CHECK(text::join({"a"}, ", ") == "a");
    CHECK(text::join({"a", "", "c"}, ", ") == "a, , c");
}

TEST_CASE("lower changes ASCII only") {
    CHECK(text::lower("RTX 4090 [Z]@`{") == "rtx 4090 [z]@`{");
    CHECK(text::lower("\xc3\x84") == "\xc3\x84");
}

TEST_CASE("replace_all does not look at what it wrote") {
    CHECK(text::replace_all("aaa", "a", "aa") == "aaaaaa");
    CHECK(text::replace_all("aaa", "aa", "b") == "ba");
    CHECK(text::replace_all("abc", "x", "y") == "abc");
    CHECK(text::replace_all("", "x", "y").empty());
    CHECK(text::replace_all("abc", "b", "") == "ac");
    CHECK(text::replace_all("abc", "", "x") == "abc");
}

TEST_CASE("invalid_utf8 finds the first bad byte") {
    CHECK_FALSE(text::invalid_utf8("").has_value());
    CHECK_FALSE(text::invalid_utf8("plain").has_value());
    CHECK_FALSE(text::invalid_utf8("\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf")
                    .has_value());
    CHECK_FALSE(text::invalid_utf8("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf").has_value());
    CHECK(text::invalid_utf8("\x80") == 0u);
    CHECK(text::invalid_utf8("a\xbf") == 1u);
    CHECK(text::invalid_utf8("\xc0\x80") == 0u);          // overlong
    CHECK(text::invalid_utf8("\xc1\xbf") == 0u);          // overlong
    CHECK(text::invalid_utf8("\xe0\x9f\xbf") == 0u);      // overlong
    CHECK(text::invalid_utf8("\xf0\x8f\xbf\xbf") == 0u);  // overlong
    CHECK(text::invalid_utf8("\xed\xa0\x80") == 0u);      // surrogate
    CHECK(text::invalid_utf8("\xf4\x90\x80\x80") == 0u);  // beyond U+10FFFF
    CHECK(text::invalid_utf8("\xf5\x80\x80\x80") == 0u);
    CHECK(text::invalid_utf8("ab\xc3") == 2u);
    CHECK(text::invalid_utf8("ab\xe2\x82") == 2u);
    CHECK(text::invalid_utf8("ab\xf0\x90\x80") == 2u);
    CHECK(text::invalid_utf8("\xc3(") == 0u);
}

TEST_CASE("printable: no control character and no escape sequence comes through") {
    CHECK(printable("") == "");
    CHECK(printable("plain ~") == "plain ~");
    CHECK(printable("a\tb") == "a b");
    CHECK(printable("\x1b[31mred\x1b[0m") == "?[31mred?[0m");
    CHECK(printable("a\r\nb\x7f") == "a??b?");
    CHECK(printable("a\xef\xbf\xbe"
                    "b\xef\xbf\xbf") == "a?b?");  // no characters
    CHECK(printable(std::string_view("\0", 1)) == "?");
    CHECK(printable("\xc2\x9b"
                    "31m") == "?31m");  // C1 control
    CHECK(printable("\xc2\xa0\xc3\xa4\xf0\x9f\x98\x80") == "\xc2\xa0\xc3\xa4\xf0\x9f\x98\x80");
}

TEST_CASE("printable: bytes that are not UTF-8 become one mark each") {
    CHECK(printable("\xff\xfe") == "??");
    CHECK(printable("a\xe2\x82") == "a??");
    CHECK(printable("\xed\xa0\x80") == "???");
    CHECK(printable("\xc3(") == "?(");
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
    for (const std::string text : {"a\xff"
                                   "b",
                                   "\x1b[0m", "\xe2\x80\xae", "\xf0\x9f\x98"}) {
        CHECK(text::display_width(text) == text::display_width(printable(text)));
    }
}

TEST_CASE("did_you_mean: near words, case ignored") {
    const List fields{"driver", "gpu", "compute", "cuda", "torch"};
    CHECK(did_you_mean("drivr", fields) == "driver");
    CHECK(did_you_mean("DRIVER", fields) == "driver");
    CHECK(did_you_mean("cud", fields) == "cuda");
    CHECK(did_you_mean("tocrh", fields) == "torch");
    CHECK(did_you_mean("gpu", fields) == "gpu");
    CHECK(did_you_mean("gp", List{"gpu"}) == "gpu");
}

TEST_CASE("did_you_mean: far words are not guessed at") {
    const List fields{"driver", "gpu", "compute", "cuda", "torch"};
    CHECK_FALSE(did_you_mean("python", fields).has_value());
    CHECK_FALSE(did_you_mean("xy", fields).has_value());
    CHECK_FALSE(did_you_mean("driver", {}).has_value());
    CHECK_FALSE(did_you_mean("", fields).has_value());
    CHECK_FALSE(did_you_mean(std::string(10'000'000, 'd'), fields).has_value());
    CHECK_FALSE(did_you_mean("driver", List{"driver_library"}).has_value());
}

TEST_CASE("did_you_mean: the first of equally near words") {
    CHECK(did_you_mean("cat", {"cap", "car"}) == "cap");
}

TEST_CASE("glob_match") {
    CHECK(glob_match("470.*", "470.161.03"));
    CHECK(glob_match("*", ""));
    CHECK(glob_match("**", "x"));
    CHECK(glob_match("a*b*c", "a__b__b__c"));
    CHECK(glob_match("?", "x"));
    CHECK(glob_match("", ""));
    CHECK_FALSE(glob_match("470.*", "4700"));
    CHECK_FALSE(glob_match("470.*", "1470.1"));
    CHECK_FALSE(glob_match("", "x"));
    CHECK_FALSE(glob_match("?", ""));
    CHECK_FALSE(glob_match("a*b", "a_c"));
    CHECK_FALSE(glob_match("[ab]", "a"));
    CHECK_FALSE(glob_match("A", "a"));
    // Many stars must not take exponential time.
    CHECK_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*b", std::string(5'000, 'a')));
}

TEST_CASE("count") {
    CHECK(text::count(0, "cell") == "0 cells");
    CHECK(text::count(1, "cell") == "1 cell");
    CHECK(text::count(6, "cell") == "6 cells");
}

TEST_CASE("human_bytes: the unit that people read, never 1000 of one") {
    CHECK(text::human_bytes(0) == "0 B");
    CHECK(text::human_bytes(999) == "999 B");
    CHECK(text::human_bytes(1'000) == "1 kB");
    CHECK(text::human_bytes(1'499) == "1 kB");
    CHECK(text::human_bytes(1'500) == "2 kB");
    CHECK(text::human_bytes(999'499) == "999 kB");
    CHECK(text::human_bytes(999'500) == "1 MB");
    CHECK(text::human_bytes(812'000'000) == "812 MB");
    CHECK(text::human_bytes(999'499'999) == "999 MB");
    CHECK(text::human_bytes(999'500'000) == "1.0 GB");
    CHECK(text::human_bytes(1'440'000'000) == "1.4 GB");
    CHECK(text::human_bytes(std::numeric_limits<std::uint64_t>::max()) == "18446744073.7 GB");
}
