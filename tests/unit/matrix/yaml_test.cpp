#include "matrix/yaml.hpp"

#include "support.hpp"

using namespace cudamatrix;

namespace {

yaml::Node parsed(std::string_view text, const yaml::Limits& limits = {}) {
    auto result = yaml::parse(text, "x.yaml", limits);
    if (!result.ok()) FAIL(matrix_test::rendered(result.failure().diagnostics, text));
    return std::move(result).value();
}

std::string refused(std::string_view text, const yaml::Limits& limits = {}) {
    const auto result = yaml::parse(text, "x.yaml", limits);
    REQUIRE_FALSE(result.ok());
    REQUIRE(result.failure().diagnostics.size() == 1);
    const auto& only = result.failure().diagnostics.front();
    return fmt::format("{}:{}: {}", only.where.line, only.where.column, only.message);
}

}  // namespace

TEST_CASE("nodes keep kind, text and place") {
    const auto root = parsed("a: [x, \"3.10\"]\nb: {c: 3.10}\nd:\n");
    REQUIRE(root.kind == yaml::Node::Kind::map);
    REQUIRE(root.members.size() == 3);
    const auto* list = root.find("a");
    REQUIRE(list != nullptr);
    CHECK(list->where == Location{"x.yaml", 1, 4, 1});
    REQUIRE(list->items.size() == 2);
    CHECK(list->items[0].where == Location{"x.yaml", 1, 5, 1});
    CHECK(list->items[1].where == Location{"x.yaml", 1, 8, 6});
    CHECK(list->items[1].text == "3.10");
    CHECK(list->items[1].quoted);
    CHECK(root.find("b")->find("c")->text == "3.10");
    CHECK_FALSE(root.find("b")->find("c")->quoted);
    CHECK(root.find("d")->kind == yaml::Node::Kind::null);
    CHECK(root.find("e") == nullptr);
}

TEST_CASE("byte order mark, CRLF, comments and a document start are plain YAML") {
    for (const std::string text :
         {"a: 1\nb: [2, 3]\n",
          "\xEF\xBB\xBF"
          "a: 1\nb: [2, 3]\n",
          "a: 1\r\nb: [2, 3]\r\n", "---\na: 1\nb: [2, 3]\n...\n", "# c\na: 1 # c\nb: [2, # c\n 3]",
          "a: '1'\nb:\n- 2\n- \"3\"\n", "a: 1\n\t\n \t# c\nb: [2, 3]\n\t", "a: 1\nb: [2, 3,]",
          "a: 1\nb: [2, # c] d\n 3]", "a: 1\nb: [2,\t# c] d\n 3]"}) {
        CAPTURE(text);
        const auto root = parsed(text);
        REQUIRE(root.find("a") != nullptr);
        CHECK(root.find("a")->text == "1");
        REQUIRE(root.find("b") != nullptr);
        REQUIRE(root.find("b")->items.size() == 2);
        CHECK(root.find("b")->items[1].text == "3");
    }
    CHECK(parsed("a: 1\r\nb: 2\r\n").find("b")->where == Location{"x.yaml", 2, 4, 1});
}

TEST_CASE("quotes and brackets inside values are not mistaken for structure") {
    const auto root = parsed(
        "a: it's [a] {b}, c\nb: [it's, \"it's\", 'it''s', \"a ] b\", 'c , d', x#y]\nc: \"# no, comment]\" # "
        "[\nd: http://x/y\n");
    CHECK(root.find("a")->text == "it's [a] {b}, c");
    const auto& list = root.find("b")->items;
    REQUIRE(list.size() == 6);
    CHECK(list[2].text == "it's");
    CHECK(list[3].text == "a ] b");
    CHECK(list[4].text == "c , d");
    CHECK(list[5].text == "x#y");
    CHECK(root.find("c")->text == "# no, comment]");
    CHECK(root.find("d")->text == "http://x/y");
}

TEST_CASE("each limit refuses with the place where it was reached") {
    CHECK(refused("aaaaaaaaaaaaaaaaaaaaa", {.bytes = 20}) ==
          "0:0: the file has 21 bytes: at most 20 are read");
    CHECK(refused("[a, b, c]", {.events = 3}) == "1:8: more than 3 values: the file is too large");
    CHECK(refused("[[[a]]]", {.depth = 2}) == "1:3: nested more than 2 deep");
    CHECK(refused("a: abcde", {.scalar_bytes = 4}) == "1:4: a value of 5 bytes: at most 4 are read");
    CHECK(parsed("a: abcde", {.scalar_bytes = 5}).find("a")->text == "abcde");
}

TEST_CASE("behind a list in a list a quote opens nothing") {
    CHECK(refused("a: [[b]\", c]\n") == "1:5: a list or map as a key: keys are words");
    CHECK(refused("a: [b, \", c]\n") == "1:8: a quoted value has no closing quote");
}

TEST_CASE("a value that no byte of the file shows is refused too") {
    for (const std::string code : {"0000", "202A", "202E", "2066", "2069"})
        CHECK(refused("a: \"x\\u" + code + "y\"") ==
              "1:4: an escape for the character U+" + code +
                  " (invisible or a control character): text is accepted");
    CHECK(refused("a: b\xE2\x80\x8E\xE2\x81\xA6") ==
          "1:8: the character U+2066 (invisible or a control character): text, spaces and line ends are "
          "accepted");
    CHECK(parsed("a: \"x\\ty\"").find("a")->text == "x\ty");
    CHECK(parsed("a: \"\\u2065\\u206A\"").find("a")->text == "\xE2\x81\xA5\xE2\x81\xAA");
}
