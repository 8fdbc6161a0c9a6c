#include <doctest/doctest.h>

#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "matrix/yaml.hpp"
#include "render/templates/context.hpp"
#include "unit/render/injection/dockerfile_tokens.hpp"
#include "unit/render/injection/payloads.hpp"

using namespace cudamatrix;
using mustache::Context;

namespace {

std::optional<std::string> written(std::string_view value, Context context) {
    auto escaped = mustache::escape(value, context);
    if (auto* text = std::get_if<std::string>(&escaped)) return std::move(*text);
    return std::nullopt;
}

bool printable(std::string_view text) {
    return text::printable(text) == text;
}

// What a real shell makes of the words, each ended by a NUL.
std::string echoed(const std::vector<std::string>& words) {
    Command command;
    command.argv = {"/bin/sh"};
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    command.input = "printf '%s\\0' " + text::join(words, " ") + "\n";
    command.time_limit = std::chrono::seconds(20);
    const auto outcome = cudamatrix::run(command);
    REQUIRE(outcome.ok());
    CHECK(outcome->exit_code == 0);
    CHECK(outcome->err == "");
    return outcome->out;
}

std::string plain_alphabet(std::string_view text, std::string_view extra) {
    std::string strange;
    for (const char c : text) {
        const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!word && extra.find(c) == std::string_view::npos) strange += c;
    }
    return strange;
}

}  // namespace

TEST_CASE("there are enough hostile values") {
    CHECK(hostile_values().size() >= 150);
}

TEST_CASE("no context lets a control character through") {
    for (const auto& value : hostile_values()) {
        for (const auto& name : mustache::context_names()) {
            const auto text = written(value, *mustache::context_named(name));
            CAPTURE(name);
            CAPTURE(value.substr(0, 100));
            if (!printable(value)) CHECK_FALSE(text.has_value());
            if (text) CHECK(printable(*text));
        }
    }
}

TEST_CASE("env and label: one word of the instruction, which reads back as the value") {
    for (const auto& value : hostile_values()) {
        if (!printable(value)) continue;
        CAPTURE(value.substr(0, 100));
        for (const Context context : {Context::env, Context::label}) {
            const auto text = written(value, context);
            REQUIRE(text.has_value());
            const auto tokens = instruction_tokens("X=" + *text);
            REQUIRE(tokens.has_value());
            CHECK(*tokens == std::vector<std::string>{"X=" + value});
            CHECK_FALSE(text->ends_with('\\'));
        }
    }
}

TEST_CASE("arg: one word of the shell, which reads back as the value") {
    std::size_t refused = 0;
    std::vector<std::string> words;
    std::string values;
    for (const auto& value : hostile_values()) {
        const auto text = written(value, Context::arg);
        if (!text) {
            ++refused;
            continue;
        }
        CAPTURE(value.substr(0, 100));
        CHECK(shell_tokens(*text) == std::vector<std::string>{value});
        words.push_back(*text);
        values += value + '\0';
        CHECK_FALSE(text->starts_with('-'));
        CHECK(text->find("<<") == std::string::npos);
        CHECK_FALSE(text->ends_with('\\'));
    }
    CHECK(refused < hostile_values().size() / 4);
    CHECK(echoed(words) == values);
    CHECK(written("g++-11", Context::arg) == "g++-11");
    CHECK(written("11.8.89~11.8.0-5~deb12u1", Context::arg) == "11.8.89~11.8.0-5~deb12u1");
    CHECK(written("2:1.0+x", Context::arg) == "2:1.0+x");
    CHECK(written("it's", Context::arg) == "'it'\\''s'");
    CHECK(written("", Context::arg) == "''");
    CHECK(written("--index-url", Context::arg) == "'--index-url'");
}

TEST_CASE("json: reads back as the value") {
    for (const auto& value : hostile_values()) {
        if (!printable(value)) continue;
        CAPTURE(value.substr(0, 100));
        const auto json = parse_json(*written(value, Context::json), "test");
        REQUIRE(json.ok());
        CHECK(json->is_string());
        CHECK(json->get<std::string>() == value);
    }
}

TEST_CASE("yaml: one scalar, which reads back as the value after compose has interpolated it") {
    for (const auto& value : hostile_values()) {
        if (!printable(value)) continue;
        CAPTURE(value.substr(0, 100));
        const auto text = *written(value, Context::yaml);
        const auto document = yaml::parse("a:\n  key: " + text + "\n  last: x\n", "test.yaml");
        REQUIRE(document.ok());
        const auto* node = document->find("a")->find("key");
        REQUIRE(node != nullptr);
        CHECK(document->find("a")->members.size() == 2);
        CHECK(node->kind == yaml::Node::Kind::scalar);
        CHECK(node->quoted);
        CHECK(text::replace_all(node->text, "$$", "$") == value);
        CHECK(text::replace_all(node->text, "$$", "").find('$') == std::string::npos);
    }
}

TEST_CASE("yaml_key: the same, as long as YAML reads it as a key") {
    for (const auto& value : hostile_values()) {
        if (!printable(value)) continue;
        CAPTURE(value.substr(0, 100));
        const auto key = written(value, Context::yaml_key);
        CHECK(key.has_value() == (written(value, Context::yaml)->size() <= 1024));
        if (!key) continue;
        const auto document = yaml::parse("a:\n  " + *key + ": x\n  last: y\n", "test.yaml");
        REQUIRE(document.ok());
        const auto& members = document->find("a")->members;
        REQUIRE(members.size() == 2);
        CHECK(text::replace_all(members[0].first.text, "$$", "$") == value);
    }
}

TEST_CASE("yaml_int: a whole number and nothing else") {
    for (const auto& value : hostile_values()) {
        CAPTURE(value.substr(0, 100));
        const auto text = written(value, Context::yaml_int);
        if (!text) continue;
        CHECK(*text == value);
        CHECK(plain_alphabet(value, "-").empty());
        CHECK(value.find_first_not_of("-0123456789") == std::string::npos);
    }
    for (const char* good : {"0", "-1", "65536", "-70", "123456789012345678"})
        CHECK(written(good, Context::yaml_int) == good);
    for (const char* bad : {"", "-", "--1", "+1", "1 ", " 1", "1.0", "0x10", "010", "-01", "1e3", "1_000",
                            "1234567890123456789"})
        CHECK_FALSE(written(bad, Context::yaml_int).has_value());
}

TEST_CASE("raw_comment: one line that joins no other") {
    for (const auto& value : hostile_values()) {
        const auto text = written(value, Context::raw_comment);
        if (!text) continue;
        CAPTURE(value.substr(0, 100));
        CHECK(*text == value);
        CHECK_FALSE(text->ends_with('\\'));
    }
    CHECK(written("$(id) \"x\" 'y'", Context::raw_comment).has_value());
    CHECK_FALSE(written("x\\", Context::raw_comment).has_value());
}

TEST_CASE("path, word, ident: their alphabet, or refused") {
    for (const auto& value : hostile_values()) {
        CAPTURE(value.substr(0, 100));
        if (const auto path = written(value, Context::path)) {
            CHECK(plain_alphabet(*path, "_./+~-") == "");
            CHECK_FALSE(path->empty());
            CHECK(path->front() != '-');
            for (const auto& part : text::split(*path, '/'))
                CHECK(part != "..");
        }
        if (const auto word = written(value, Context::word)) {
            CHECK(plain_alphabet(*word, "_.+!:~-") == "");
            CHECK(plain_alphabet(word->substr(0, 1), "_") == "");
            CHECK_FALSE(word->empty());
        }
        if (const auto ident = written(value, Context::ident)) {
            CHECK(plain_alphabet(*ident, "_") == "");
            CHECK_FALSE(ident->empty());
        }
    }
    CHECK(written("/usr/local/cuda/lib64", Context::path) == "/usr/local/cuda/lib64");
    CHECK(written("bootstrap-bookworm.tar", Context::path) == "bootstrap-bookworm.tar");
    CHECK(written("2.6.0+cu124", Context::word) == "2.6.0+cu124");
    CHECK(written("NVIDIA_VISIBLE_DEVICES", Context::ident) == "NVIDIA_VISIBLE_DEVICES");
    CHECK_FALSE(written("1A", Context::ident).has_value());
    CHECK_FALSE(written("-rf", Context::path).has_value());
    CHECK_FALSE(written("https://example.org", Context::path).has_value());
}

TEST_CASE("pins: each syntax takes 128 bytes, and none more") {
    const std::string longest(128, '1');
    for (const auto takes :
         {is_apt_package, is_apt_version, is_rpm_package, is_wheel_name, is_wheel_version}) {
        CHECK(takes(longest));
        CHECK_FALSE(takes(longest + "1"));
        CHECK_FALSE(takes(""));
    }
    CHECK(is_rpm_version("0:" + longest.substr(2) + "-1"));
    CHECK_FALSE(is_rpm_version("0:" + longest + "-1"));
}

TEST_CASE("a refusal says why, and contexts have names") {
    const auto why = [](std::string_view value, Context context) {
        return std::get<mustache::Refused>(mustache::escape(value, context)).why;
    };
    CHECK(why("a\nb", Context::env) == "a control character, a line end or invalid text");
    CHECK(why("a <<EOF", Context::arg) == "\"<<\", which may begin a here-document");
    CHECK(why("", Context::path) == "nothing, where a path is needed");
    CHECK(why("a/../b", Context::path) == "a \"..\" step");
    CHECK(why("-x", Context::path) == "a leading '-', which would be read as an option");
    CHECK(why("", Context::word) == "nothing, where a word is needed");
    CHECK(why("x\\", Context::raw_comment) == "a backslash at the end of a comment");
    for (const auto& name : mustache::context_names())
        CHECK(mustache::to_string(*mustache::context_named(name)) == name);
    CHECK_FALSE(mustache::context_named("").has_value());
    CHECK_FALSE(mustache::context_named("raw").has_value());
}
