#include <doctest/doctest.h>

#include "base/text.hpp"
#include "matrix/yaml.hpp"
#include "matrix/yaml_writer.hpp"
#include "unit/render/injection/payloads.hpp"

using namespace cudamatrix;

namespace {

std::string written(const Json& value) {
    return yaml::document_text({}, {{"key", value}});
}

}  // namespace

TEST_CASE("words stand as they are, everything else in quotes") {
    CHECK(written("ubuntu-24.04") == "key: ubuntu-24.04\n");
    CHECK(written("actions/checkout@v7") == "key: actions/checkout@v7\n");
    CHECK(written("Build and test") == "key: Build and test\n");
    CHECK(written(360) == "key: 360\n");
    CHECK(written(true) == "key: true\n");
    CHECK(written(nullptr) == "key: null\n");
    for (const auto* reserved : {"true", "No", "on", "null", "y", "OFF", "none"})
        CHECK(written(reserved) == "key: \"" + std::string(reserved) + "\"\n");
    for (const auto* other :
         {"", " a", "a ", "24.04", "-a", "a: b", "a #b", "[a]", "a,b", "*", "@a", "{", "0x1"})
        CHECK(written(other) == "key: \"" + std::string(other) + "\"\n");
    CHECK(written("a\"b\\c") == "key: \"a\\\"b\\\\c\"\n");
}

TEST_CASE("lists, maps, scripts and comments have their places") {
    const Json document{
        {"list", {"a", "b 1"}},
        {"empty", Json::array()},
        {"nothing", Json::object()},
        {"rows", Json::array({Json{{"a", 1}, {"b", {"x"}}}, Json{{"a", 2}}})},
        {"steps", Json::array({Json{{"uses", "actions/x@0"}, {"uses#", "v1"}, {"with", {{"a", "b"}}}},
                               Json{{"run", "one\n\n  two\n"}}, "three\nfour\n", "five"})}};
    CHECK(yaml::document_text({"Head.", "Second."}, document) == R"(# Head.
# Second.
list: [a, b 1]
empty: []
nothing: {}
rows:
  - {a: 1, b: [x]}
  - {a: 2}
steps:
  - uses: actions/x@0  # v1
    with:
      a: b
  - run: |
      one

        two
  - |
    three
    four
  - five
)");
}

TEST_CASE("text that a block would change is quoted") {
    for (const auto* text : {"a\nb", " a\nb\n", "\na\n", "a \nb\n", "a\tb\nc\n", "a\x1b\nb\n"})
        CHECK(written(text) == "key: " + to_text(Json(text), false) + "\n");
}

TEST_CASE("every hostile value is read back as what it was") {
    std::size_t same = 0;
    for (const auto& value : hostile_values()) {
        if (text::invalid_utf8(value)) continue;
        for (const auto& document :
             {Json{{"key", value}, {"other", "x"}}, Json{{"key", {value, "x"}}, {"other", "x"}},
              Json{{"key", Json::array({Json{{"a", value}}})}, {"other", "x"}}}) {
            CAPTURE(value.substr(0, 100));
            const auto text = yaml::document_text({}, document);
            const auto node = yaml::parse(text, "emitted");
            // What the reader refuses in any file (control characters, escapes that it does not know) is no
            // other value either.
            if (!node.ok()) continue;
            REQUIRE(node->members.size() == 2);
            CHECK(node->members[1].first.text == "other");
            CHECK(node->members[1].second.text == "x");
            const auto* found = &node->members[0].second;
            while (found->kind != yaml::Node::Kind::scalar && found->kind != yaml::Node::Kind::null)
                found = found->kind == yaml::Node::Kind::map ? &found->members[0].second : &found->items[0];
            CHECK(found->text == value);
            ++same;
        }
    }
    CHECK(same > 400);
}
