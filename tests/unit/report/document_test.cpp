// A document as text and as Markdown: whole texts, and that no value becomes markup.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "report/document.hpp"
#include "report/markdown.hpp"
#include "unit/report/documents.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;
using fixtures::times;

namespace {

Document with_block(Block block) {
    return {"", {}, {{"", {std::move(block)}}}};
}

std::string text_with(Block block, std::size_t width = 80) {
    return document_text(with_block(std::move(block)), {.width = width});
}

std::string markdown_with(Block block) {
    return document_markdown(with_block(std::move(block)));
}

DocumentTable one_cell(Span span) {
    return {{"a"}, {{std::move(span)}}};
}

}  // namespace

TEST_CASE("document as text") {
    CHECK(document_text(fixtures::review(), {}) == R"(Upgrade review of training
==========================

2 of 6 cells have an end of life within a year.

https://example.org/review

What ends
---------

Support of driver 550 ends first.

              NDJFMAMJJASON  from 2026-11
  driver 550 |.....x.......| 2027-04-30 end of life
  python 3.9 |<............| 2025-10 end of life
  cuda 13.3  |x............| 2026-11-01 release
  debian12   |............x| 2027-11

Cells
-----

  cell             verdict   image                GB
  drv550-cu12.4.1  accepted  nvidia/cuda:12.4.1  4.5
  drv470-cu12.4.1  rejected                       12
  drv999-cu12.4.1  unknown

  - driver 470 is too old
  - https://example.org/drivers#470

The change
----------

    --- matrix.yaml
    +++ matrix.yaml
    @@ -1 +1 @@
    -cuda: 12.4
    +cuda: 12.8
)");
}

TEST_CASE("document as text: colours only where they are wanted") {
    const auto text = document_text(fixtures::review(), {.colour = true});
    CHECK(contains(text, "\x1b[1mCells\x1b[0m\n-----\n"));
    CHECK(contains(text, "  \x1b[32maccepted\x1b[0m  "));
    CHECK(contains(text, "  \x1b[31mrejected\x1b[0m  "));
    CHECK(contains(text, "  \x1b[33munknown\x1b[0m\n"));
    CHECK(contains(text, "  driver 550 |\x1b[31m.....x.......\x1b[0m| 2027-04-30 end of life\n"));
    CHECK(contains(text,
                   "    --- matrix.yaml\n    +++ matrix.yaml\n    @@ -1 +1 @@\n"
                   "    \x1b[31m-cuda: 12.4\x1b[0m\n    \x1b[32m+cuda: 12.8\x1b[0m\n"));
    CHECK_FALSE(contains(document_text(fixtures::review(), {}), "\x1b"));
}

TEST_CASE("document as text: what is wide is wrapped, and loses nothing") {
    const DocumentTable table{{"rule", "message", "cells"},
                              {{"driver-supports-cuda", "driver 470 is too old for CUDA 12.4.1", "12"}},
                              {false, false, true}};
    CHECK(text_with(table, 50) == R"(  rule                  message              cells
  driver-supports-cuda  driver 470 is too       12
                        old for CUDA 12.4.1
)");
    CHECK(text_with(table, 43) == R"(  driver-supports-cuda
    message: driver 470 is too old for
      CUDA 12.4.1
    cells: 12
)");
    CHECK(text_with(Paragraph{"driver 470 is too old for CUDA 12.4.1, says its rule"}, 40) ==
          "driver 470 is too old for CUDA 12.4.1,\nsays its rule\n");
    CHECK(text_with(DocumentList{{"driver 470 is too old for CUDA 12.4.1"}}, 40) ==
          "  - driver 470 is too old for CUDA\n    12.4.1\n");
    CHECK(text_with(Timeline{"2026-11", 3, {{"driver", "2026-12", Tone::bad, "the end of its life"}}}, 40) ==
          "          NDJ  from 2026-11\n  driver |.x.| 2026-12 the end of its\n               life\n");
    const std::string label(41, 'l');
    CHECK(text_with(Timeline{"2026-11", 2, {{label, "2026-12"}, {"a", "2026-11"}}}) ==
          std::string(44, ' ') + "ND  from 2026-11\n  " + std::string(37, 'l') + "... |.x| 2026-12\n  a" +
              std::string(39, ' ') + " |x.| 2026-11\n");
    CHECK(markdown_with(Timeline{"2026-11", 2, {{label, "2026-12"}}}) ==
          "\n```\n" + std::string(42, ' ') + "ND  from 2026-11\n" + std::string(37, 'l') +
              "... |.x| 2026-12\n```\n");
    auto wide = fixtures::filled_with(std::string(3000, 'x'));
    CHECK(fixtures::widest_line(document_text(wide, {.width = 100})) > 2000);  // code, as it is
    for (auto& section : wide.sections)
        std::erase_if(section.blocks, [](const Block& block) {
            return std::holds_alternative<DocumentCode>(block) || std::holds_alternative<Timeline>(block);
        });
    CHECK(fixtures::widest_line(document_text(wide, {.width = 100})) == 100);
    CHECK(fixtures::widest_line(document_text(wide, {.width = 1})) == 40);
}

TEST_CASE("document as Markdown") {
    constexpr auto* kChange = R"(
```diff
--- matrix.yaml
+++ matrix.yaml
@@ -1 +1 @@
-cuda: 12.4
+cuda: 12.8
```
)";
    const std::string until_change = R"(# Upgrade review of training

2 of 6 cells have an end of life within a year.

<https://example.org/review>

## What ends

Support of driver 550 ends first.

```
            NDJFMAMJJASON  from 2026-11
driver 550 |.....x.......| 2027-04-30 end of life
python 3.9 |<............| 2025-10 end of life
cuda 13.3  |x............| 2026-11-01 release
debian12   |............x| 2027-11
```

## Cells

| cell | verdict | image | GB |
| --- | --- | --- | ---: |
| drv550-cu12.4.1 | ✓ accepted | `nvidia/cuda:12.4.1` | 4.5 |
| drv470-cu12.4.1 | ✗ rejected |  | 12 |
| drv999-cu12.4.1 | ! unknown |  |  |

- driver 470 is too old
- <https://example.org/drivers#470>
)";
    CHECK(document_markdown(fixtures::review()) == until_change + "\n## The change\n" + kChange);
    CHECK(document_comment(fixtures::review()) == text::replace_all("#" + until_change, "\n## ", "\n### ") +
                                                      "\n<details><summary>The change</summary>\n" + kChange +
                                                      "\n</details>\n");
}

TEST_CASE("document: what is empty leaves nothing") {
    for (const auto& document : {Document{}, Document{"", {""}, {{""}}}, with_block(Paragraph{}),
                                 with_block(DocumentList{}), with_block(DocumentList{{"", " "}}),
                                 with_block(DocumentTable{}), with_block(Timeline{"2026-11"})}) {
        CHECK(document_text(document, {}).empty());
        CHECK(document_markdown(document).empty());
        CHECK(document_comment(document).empty());
    }
    const DocumentTable no_rows{{"a", "b"}, {}}, no_head{{}, {{"a"}, {"b", "c"}}};
    CHECK(text_with(no_rows) == "  a  b\n");
    CHECK(markdown_with(no_rows) == "\n| a | b |\n| --- | --- |\n");
    CHECK(text_with(no_head) == "  a\n  b  c\n");
    CHECK(markdown_with(no_head) == "\n|  |  |\n| --- | --- |\n| a |  |\n| b | c |\n");
    CHECK(text_with(DocumentCode{}) == "\n");
    CHECK(markdown_with(DocumentCode{}) == "\n```\n\n```\n");
}

TEST_CASE("document: a day on a timeline") {
    const auto bar_of = [](std::string day, std::string first = "2026-11", unsigned months = 13) {
        const Timeline timeline{std::move(first), months, {{"a", std::move(day), Tone::plain, "b"}}};
        auto lines = text::split(text_with(timeline), '\n');
        const auto& line = lines.at(lines.size() - 2);
        return line.substr(0, line.find("| ") + 1);
    };
    CHECK(bar_of("2026-11") == "  a |x............|");
    CHECK(bar_of("2026-11-01") == "  a |x............|");
    CHECK(bar_of("2026-11-30") == "  a |x............|");
    CHECK(bar_of("2026-12-01") == "  a |.x...........|");
    CHECK(bar_of("2027-11-30") == "  a |............x|");
    CHECK(bar_of("2026-10-31") == "  a |<............|");
    CHECK(bar_of("1999-12") == "  a |<............|");
    CHECK(bar_of("2026-02-28", "2026-02", 1) == "  a |x|");
    for (const auto* none : {"2027-12", "2027-12-01", "9999-12", "", "2026", "2026-13", "2026-11-31",
                             "2026-11-", "2026/11", "soon", "-1", "2026-11-30 "})
        CHECK_MESSAGE(bar_of(none) == "  a |.............|", none);
    for (const auto* none : {"", "2026", "2026-13", "2026-11-31", "soon"}) {
        CHECK_MESSAGE(bar_of("2026-11", none) == "  a |.............|", none);
        CHECK(times(text_with(Timeline{none, 13, {{"a", "2026-11", Tone::plain, "b"}}}), "\n") == 1);
    }
    CHECK(bar_of("2026-11", "2026-11-27") == "  a |x............|");
    CHECK(bar_of("2026-11", "2026-11", 0) == "  a ||");
}

TEST_CASE("document as Markdown: only an address is a link") {
    for (const auto* link :
         {"https://example.org", "https://a.example/b_c/*d*?e=f&g=(h)#i@j~k%20", "https://1"}) {
        CHECK(markdown_with(Paragraph{link}) == fmt::format("\n<{}>\n", link));
        CHECK(markdown_with(DocumentList{{link}}) == fmt::format("\n- <{}>\n", link));
        CHECK(markdown_with(one_cell(link)) == fmt::format("\n| a |\n| --- |\n| <{}> |\n", link));
    }
    for (const auto* none :
         {"http://example.org", "https://", "https:///a", "HTTPS://example.org", "javascript:alert(1)",
          "https://a b", "https://a|b", "https://a>b", "https://a<b", "https://a\"b", "https://a'b",
          "https://a`b", "https://a\\b", "https://a\nb", "https://\xc3\xa4", "see https://example.org"})
        CHECK_MESSAGE(!contains(markdown_with(one_cell(none)), "| <"), none);
    // GitHub itself makes no link of them either.
    CHECK(markdown_with(Paragraph{"https://a|b"}) == "\nhttps:<!-- -->//a\\|b\n");
    CHECK(markdown_with(DocumentList{{"see http://a.b or www.a.b"}}) ==
          "\n- see http:<!-- -->//a.b or www<!-- -->.a.b\n");
    CHECK(markdown_with(DocumentTable{{"www.a"}, {{"ftp://a"}, {{"a://`", Tone::plain, true}}}}) ==
          "\n| www<!-- -->.a |\n| --- |\n| ftp:<!-- -->//a |\n| <code>a:<!-- -->//\\`</code> |\n");
    CHECK(document_markdown({"http://a", {"http://b"}, {{"http://c"}}}) ==
          "# http:<!-- -->//a\n\nhttp:<!-- -->//b\n\n## http:<!-- -->//c\n");
}

TEST_CASE("document as Markdown: code is text whatever is in it") {
    const auto cell = [](const char* code) {
        auto text = markdown_with(one_cell({code, Tone::plain, true}));
        return text.substr(text.find("| ", text.find("---")));
    };
    CHECK(cell("a*b_<c>@d#1") == "| `a*b_<c>@d#1` |\n");
    CHECK(cell("a`b") == "| <code>a\\`b</code> |\n");
    CHECK(cell("a|b") == "| <code>a\\|b</code> |\n");
    CHECK(cell("a\\") == "| <code>a\\\\</code> |\n");
    CHECK(cell("|</code><b>@me") == "| <code>\\|&lt;/code&gt;&lt;b&gt;@<!-- -->me</code> |\n");
    CHECK(cell(" a\nb ") == "| `a b` |\n");
    CHECK(markdown_with(DocumentCode{"```\n````x\n</details>\n", "sh"}) ==
          "\n`````sh\n```\n````x\n</details>\n`````\n");
    CHECK(markdown_with(DocumentCode{"a\x1b[1m\tb\r\n\r\n", "sh\n```"}) == "\n```\na?[1m b\n```\n");
    CHECK(markdown_with(Timeline{"2026-11", 1, {{"```", "2026-11", Tone::plain, "a\n```\nb"}}}) ==
          "\n````\n     N  from 2026-11\n``` |x| 2026-11 a ``` b\n````\n");
}

TEST_CASE("document as Markdown: no text begins a list, a rule, code or a heading") {
    const std::pair<const char*, const char*> texts[] = {
        {"- a", "\\- a"},       {"---", "\\---"},       {"+ a", "\\+ a"},
        {"* a", "\\* a"},       {"1. a", "1\\. a"},     {"12) a", "12\\) a"},
        {"    a", "a"},         {"# a", "#<!-- --> a"}, {"> a", "&gt; a"},
        {"```", "\\`\\`\\`"},   {"~~~", "\\~\\~\\~"},   {"a\n\n- b\n# c", "a  - b #<!-- --> c"},
        {"12.4.1", "12\\.4.1"},
    };
    for (const auto& [text, expected] : texts) {
        CHECK(markdown_with(Paragraph{text}) == fmt::format("\n{}\n", expected));
        CHECK(markdown_with(DocumentList{{text}}) == fmt::format("\n- {}\n", expected));
    }
}

TEST_CASE("document: hostile text is text in each place") {
    const auto document = fixtures::filled_with("<script>|</details>```@name #1\n# x\x1b[2J*b*");
    const std::string shown = "<script>|</details>```@name #1 # x?[2J*b*",
                      label = "<script>|</details>```@name #1 # x?[2...";
    const std::string escaped =
        R"(&lt;script&gt;\|&lt;/details&gt;\`\`\`@<!-- -->name #<!-- -->1 #<!-- --> x?\[2J\*b\*)";
    const auto blocks = [&](const std::string& heading) {
        return heading + escaped + "\n\n" + escaped + "\n\n- " + escaped + "\n\n| " + escaped + " | " +
               escaped + " |\n| --- | ---: |\n| " + escaped + " | ✗ " + escaped + " |\n| <code>" + escaped +
               "</code> | " + escaped +
               " |\n\n````\n<script>|</details>```@name #1\n# x?[2J*b*\n````\n\n````diff\n" +
               "<script>|</details>```@name #1\n# x?[2J*b*\n````\n\n````\n" + std::string(42, ' ') +
               "NDJFMAMJJASON  from 2026-11\n" + label + " |.x...........| 2026-12 " + shown + "\n" + label +
               " |.............| " + shown + " " + shown + "\n````\n\n````\n" + label + " |..| " + shown +
               " " + shown + "\n````\n\n";
    };
    CHECK(document_markdown(document) == "# " + escaped + "\n\n" + escaped + "\n\n" + blocks("## ") + "## " +
                                             escaped + "\n\n" + escaped + "\n");
    const std::string summary =
        "&lt;script&gt;|&lt;/details&gt;```@<!-- -->name #<!-- -->1 #<!-- --> x?[2J*b*";
    CHECK(document_comment(document) == "## " + escaped + "\n\n" + escaped + "\n\n" + blocks("### ") +
                                            "<details><summary>" + summary + "</summary>\n\n" + escaped +
                                            "\n\n</details>\n");
    CHECK(fixtures::terminal_safe(document_text(document, {})));
}

TEST_CASE("document: hostile texts of all kinds") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        const auto document = fixtures::filled_with(hostile);
        for (const auto& text :
             {document_text(document, {}), document_markdown(document), document_comment(document)})
            CHECK(fixtures::terminal_safe(text));
        CHECK(document_comment(document).size() <= markdown::kMarkdownLimit);
    }
}

TEST_CASE("document as a comment: a section comes whole or is named") {
    const auto section = [](std::string title, std::size_t size) {
        return DocumentSection{std::move(title), {DocumentCode{std::string(size, 'x')}}};
    };
    const Document document{"review",
                            {"lead"},
                            {section("first", 40'000), section("second", 30'000), section("third", 20'000),
                             section("fourth", 60'000)}};
    const auto text = document_comment(document);
    CHECK(text.size() <= markdown::kMarkdownLimit);
    CHECK(text.size() > 60'000);
    CHECK(contains(text, "\n### first\n"));
    CHECK(contains(text, "\n### third\n"));
    CHECK_FALSE(contains(text, "### second"));
    CHECK_FALSE(contains(text, "### fourth"));
    CHECK(times(text, "```") == 4);
    CHECK(text.ends_with(
        "\nLeft out, for a comment holds 65536 characters: \"second\", \"fourth\". The other reports have them.\n"));
    CHECK(times(document_markdown(document), "\n## ") == 4);
    // The lead does not fit either: "@" is nine characters.
    const Document long_lead{
        std::string(5000, '@'), std::vector<std::string>(9, std::string(5000, '@')), {section("first", 10)}};
    const auto cut = document_comment(long_lead);
    // Names that are too long for the sentence are counted.
    Document many{"review", {}, {}};
    for (int i = 0; i < 9; ++i)
        many.sections.push_back(section(std::string(100, '@'), 60'000));
    CHECK(document_comment(many).size() <= markdown::kMarkdownLimit);
    CHECK(document_comment(many).ends_with(": 8 parts. The other reports have them.\n"));
    CHECK(cut.size() <= markdown::kMarkdownLimit);
    CHECK(contains(cut, "\n### first\n"));
    CHECK(cut.ends_with(
        ": a paragraph, a paragraph, a paragraph, a paragraph, a paragraph, a paragraph. The other reports have them.\n"));
}
