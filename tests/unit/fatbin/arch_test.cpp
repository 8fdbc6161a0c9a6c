#include "fatbin/arch.hpp"

#include <doctest/doctest.h>

using namespace cudamatrix::fatbin;

TEST_CASE("compute capabilities read and write back the same text") {
    for (const char* text : {"6.0", "7.5", "8.6", "9.0", "9.0a", "10.0f", "12.1", "12.0a"}) {
        const auto arch = parse_arch(text);
        REQUIRE_MESSAGE(arch, text);
        CHECK(to_text(*arch) == text);
    }
    CHECK(sm_number(*parse_arch("7.5")) == "75");
    CHECK(sm_number(*parse_arch("12.0f")) == "120f");
}

TEST_CASE("texts that are no compute capability are refused") {
    for (const char* text :
         {"",      "7",     "75",   "7.",  ".5",   "7.5b",   "7.5aa",         "7.5 ", " 7.5", "07.5", "7.05",
          "sm_75", "7.5.1", "-7.5", "0.0", "7.10", "9999.0", "99999999999.0", "7,5",  "9.0A", "7.5\n"}) {
        CHECK_MESSAGE(!parse_arch(text), text);
    }
}

TEST_CASE("numbers of sm_ names split before the last digit") {
    CHECK(to_text(arch_from_number(75)) == "7.5");
    CHECK(to_text(arch_from_number(121)) == "12.1");
    CHECK(to_text(arch_from_number(90, Variant::specific)) == "9.0a");
}

TEST_CASE("capabilities order by number, not by text") {
    CHECK(*parse_arch("9.0") < *parse_arch("10.0"));
    CHECK(*parse_arch("8.6") < *parse_arch("8.9"));
    CHECK(*parse_arch("9.0") < *parse_arch("9.0a"));
    CHECK_FALSE(*parse_arch("9.0") < *parse_arch("9.0"));
}

TEST_CASE("PTX ISA versions") {
    CHECK(to_text(*parse_ptx_isa("8.4")) == "8.4");
    CHECK(*parse_ptx_isa("8.9") < *parse_ptx_isa("9.0"));
    CHECK_FALSE(*parse_ptx_isa("9.0") < *parse_ptx_isa("9.0"));
    for (const char* text : {"", "8", "8.", "8.4a", "v8.4", "8.4.1", "0.1", "8. 4"}) {
        CHECK_MESSAGE(!parse_ptx_isa(text), text);
    }
}
