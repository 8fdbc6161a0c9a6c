// A document as a page: its whole markup, and that no value becomes markup.
#include <doctest/doctest.h>

#include <set>

#include "base/text.hpp"
#include "report/document.hpp"
#include "report/run_reports.hpp"
#include "unit/report/documents.hpp"
#include "unit/report/fixtures.hpp"
#include "unit/report/xml_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;
using fixtures::times;

namespace {

// From the tag of main to its end.
std::string main_of(const std::string& page) {
    const auto at = page.find("<main"), end = page.find("</main>\n");
    REQUIRE(at != std::string::npos);
    REQUIRE(end != std::string::npos);
    return page.substr(at, end + 8 - at);
}

std::string section_of(Block block) {
    auto text = main_of(document_html({"", {}, {{"", {std::move(block)}}}}));
    const std::string before = "<main class=\"document\">\n<header>\n</header>\n<section id=\"s1\">\n";
    REQUIRE(text.starts_with(before));
    return text.substr(before.size(), text.find("</section>") - before.size());
}

// The page's own markup is XML as well, so that a strict parser can say what is in it.
xml_check::Element parsed(const std::string& page) {
    return xml_check::parsed("<?xml version=\"1.0\" encoding=\"UTF-8\"?>" + main_of(page));
}

void collect(const xml_check::Element& element, std::set<std::string>& names) {
    names.insert(element.name);
    for (const auto& [name, value] : element.attributes)
        names.insert(name + "=");
    for (const auto& child : element.children)
        collect(child, names);
}

std::set<std::string> names_in(const std::string& page) {
    std::set<std::string> names;
    collect(parsed(page), names);
    return names;
}

}  // namespace

TEST_CASE("document page") {
    const auto page = document_html(fixtures::review());
    std::string behind, letters;
    for (int i = 0; i < 14; ++i)
        behind += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y2=\"100%\"/>",
                              i == 2 ? "year" : "month", 20 * i, 20 * i);
    for (int i = 0; i < 13; ++i) {
        if (i == 0) letters += "<text x=\"4\" y=\"13\">2026</text>";
        if (i == 2) letters += "<text x=\"44\" y=\"13\">2027</text>";
        letters += fmt::format("<text class=\"letter\" x=\"{}\" y=\"30\">{}</text>", 20 * i + 10,
                               "NDJFMAMJJASON"[i]);
    }
    const std::string expected = R"(<main class="document">
<header>
<h1>Upgrade review of training</h1>
<p>2 of 6 cells have an end of life within a year.</p>
<p><a href="https://example.org/review" rel="noreferrer">https://example.org/review</a></p>
</header>
<nav aria-label="Sections">
<ul>
<li><a href="#s1">What ends</a></li>
<li><a href="#s2">Cells</a></li>
<li><a href="#s3">The change</a></li>
</ul>
</nav>
<section id="s1" aria-labelledby="t1">
<h2 id="t1">What ends</h2>
<p>Support of driver 550 ends first.</p>
<div class="scroll" role="group" aria-label="Timeline: What ends" tabindex="0">
<table class="plain timeline">
<thead><tr><th scope="col">what</th><th class="months" scope="col"><svg role="img" aria-label="2026-11 to 2027-11" width="260" height="36">LETTERS</svg></th><th scope="col">when</th><th scope="col">what happens</th></tr></thead>
<tbody>
<tr><th scope="row">driver 550</th><td class="months"><svg aria-hidden="true" width="261" height="100%"><title>driver 550: 2027-04-30 end of life</title>BEHIND<line class="until" x2="119.0" y1="15" y2="15"/><svg class="failed" x="119.0" y="15"><path d="M0-7 7 0 0 7-7 0Z"/></svg></svg></td><td class="short"><span class="tag failed">✗ 2027-04-30</span></td><td>end of life</td></tr>
<tr><th scope="row">python 3.9</th><td class="months"><svg aria-hidden="true" width="261" height="100%"><title>python 3.9: 2025-10 end of life</title>BEHIND<svg class="unknown" x="7.0" y="15"><path d="M-6 0 5-6V6Z"/></svg></svg></td><td class="short"><span class="tag unknown">! 2025-10</span></td><td>end of life</td></tr>
<tr><th scope="row">cuda 13.3</th><td class="months"><svg aria-hidden="true" width="261" height="100%"><title>cuda 13.3: 2026-11-01 release</title>BEHIND<line class="until" x2="0.3" y1="15" y2="15"/><svg class="mark" x="0.3" y="15"><path d="M-5-5H5V5H-5Z"/></svg></svg></td><td class="short">2026-11-01</td><td>release</td></tr>
<tr><th scope="row">debian12</th><td class="months"><svg aria-hidden="true" width="261" height="100%"><title>debian12: 2027-11</title>BEHIND<line class="until" x2="250.0" y1="15" y2="15"/><svg class="skipped" x="250.0" y="15"><path d="M-5-5H5V5H-5Z"/></svg></svg></td><td class="short"><span class="tag skipped">· 2027-11</span></td><td></td></tr>
</tbody>
</table>
</div>
</section>
<section id="s2" aria-labelledby="t2">
<h2 id="t2">Cells</h2>
<div class="scroll" role="group" aria-label="Table: Cells" tabindex="0">
<table class="plain">
<thead><tr><th scope="col" class="short">cell</th><th scope="col" class="short">verdict</th><th scope="col">image</th><th scope="col" class="number">GB</th></tr></thead>
<tbody>
<tr><td class="short">drv550-cu12.4.1</td><td class="short"><span class="tag passed">✓ accepted</span></td><td><code>nvidia/<wbr/>cuda:<wbr/>12.4.1</code></td><td class="number">4.5</td></tr>
<tr><td class="short">drv470-cu12.4.1</td><td class="short"><span class="tag failed">✗ rejected</span></td><td></td><td class="number">12</td></tr>
<tr><td class="short">drv999-cu12.4.1</td><td class="short"><span class="tag unknown">! unknown</span></td><td></td><td class="number"></td></tr>
</tbody>
</table>
</div>
<ul>
<li>driver 470 is too old</li>
<li><a href="https://example.org/drivers#470" rel="noreferrer">https://example.org/drivers#470</a></li>
</ul>
</section>
<section aria-labelledby="t3">
<details>
<summary><h2 id="t3">The change</h2></summary>
<div id="s3">
<pre>--- matrix.yaml
+++ matrix.yaml
@@ -1 +1 @@
<del>-cuda: 12.4</del>
<ins>+cuda: 12.8</ins>
</pre>
</div>
</details>
</section>
</main>
)";
    CHECK(main_of(page) ==
          text::replace_all(text::replace_all(expected, "BEHIND", behind), "LETTERS", letters));
}

TEST_CASE("document page: it loads nothing and runs nothing") {
    const auto page = document_html(fixtures::review());
    CHECK(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"));
    CHECK(page.ends_with("</main>\n</body>\n</html>\n"));
    CHECK(contains(page, "<title>Upgrade review of training</title>"));
    CHECK(contains(page, "content=\"default-src 'none'; style-src 'sha256-"));
    CHECK(contains(page, "'; base-uri 'none'; form-action 'none'\">"));
    for (const auto* bad :
         {"<script", "script-src", "src=", "@import", "url(", "<link", "<iframe", " style=", "%%", "http:"})
        CHECK_MESSAGE(!contains(page, bad), bad);
    CHECK(times(page, "<style") == 1);
    // Its head is that of the run's page, but for the script that may run there.
    const auto head_of = [](const std::string& whole) {
        auto head = whole.substr(0, whole.find("<body>"));
        const auto title = head.find("<title>");
        head.erase(title, head.find("</title>") - title);
        const auto script = head.find("script-src ");
        return script == std::string::npos ? head : head.erase(script, head.find(';', script) + 2 - script);
    };
    CHECK(head_of(page) == head_of(run_html(fixtures::run())));
    CHECK(names_in(page) == std::set<std::string>{"a",           "aria-hidden=",
                                                  "aria-label=", "aria-labelledby=",
                                                  "class=",      "code",
                                                  "d=",          "del",
                                                  "details",     "div",
                                                  "h1",          "h2",
                                                  "header",      "height=",
                                                  "href=",       "id=",
                                                  "ins",         "li",
                                                  "line",        "main",
                                                  "nav",         "p",
                                                  "path",        "pre",
                                                  "rel=",        "role=",
                                                  "scope=",      "section",
                                                  "span",        "summary",
                                                  "svg",         "tabindex=",
                                                  "table",       "tbody",
                                                  "td",          "text",
                                                  "th",          "thead",
                                                  "title",       "tr",
                                                  "ul",          "wbr",
                                                  "width=",      "x1=",
                                                  "x2=",         "x=",
                                                  "y1=",         "y2=",
                                                  "y="});
}

TEST_CASE("document page: no text becomes markup or ends its place") {
    const auto known = names_in(document_html(fixtures::review()));
    auto texts = fixtures::hostile_texts();
    for (const auto* more :
         {"<script>alert(1)</script>", "</main></body>", "\" onclick=\"alert(1)", "' style='color:red",
          "<!--", "-->", "&lt;script&gt;", "</title><b>", "</pre><i>", "</svg><a href=\"x\">", "%%STYLE%%",
          "@name #1 | ```\n# x", "https://a.example/\"onload=\"x"})
        texts.emplace_back(more);
    texts.push_back(std::string(5000, 'w'));
    for (const auto& hostile : texts) {
        const auto page = document_html(fixtures::filled_with(hostile));
        for (const auto& name : names_in(page))
            CHECK_MESSAGE(known.count(name) == 1, name);
        CHECK(times(page, "<script") == 0);
        CHECK(times(page, "<title>") == 1 + times(main_of(page), "<title>"));
        CHECK(fixtures::terminal_safe(page));
        // The classes are ours, and so is each place that a link goes to.
        for (const auto* link : parsed(page).all("a"))
            CHECK(link->at("href").starts_with("#s"));
    }
    const auto page = parsed(document_html(fixtures::filled_with("<b>\"&amp;\"</b>")));
    for (const auto* name : {"h1", "p", "td", "pre", "h2"}) {
        REQUIRE_FALSE(page.all(name).empty());
        CHECK(text::trim(page.all(name).front()->text) == "<b>\"&amp;\"</b>");
    }
    CHECK(page.all("li").back()->text == "<b>\"&amp;\"</b>");
    CHECK(page.all("div").front()->at("aria-label") == "Table: <b>\"&amp;\"</b>");
}

TEST_CASE("document page: only an address is a link") {
    CHECK(
        section_of(Paragraph{" https://a.example/b?c=d&e=f#g "}) ==
        "<p><a href=\"https://a.example/b?c=d&amp;e=f#g\" rel=\"noreferrer\">https://a.example/b?c=d&amp;e=f#g</a></p>\n");
    CHECK(contains(
        section_of(DocumentTable{{"a"}, {{{"https://a.example", Tone::bad, true}}}}),
        "<td><span class=\"tag failed\">✗ <a href=\"https://a.example\" rel=\"noreferrer\"><code>https:<wbr/>/"
        "<wbr/>/<wbr/>a.example</code></a></span></td>"));
    for (const auto* none : {"http://a.example", "javascript:alert(1)", "https://", "https://a b",
                             "https://a\"b", "//a.example", "see https://a.example", "data:text/html,x"})
        CHECK_MESSAGE(!contains(section_of(Paragraph{none}), "<a"), none);
    // A heading is in the links to the sections already.
    CHECK(times(document_html({"https://a.example", {}, {{"https://b.example"}}}), "<a ") == 1);
}

TEST_CASE("document page: what is empty leaves nothing") {
    const std::string nothing = "<main class=\"document\">\n<header>\n</header>\n</main>\n";
    CHECK(main_of(document_html({})) == nothing);
    CHECK(main_of(document_html({" ", {"", "\n"}, {}})) == nothing);
    for (const Block& block : {Block(Paragraph{" "}), Block(DocumentList{{"", " "}}), Block(DocumentTable{}),
                               Block(Timeline{"2026-11"})})
        CHECK(section_of(block).empty());
    CHECK(
        section_of(DocumentTable{{"a"}, {}}) ==
        "<div class=\"scroll\" role=\"group\" aria-label=\"Table\" tabindex=\"0\">\n<table class=\"plain\">\n"
        "<thead><tr><th scope=\"col\" class=\"short\">a</th></tr></thead>\n<tbody>\n</tbody>\n</table>\n</div>\n");
    CHECK(section_of(DocumentCode{}) == "<pre>\n</pre>\n");
    CHECK(
        contains(section_of(DocumentTable{{"a", "b"}, {{"c"}, {"d", "e", "f"}}}),
                 "<tr><td class=\"short\">c</td><td class=\"short\"></td><td class=\"short\"></td></tr>\n"));
}

TEST_CASE("document page: columns have the room that their values want") {
    const auto classes = [](const DocumentTable& table) {
        const auto text = section_of(table);
        std::vector<std::string> out{text.substr(text.find("<table class=\"") + 14)};
        out[0].resize(out[0].find('"'));
        for (auto at = text.find("<th scope=\"col\""); at != std::string::npos;
             at = text.find("<th scope=\"col\"", at + 1))
            out.push_back(text.substr(at + 15, text.find('>', at) - at - 15));
        return out;
    };
    using Classes = std::vector<std::string>;
    const std::string w16(16, 'w'), w17(17, 'w'), w59(59, 'w'), w60(60, 'w');
    CHECK(classes({{"a", "b", "c", "d"}, {{w16, w17, w59, w60}}, {}}) ==
          Classes{"plain", " class=\"short\"", "", "", " class=\"long\""});
    CHECK(classes({{w16, w17, "c"}, {{"a", "b", {std::string(15, 'w'), Tone::good}}}, {}}) ==
          Classes{"plain", " class=\"short\"", "", ""});
    CHECK(classes({{w17, "b"}, {{w60, "1"}}, {true}}) ==
          Classes{"plain", " class=\"number\"", " class=\"short\""});
    CHECK(classes({{w16, w16, w16, w16}, {}}).front() == "plain");
    CHECK(classes({{w16, w16, w16, w16, w16}, {}}).front() == "plain wide");
    CHECK(classes({{w60, w60, w60, w60, w60}, {}}).front() == "plain");
}

TEST_CASE("document page: a day on a timeline") {
    // Where the mark is, and whether a line leads to it.
    const auto mark_of = [](std::string day, std::string first = "2026-11", unsigned months = 13) {
        const auto text =
            section_of(Timeline{std::move(first), months, {{"a", std::move(day), Tone::good, "b"}}});
        const auto at = text.find("<svg class=\"passed\" x=\"");
        if (at == std::string::npos) return std::string("none");
        const auto x = text.substr(at + 23, text.find('"', at + 23) - at - 23);
        return (contains(text, "class=\"until\" x2=\"" + x + "\"") ? "to " : "before ") + x;
    };
    CHECK(mark_of("2026-11-01") == "to 0.3");
    CHECK(mark_of("2026-11") == "to 10.0");
    CHECK(mark_of("2026-11-30") == "to 19.0");
    CHECK(mark_of("2027-11-30") == "to 259.0");
    CHECK(mark_of("2027-11") == "to 250.0");
    CHECK(mark_of("2026-10-31") == "before 7.0");
    CHECK(mark_of("1999-01") == "before 7.0");
    CHECK(mark_of("2027-12-01") == "none");
    CHECK(mark_of("2026-11-31") == "none");
    CHECK(mark_of("soon") == "none");
    CHECK(mark_of("") == "none");
    CHECK(mark_of("2026-11", "soon") == "none");
    CHECK(mark_of("2026-11", "2026-11", 0) == "none");
    // A first year of one month has no number.
    const auto head = [](std::string first) {
        auto text = section_of(Timeline{std::move(first), 2, {{}}});
        text = text.substr(text.find("<svg role"));
        return text.substr(0, text.find("</svg>") + 6);
    };
    CHECK(
        head("2026-12") ==
        "<svg role=\"img\" aria-label=\"2026-12 to 2027-01\" width=\"40\" height=\"36\"><text class=\"letter\" x=\"10\" "
        "y=\"30\">D</text><text x=\"24\" y=\"13\">2027</text><text class=\"letter\" x=\"30\" y=\"30\">J</text></svg>");
    CHECK(head("soon") == "<svg role=\"img\" aria-label=\"months\" width=\"40\" height=\"36\"></svg>");
}
