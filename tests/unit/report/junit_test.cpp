#include <doctest/doctest.h>

#include <limits>

#include "base/text.hpp"
#include "report/cases.hpp"
#include "report/layout.hpp"
#include "report/run_reports.hpp"
#include "unit/report/fixtures.hpp"
#include "unit/report/xml_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

std::string property(const xml_check::Element& suite, std::string_view name) {
    for (const auto* property : suite.all("property")) {
        if (property->at("name") == name) return property->at("value");
    }
    return "(no such property)";
}

// The counts in the attributes must be those of the elements.
void check_counts(const xml_check::Element& element) {
    CHECK(element.at("tests") == std::to_string(element.all("testcase").size()));
    CHECK(element.at("failures") == std::to_string(element.all("failure").size()));
    CHECK(element.at("errors") == std::to_string(element.all("error").size()));
    CHECK(element.at("skipped") == std::to_string(element.all("skipped").size()));
}

}  // namespace

TEST_CASE("junit: the whole document") {
    CHECK(junit_text(cases_of(fixtures::run())) == fixtures::golden("run.junit.xml"));
}

TEST_CASE("junit: counts, names and groups") {
    const auto root = xml_check::parsed(junit_text(cases_of(fixtures::run())));
    CHECK(root.name == "testsuites");
    check_counts(root);
    REQUIRE(root.children.size() == 7);
    for (const auto& suite : root.children)
        check_counts(suite);
    const auto cases = root.children[1].all("testcase");
    REQUIRE(cases.size() == 3);
    CHECK(cases[1]->at("classname") == "drv550.54.15-t4-cu11.8.0-debian12.static");
    CHECK(cases[1]->at("name") == "static.fatbin[static]");
    CHECK(cases[0]->at("name") == "env.vars");
}

TEST_CASE("junit: the SASS found is a property of each cell") {
    const auto root = xml_check::parsed(junit_text(cases_of(fixtures::green_run())));
    for (const std::size_t suite : {1u, 2u}) {
        CHECK(property(root.children[suite], "static.fatbin.sass") == "7.5, 8.0");
        CHECK(property(root.children[suite], "static.fatbin.ptx") == "8.0@7.8");
        CHECK(property(root.children[suite], "static.fatbin.code_path") == "sass 7.5");
    }
}

TEST_CASE("junit: code in a form that nobody knows is told whole") {
    auto report = fixtures::green_run();
    report.cells[0].tests[1].fatbin = {"sass", "elf \"x\" 1", "sass 9.0a"};
    const auto root = xml_check::parsed(junit_text(cases_of(report)));
    CHECK(property(root.children[1], "static.fatbin.code") == "sass, elf \"x\" 1");
    CHECK(property(root.children[1], "static.fatbin.sass") == "9.0a");
}

TEST_CASE("junit: how fast a GPU was stands in the properties of its cell") {
    auto report = fixtures::green_run();
    auto& test = report.cells[0].tests[2];
    test.metrics = {{"copy", 2710.53, "GB/s", 5, 0.0061, "cudaMemcpy", 2766, 0.97995, 0.97},
                    {"f16", 55.25, "TFLOP/s", 5, 0.02, "cublasGemmEx", 600, 0.0921, 0},
                    {"up", 25, "GB/s", 5, 0}};
    const auto root = xml_check::parsed(junit_text(cases_of(report)));
    const auto& suite = root.children[1];
    CHECK(property(suite, "cmp.vadd.copy") == "2710.53 GB/s");
    CHECK(property(suite, "cmp.vadd.copy.rsd") == "0.0061 in 5");
    CHECK(property(suite, "cmp.vadd.copy.ratio") == "0.98 of cudaMemcpy (2766 GB/s), goal 0.97");
    CHECK(property(suite, "cmp.vadd.f16.ratio") == "0.0921 of cublasGemmEx (600 TFLOP/s)");
    CHECK(property(suite, "cmp.vadd.up") == "25 GB/s");
    CHECK(property(suite, "cmp.vadd.up.ratio") == "(no such property)");
    CHECK(property(root.children[2], "cmp.vadd.copy") == "(no such property)");
}

TEST_CASE("junit: a rejected cell is a skipped test case with the reason") {
    const auto root = xml_check::parsed(junit_text(cases_of(fixtures::green_run())));
    const auto& suite = root.children[3];
    CHECK(suite.at("name") == "drv470.161.03-t4-cu12.4.1-debian12");
    REQUIRE(suite.all("skipped").size() == 1);
    CHECK(suite.all("skipped")[0]->at("message") ==
          "rejected: driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13");
}

TEST_CASE("junit: timeouts and crashes are errors that say so") {
    auto report = fixtures::green_run();
    auto& tests = report.cells[0].tests;
    tests[0].status = TestStatus::timeout;
    tests[1].status = TestStatus::crash;
    tests[1].summary = "killed by signal 11";
    tests[2].status = TestStatus::error;
    const auto root = xml_check::parsed(junit_text(cases_of(report)));
    const auto errors = root.children[1].all("error");
    REQUIRE(errors.size() == 3);
    CHECK(errors[0]->at("message") == "timeout");
    CHECK(errors[1]->at("message") == "crash: killed by signal 11");
    CHECK(errors[1]->at("type") == "crash");
    CHECK(errors[2]->at("message") == "no_device");
}

TEST_CASE("junit: a cell that failed is never green") {
    auto report = fixtures::green_run();
    report.cells[0].outcome = CellOutcome::failed;
    report.cells[0].reason = "a planned test sent no line";
    report.cells[1].outcome = CellOutcome::errored;
    report.cells[1].tests.clear();
    const auto root = xml_check::parsed(junit_text(cases_of(report)));
    CHECK(root.at("failures") == "1");
    CHECK(root.at("errors") == "1");
    CHECK(root.children[1].all("failure")[0]->at("message") == "a planned test sent no line");
    CHECK(root.children[2].all("error")[0]->at("message") == "errored");
}

TEST_CASE("junit: a cell that was not tested is skipped, not passed") {
    auto report = fixtures::green_run();
    report.cells[0].outcome = CellOutcome::planned;
    report.cells[0].proof = Proof::built;
    report.cells[0].tests.clear();
    const auto root = xml_check::parsed(junit_text(cases_of(report)));
    CHECK(root.children[1].at("skipped") == "1");
    CHECK(root.children[1].all("skipped")[0]->at("message") == "not tested, built");
}

TEST_CASE("junit: whatever the container printed, the document is well-formed and the counts hold") {
    const auto plain = xml_check::parsed(junit_text(cases_of(fixtures::run())));
    for (const auto& hostile : fixtures::hostile_texts()) {
        auto report = fixtures::run();
        report.matrix = hostile;
        report.seconds = -std::numeric_limits<double>::infinity();
        for (auto& image : report.images)
            image.id = image.log = hostile;
        report.images[1].error = hostile;
        for (auto& cell : report.cells) {
            cell.id = cell.log = cell.verdict = cell.reason = hostile;
            cell.findings = {hostile, hostile};
            cell.fields.emplace_back(hostile, hostile);
            for (auto& test : cell.tests) {
                test.id = test.part = test.reason = test.fault = test.summary = test.hint = test.code_path =
                    test.evidence = hostile;
                test.fatbin = {hostile, "sass " + hostile};
                test.metrics = {{hostile, 1, hostile, 1, 0, hostile, 1, 1, 1}};
            }
        }
        const auto document = junit_text(cases_of(report));
        const auto root = xml_check::parsed(document);
        check_counts(root);
        for (const auto* count : {"tests", "failures", "errors", "skipped"})
            CHECK(root.at(count) == plain.at(count));
        CHECK(document.size() < 3'000'000);
    }
}

TEST_CASE("xml: CDATA cannot be left, and gives back the text") {
    CHECK(xml::cdata("") == "<![CDATA[]]>");
    CHECK(xml::cdata("a < b & c") == "<![CDATA[a < b & c]]>");
    CHECK(xml::cdata("a]]>b") == "<![CDATA[a]]]]><![CDATA[>b]]>");
    const std::string prolog = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    for (const std::string text : {"]]>", "]]]]>>", "]]>]]>", "]]", "]]]>", "x]]>y]]>z"}) {
        CHECK(xml_check::parsed(prolog + "<a>" + xml::cdata(text) + "</a>").text == text);
    }
}

TEST_CASE("xml: the end of a long output is kept, cut between characters") {
    CHECK(xml::cdata("abcdef", 3) == "<![CDATA[def]]>");
    CHECK(xml::cdata("ab\xe4\xb8\xad", 2) == "<![CDATA[]]>");
    CHECK(xml::cdata("ab\xe4\xb8\xad"
                     "d",
                     4) ==
          "<![CDATA[\xe4\xb8\xad"
          "d]]>");
}

TEST_CASE("xml: attributes are escaped and cut between characters") {
    CHECK(xml::attribute("a\"b<c>&d'\n") == "a&quot;b&lt;c&gt;&amp;d'&#10;");
    CHECK(xml::attribute("abcdef", 3) == "abc...");
    CHECK(xml::attribute("ab\xe4\xb8\xad", 3) == "ab...");
    CHECK(xml::attribute("ab\xe4\xb8\xad", 5) == "ab\xe4\xb8\xad");
    CHECK(xml::tag("a", {}) == "<a>");
    CHECK(xml::tag("a", {{"b", "\""}, {"c", ""}}, true) == "<a b=\"&quot;\" c=\"\"/>");
}

TEST_CASE("xml: only characters that XML allows") {
    CHECK(xml::legal("a\tb\r\nc\n") == "a b\nc\n");
    CHECK(xml::legal("\r") == "");
    CHECK(xml::legal("a\rb") == "a?b");
    CHECK(xml::legal(std::string("\0\x01\x1b\x7f", 4)) == "????");
    CHECK(xml::legal("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd") == "??\xef\xbf\xbd");
    CHECK(xml::legal("\xc3(\xed\xa0\x80") == "?(???");
}

TEST_CASE("xml check: the checker of these tests sees what is wrong") {
    const std::string prolog = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    std::string problem;
    for (const std::string bad :
         {"<a>", "<a></b>", "<a b=c/>", "<a b=\"1\" b=\"2\"/>", "<a b=\"<\"/>", "<a>&nbsp;</a>", "<a>]]></a>",
          "<a><![CDATA[</a>", "<a/><b/>", "<a/>text", "<1/>", "<a>\x1b</a>", "<a>\xff</a>", "<a>&</a>", ""}) {
        CAPTURE(bad);
        CHECK_FALSE(xml_check::parse(prolog + bad, problem).has_value());
    }
    CHECK_FALSE(xml_check::parse("<a/>", problem).has_value());
    CHECK(xml_check::parse(prolog + "<a b=\"1\"><c/>x</a>", problem).has_value());
}
