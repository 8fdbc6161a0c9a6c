#include "base/json.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace cudamatrix;

namespace {

std::string refused(std::string_view text, std::size_t depth = 32) {
    const auto result = parse_json(text, "lock", depth);
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == ExitCode::bad_input);
    return result.failure().diagnostics.at(0).message;
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace

TEST_CASE("json: members keep their order") {
    const auto json = parse_json(R"({"z":1,"a":{"y":[true,null,"x"],"b":2.5}})", "lock");
    REQUIRE(json.ok());
    CHECK(to_text(*json, false) == R"({"z":1,"a":{"y":[true,null,"x"],"b":2.5}})");
    CHECK(to_text(Json{{"z", 1}, {"a", 2}}) == "{\n  \"z\": 1,\n  \"a\": 2\n}");
}

TEST_CASE("json: what is malformed names its byte") {
    const std::map<std::string, int> bytes{{"", 1}, {"{\"a\":}", 6}, {"[1,]", 4}, {"[1] x", 5}};
    for (const auto& [text, byte] : bytes)
        CHECK(refused(text) == "lock: not valid JSON at byte " + std::to_string(byte));
    for (const auto* text : {"{", "[", "\"", "nul", "{'a':1}", "{a:1}", "01", "+1", "NaN", "Infinity",
                             "// c\n1", "[1 2]", "\"\\x\"", "\"\\ud800\"", "\"a\nb\"", "{\"a\" 1}", "]"}) {
        CAPTURE(text);
        CHECK(refused(text).starts_with("lock: not valid JSON at byte "));
    }
    CHECK(refused("1e999").starts_with("lock: not valid JSON"));
}

TEST_CASE("json: bytes that are not UTF-8 are named, wherever they stand") {
    CHECK(refused("\"\xff\"") == "lock: byte 1 is not valid UTF-8");
    CHECK(refused("{\"a\":1}\xc3") == "lock: byte 7 is not valid UTF-8");
    CHECK(refused("\xed\xa0\x80") == "lock: byte 0 is not valid UTF-8");
}

TEST_CASE("json: depth is bounded") {
    CHECK(parse_json(nested(32), "lock").ok());
    CHECK(refused(nested(33)) == "lock: nested deeper than 32 levels");
    CHECK(parse_json(nested(3), "lock", 3).ok());
    CHECK(refused(nested(4), 3) == "lock: nested deeper than 3 levels");
    CHECK(refused(R"({"a":{"b":{"c":{}}}})", 3) == "lock: nested deeper than 3 levels");
    CHECK(parse_json("1", "lock", 0).ok());
    CHECK(parse_json(R"([[],[],[[1]],{"a":[1]}])", "lock", 3).ok());
    // A bomb ends in a failure and not in a crash.
    CHECK_FALSE(parse_json(nested(1'000'000), "lock").ok());
    CHECK_FALSE(parse_json(std::string(1'000'000, '['), "lock").ok());
}

TEST_CASE("json: writing never fails, whatever the text") {
    CHECK(to_text(Json("a\xff")) == "\"a\xef\xbf\xbd\"");
    CHECK(to_text(Json(std::string("\0\x1b\n\"\\", 5))) == "\"\\u0000\\u001b\\n\\\"\\\\\"");
    CHECK(to_text(Json(0.1), false) == "0.1");
    CHECK(to_text(Json(18446744073709551615ull)) == "18446744073709551615");
}

TEST_CASE("json: string_or gives text only for text") {
    const auto json = parse_json(R"({"a":"x","b":1,"c":null,"d":""})", "lock");
    REQUIRE(json.ok());
    CHECK(string_or(*json, "a") == "x");
    CHECK(string_or(*json, "d", "no") == "");
    CHECK(string_or(*json, "e") == "");
    for (const auto* name : {"b", "c"})
        CHECK(string_or(*json, name, "no") == "no");
    for (const auto& other : {Json::array({"a"}), Json("a"), Json()}) {
        CHECK(string_or(other, "a", "no") == "no");
        CHECK(member(other, "a") == nullptr);
    }
}
