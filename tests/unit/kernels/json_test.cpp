#include "kernels/support/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "kernels/support/record_json.hpp"
#include "kernels/support/sha256.hpp"

using namespace cudamatrix::suite;
using json::parse;
using json::Value;

namespace {

std::string error_of(std::string_view text) {
    std::string error;
    CHECK_MESSAGE(!parse(text, error), text);
    return error;
}

std::string round_trip(std::string_view text) {
    std::string error;
    const auto value = parse(text, error);
    REQUIRE_MESSAGE(value, error);
    return value->dump();
}

}  // namespace

TEST_CASE("what is written reads back the same") {
    for (const char* text :
         {"null", "true", "[]", "{}", "0", "-7", "9007199254740993", "0.25", "\"\"", "[1,[2,{\"a\":[]}]]",
          "{\"b\":1,\"a\":{\"c\":null}}", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "1e-06"}) {
        CHECK(round_trip(text) == text);
    }
    CHECK(round_trip(" { \"a\" : [ 1 , 2 ] } \n") == "{\"a\":[1,2]}");
    CHECK(round_trip("\"\\u00e9\\ud83d\\ude00\\/\\b\"") == "\"\xc3\xa9\xf0\x9f\x98\x80/\\u0008\"");
}

TEST_CASE("bytes that are not UTF-8 become U+FFFD, numbers that JSON lacks become null") {
    CHECK(Value(std::string("a\xff\xc3(\xed\xa0\x80z\n\"\\")).dump() ==
          "\"a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\\n\\\"\\\\\"");
    CHECK(Value(std::numeric_limits<double>::quiet_NaN()).dump() == "null");
    CHECK(Value(std::numeric_limits<double>::infinity()).dump() == "null");
    CHECK(Value(0.1).dump() == "0.1");
    CHECK(Value(std::numeric_limits<unsigned long>::max()).dump() == "1.8446744073709552e+19");
}

TEST_CASE("damaged documents are refused with the place") {
    CHECK(error_of("") == "byte 0: value expected, text ends");
    CHECK(error_of("{") == "byte 1: member name expected");
    CHECK(error_of("{\"a\":1,\"a\":2}") == "byte 11: member name used twice");
    CHECK(error_of("[1,]") == "byte 3: value expected");
    CHECK(error_of("[1 2]") == "byte 3: ',' or ']' expected");
    CHECK(error_of("{} {}") == "byte 3: text after the value");
    CHECK(error_of("\"abc") == "byte 4: string without its closing quote");
    CHECK(error_of("\"\xff\"") == "byte 1: invalid UTF-8");
    CHECK(error_of("\"\\ud800\"") == "byte 7: high surrogate without its low one");
    CHECK(error_of("\"\\x\"") == "byte 3: unknown escape");
    for (const char* text :
         {"01", "1.", ".5", "+1", "1e", "--1", "nul", "NaN", "'a'", "{a:1}", "\"\t\"", "[", "]", "tru"}) {
        error_of(text);
    }
    CHECK(error_of(std::string(100, '[')) == "byte 65: nested too deeply");
}

TEST_CASE("any cut and any damage is survived") {
    const std::string whole = "{\"a\":[1,2.5e3,\"\\u00e9x\",true,null,{\"b\":\"c\"}],\"d\":-12}";
    std::string error;
    for (std::size_t n = 0; n < whole.size(); ++n)
        CHECK_FALSE(parse(whole.substr(0, n), error));
    std::mt19937 random(3);
    for (int i = 0; i < 20000; ++i) {
        std::string text = whole;
        text[random() % text.size()] = static_cast<char>(random());
        if (const auto value = parse(text, error)) CHECK(round_trip(value->dump()) == value->dump());
    }
}

TEST_CASE("sha256 by the standard's examples") {
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    CHECK_FALSE(sha256_of_file("/no/such/file"));
}

TEST_CASE("a record becomes a line; judging needs something to judge") {
    Record record;
    CHECK(judge(record, "r", "ok").status == Status::error);
    record.check("first", true, "said only when it does not hold");
    CHECK(judge(record, "r", "all well").status == Status::pass);
    CHECK(judge(record, "r", "all well").summary == "all well");
    record.check_limit("e_F", 0.031, 2e-5);
    const Record failed = judge(record, "tolerance", "all well");
    CHECK(failed.status == Status::fail);
    CHECK(failed.summary == "e_F 0.031 > 2e-05");
    CHECK(to_json(failed, "cmp.x", "gpu").dump() ==
          "{\"id\":\"cmp.x\",\"part\":\"gpu\",\"status\":\"fail\",\"reason\":\"tolerance\",\"summary\":\"e_F "
          "0.031 > 2e-05\","
          "\"checks\":[{\"name\":\"first\",\"ok\":true},{\"name\":\"e_F\",\"value\":0.031,\"limit\":2e-05,"
          "\"ok\":false}],"
          "\"metrics\":[]}");
    Record nan;
    nan.check_limit("e", std::numeric_limits<double>::quiet_NaN(), 1);
    CHECK(judge(nan, "r", "").status == Status::fail);
}

TEST_CASE("skip reasons are a closed set") {
    for (const char* reason : {"no_device", "cc_too_low", "no_nvcc", "not_in_cell", "prereq_failed",
                               "deselected", "no_compiler"}) {
        CHECK(known_skip_reason(reason));
    }
    for (const char* reason :
         {"", "tired", "No_device", "no_device ", "lib_missing", "fail", "flaky", "no compiler"}) {
        CHECK_FALSE(known_skip_reason(reason));
    }
}
