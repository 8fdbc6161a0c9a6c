// Pages: what is in them, and that nothing in their data can get out.
#include <doctest/doctest.h>

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "report/page.hpp"
#include "report/run_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::contains;
using fixtures::times;

namespace {

// What stands between the tag `start` and the next `end`, as a browser finds it.
std::string between(std::string_view page, std::string_view start, std::string_view end) {
    const auto at = page.find(start);
    REQUIRE(at != std::string_view::npos);
    page.remove_prefix(at + start.size());
    return std::string(page.substr(0, page.find(end)));
}

constexpr std::string_view kData = "<script type=\"application/json\" id=\"data\">";

Json data_of(std::string_view page) {
    const auto json = parse_json(between(page, kData, "</script"), "data");
    REQUIRE(json.ok());
    return json.value();
}

std::string bytes_of(std::string_view hex) {
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return out;
}

std::string without_data(std::string page) {
    const auto at = page.find(kData);
    return page.erase(at, page.find("</script", at) - at);
}

}  // namespace

TEST_CASE("run page: what cells share stands once") {
    const auto data = data_of(run_html(fixtures::run()));
    CHECK(data == parse_json(run_page_data(fixtures::run()), "data").value());
    CHECK(data.at("fields") == Json{"driver", "gpu", "cuda", "os"});
    CHECK(data.at("values") == Json{Json{"550.54.15", "470.161.03", "999.1"}, Json{"T4", "H100"},
                                    Json{"11.8.0", "12.4.1"}, Json::array({"debian12"})});
    CHECK(data.at("cells").size() == 6);
    CHECK(data.at("cells")[0].at("at") == Json{0, 0, 0, 0});
    CHECK(data.at("cells")[2].at("at") == Json{0, 1, 0, 0});
    CHECK(data.at("cells")[4].at("at") == Json{2, -1, -1, -1});
    CHECK(data.at("cells")[0].at("tests") == data.at("cells")[1].at("tests"));
    CHECK(data.at("cells")[0].at("tests") != data.at("cells")[2].at("tests"));
    CHECK(data.at("cells")[0].at("ms") == Json{3.0, 12.0, 0.0});
    CHECK(data.at("tests").size() == 4);
    CHECK(data.at("tests")[3] == Json{{"id", "static.fatbin"},
                                      {"status", "fail"},
                                      {"part", "static"},
                                      {"reason", "not_covered"},
                                      {"fault", "F6"},
                                      {"summary", "no code in the image runs on compute capability 9.0"},
                                      {"hint", "build for sm_90"},
                                      {"evidence", "found 3 entries\nnone covers 9.0\n"}});
    CHECK(data.at("lists") == Json{Json{0, 1, 2}, Json{0, 3, 2}});
    const auto& rejected = data.at("cells")[3];
    const auto text = [&](const Json& number) { return data.at("texts").at(number.get<std::size_t>()); };
    CHECK(text(rejected.at("reason")) == fixtures::run().cells[3].reason);
    CHECK(text(rejected.at("findings")[0]) == fixtures::run().cells[3].findings[0]);
    CHECK(text(rejected.at("fixes")[0]) == fixtures::run().cells[3].fixes[0]);
    CHECK_FALSE(rejected.contains("tests"));
    CHECK(text(data.at("cells")[2].at("counts")) == "1 failed, 1 passed, 1 needs a GPU");
    CHECK(data.at("images")[0].at("tests") == "1 failed, 1 passed, 1 needs a GPU");
    CHECK(data.at("images")[1].at("build") == "failed");
    CHECK(data.at("closing") == closing_line(fixtures::run()));
}

TEST_CASE("run page: how fast a GPU was") {
    auto report = fixtures::green_run();
    report.cells[0].tests[2].metrics = {{"copy", 2710.5, "GB/s", 12, 0.01, "cudaMemcpy", 2766, 0.98, 0.97},
                                        {"launch", 3.25, "us", 100, 0, {}, 0, 0, 0}};
    const auto data = data_of(run_html(report));
    CHECK(data.at("tests")[2].at("metrics") ==
          Json{"copy: 2710.5 GB/s, 0.98 of cudaMemcpy, goal 0.97", "launch: 3.25 us"});
}

TEST_CASE("run page: it loads nothing, and says what may run by its hash") {
    const auto page = run_html(fixtures::run());
    CHECK(page.starts_with("<!DOCTYPE html>\n"));
    CHECK(page.ends_with("</html>\n"));
    for (const auto* outside :
         {"http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "<object", "innerHTML",
          "outerHTML", "insertAdjacent", "document.write", "eval(", "%%", " style=", " onclick="})
        CHECK_MESSAGE(!contains(page, outside), outside);
    const auto source = [](const std::string& content) {
        return fmt::format("'sha256-{}'", text::to_base64(bytes_of(sha256(content))));
    };
    const auto policy = between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    CHECK(policy ==
          fmt::format("default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
                      source(between(page, "<style>", "</style>")),
                      source(between(page, "<script>", "</script>"))));
    CHECK(between(page, "<title>", "</title>") == "run of training");
    CHECK(contains(between(page, "<noscript>", "</noscript>"), closing_line(fixtures::run())));
    CHECK(times(page, "<script") == 2);
    CHECK(times(page, "</script") == 2);
    CHECK(times(page, "<style") == 1);
    CHECK(times(page, "</style") == 1);
}

TEST_CASE("run page: no text becomes markup or ends its place") {
    const auto plain = run_html(fixtures::run());
    auto texts = fixtures::hostile_texts();
    for (const auto* more :
         {"</script><script>alert(1)</script>", "<!--", "<!-- <script>", "-->", "]]>", "</ScRiPt >",
          "\xe2\x80\xa8\xe2\x80\xa9", "\"'`\\", "%%SCRIPT%%%%DATA%%", "</title><b>", "</noscript>",
          "&lt;/script&gt;", "\\u003c/script>", "javascript:alert(1)", "__proto__", "constructor"})
        texts.emplace_back(more);
    for (const auto& hostile : texts) {
        auto report = fixtures::run();
        report.matrix = report.engine = hostile;
        for (auto& image : report.images)
            image.id = image.error = image.log = image.digest = hostile;
        for (auto& cell : report.cells) {
            cell.id = cell.cell = cell.reason = cell.log = cell.image = hostile;
            cell.fields.emplace_back(hostile, hostile);
            cell.findings = cell.fixes = {hostile};
            for (auto& test : cell.tests)
                test.id = test.part = test.reason = test.summary = test.hint = test.evidence = hostile;
        }
        const auto page = run_html(report);
        CHECK(times(page, "<script") == 2);
        CHECK(times(page, "</script") == 2);
        CHECK(times(page, "<!--") == 0);
        CHECK_FALSE(contains(page, "alert(1)</script>"));
        CHECK_FALSE(contains(page, "\xe2\x80\xa8"));
        CHECK_FALSE(contains(page, std::string(1, '\0')));
        CHECK_FALSE(text::invalid_utf8(page));
        // The same elements around it, and the same script.
        CHECK(times(without_data(page), "<") == times(without_data(plain), "<"));
        CHECK(between(page, "<script>", "</script>") == between(plain, "<script>", "</script>"));
        const auto data = data_of(page);
        if (text::invalid_utf8(hostile)) continue;
        CHECK(data.at("cells")[0].at("id") == hostile);
        CHECK(data.at("texts")[data.at("cells")[0].at("reason").get<std::size_t>()] == hostile);
        CHECK(data.at("fields").back() == hostile);
        CHECK(data.at("matrix") == hostile);
    }
}

TEST_CASE("run page: a report with nothing in it") {
    RunReport report;
    report.command = "test";
    const auto data = data_of(run_html(report));
    for (const auto* list : {"images", "cells", "fields", "values", "texts", "tests", "lists"})
        CHECK(data.at(list).empty());
}

TEST_CASE("data in a script element is the same JSON") {
    CHECK(for_script_element("{\"a\": \"<&>\"}") == "{\"a\": \"\\u003c\\u0026\\u003e\"}");
    CHECK(for_script_element("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa") == "\\u2028\\u2029\xe2\x80\xaa");
    CHECK(for_script_element("") == "");
}
