#include "base/version.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"

using cudamatrix::Version;

namespace {

Version version(std::string_view text) {
    const auto parsed = Version::parse(text);
    REQUIRE_MESSAGE(parsed.has_value(), std::string(text));
    return *parsed;
}

}  // namespace

TEST_CASE("version: components, suffix and the text as it was written") {
    const auto parts = [](std::string_view text) {
        const auto read = version(text);
        return fmt::format("{} {} {} {} {} {}", read.text(), read.size(), read.major(), read.minor(),
                           read.part(2), read.part(3)) +
               "|" + read.suffix();
    };
    CHECK(parts("470.161.03") == "470.161.03 3 470 161 3 0|");
    CHECK(parts("2.6.0+cu124") == "2.6.0+cu124 3 2 6 0 0|+cu124");
    CHECK(version("2.6.0+cu124").major_minor() == "2.6");
    CHECK(version("3.13t").suffix() == "t");
    CHECK(version("9.0a").minor() == 0);
    CHECK(version("12").major_minor() == "12.0");
    CHECK(version("1.2.3.4").part(3) == 4);
    CHECK(version("4294967295").major() == 4294967295u);
}

TEST_CASE("version: what is none") {
    for (const auto& text : cudamatrix::text::split(
             "| |.|v12|a|2.7.0.dev20250226|12.|.5|12..4|12.4 | 12.4|-1|+1|12.-4|12.+4|1.2.3.4.5|"
             "4294967296|99999999999999999999|12.4\n|12,4|12.4!|12.4+cu 124|12.4/..|12.4$(id)|12.4;rm|"
             "12.4\xc3\xa4|1234567890.1234567890.1234567890.12",
             '|')) {
        CAPTURE(text);
        CHECK_FALSE(Version::parse(text).has_value());
    }
    CHECK_FALSE(Version::parse(std::string_view("12\0", 3)).has_value());
    CHECK_FALSE(Version::parse(std::string(33, '1')).has_value());
}

TEST_CASE("version: numbers compare as numbers, missing ones are 0") {
    CHECK(version("12.4") == version("12.4.0"));
    CHECK(version("12") == version("12.0.0.0"));
    CHECK(version("12.10") > version("12.9"));
    CHECK(version("470.161.03") == version("470.161.3"));
    CHECK(version("525.60.13") > version("525.60.9"));
    CHECK(version("9.0") < version("10.0"));
    CHECK(version("12.4.1") > version("12.4"));
    CHECK_FALSE(version("12.4") < version("12.4.0"));
}

TEST_CASE("version: suffixes are kept and not compared") {
    CHECK(version("2.6.0+cu124") == version("2.6.0+cpu"));
    CHECK(version("3.13t") == version("3.13"));
    CHECK(version("2.6.0+cu124") < version("2.6.1"));
}

TEST_CASE("version: a shorter one covers what agrees with all it writes") {
    CHECK(version("12.4").covers(version("12.4.1")));
    CHECK(version("470").covers(version("470.161.03")));
    CHECK(version("12.4.1").covers(version("12.4.1")));
    CHECK_FALSE(version("12.4").covers(version("12.40")));
    CHECK_FALSE(version("12.4.1").covers(version("12.4")));
    CHECK_FALSE(version("12.4.0").covers(version("12.4")));
    CHECK_FALSE(version("47").covers(version("470.1")));
}

TEST_CASE("version: a nightly build is between the releases around it") {
    const auto release = *Version::parse("2.9.0+cu128");
    const auto nightly = release.nightly(20250812);
    CHECK(nightly.is_nightly());
    CHECK_FALSE(release.is_nightly());
    CHECK(nightly < release);
    CHECK(nightly > *Version::parse("2.8.99"));
    CHECK(nightly < *Version::parse("2.9"));
    CHECK(nightly < release.nightly(20250813));
    CHECK(nightly == Version::parse("2.9.0")->nightly(20250812));
    CHECK(nightly != release);
    CHECK(Version::parse("2")->covers(nightly));
    CHECK_FALSE(Version::parse("2.9")->covers(nightly));
    CHECK_FALSE(release.covers(nightly));
    CHECK_FALSE(nightly.covers(release));
    CHECK(nightly.covers(nightly));
    CHECK_FALSE(nightly.covers(release.nightly(20250813)));
    CHECK_FALSE(Version::parse("2")->covers(Version::parse("2.0.0")->nightly(20230101)));
}
