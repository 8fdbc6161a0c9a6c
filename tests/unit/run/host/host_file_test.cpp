// A machine as a file, there and back; and files that are none.
#include "run/host/host_file.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "fakes/hosts.hpp"

using namespace cudamatrix;
using namespace cudamatrix::probe;

namespace {

// The message of each mistake, or what was read, as JSON.
std::string read(std::string_view content) {
    test::TempFolder folder;
    folder.put("node.json", std::string(content));
    const auto host = read_host_file(folder / "node.json");
    if (host.ok()) return to_text(host_json(*host), false);
    CHECK(host.failure().code == ExitCode::bad_input);
    std::string out;
    for (const auto& diagnostic : host.failure().diagnostics)
        out += render(diagnostic, {});
    return text::replace_all(out, (folder / "").string(), "");
}

std::string report_of(std::string_view host) {
    return fmt::format(R"({{"host": {}, "lines": []}})", host);
}

}  // namespace

TEST_CASE("host file: every machine of tests/fakes/hosts comes back as it was") {
    for (const auto& file : fakes::hosts()) {
        CAPTURE(file.filename().string());
        const auto written = to_text(host_json(look_at(fakes::Host(file).machine())), false);
        CHECK(read(report_of(written)) == written);
    }
}

TEST_CASE("host file: what is none") {
    CHECK(read("") == "node.json:1:1: error: not valid JSON\n");
    CHECK(read("{\"host\"").starts_with("node.json:1:8: error: not valid JSON"));
    const std::string other =
        "cudamatrix: error: node.json: not a report of doctor\n"
        "  fix: cudamatrix doctor --format json > FILE.json on that machine\n";
    for (const char* text : {"[]", "{}", "{\"lines\": []}", "{\"host\": {}}", "\"host\""}) {
        CAPTURE(text);
        CHECK(read(text) == other);
    }
    CHECK(read(report_of("[]")) == "node.json: error: $.host: found a list, expected an object\n");
    CHECK(read(report_of("{}")) == "node.json: error: $.host.gpus: missing\n");
    CHECK(read(report_of(R"({"gpus": 1})")) == "node.json: error: $.host.gpus: found 1, expected a list\n");
    CHECK(read(report_of(R"({"gpus": [], "driver": "550"})")) ==
          "node.json: error: $.host.driver: found \"550\", expected an object\n");
    CHECK(read(report_of(R"({"gpus": [{"name": 1}], "gpus_from": "x"})"))
              .find("$.host.gpus[0].name: found 1") != std::string::npos);
    CHECK(read(report_of(R"({"gpus": [{"name": "\u001b[1m"}], "gpus_from": "x"})"))
              .find("expected at most 64 characters fit for a terminal") != std::string::npos);
    CHECK(read(report_of(fmt::format(R"({{"gpus": [], "os": {{"value": "{}", "from": "x"}}}})",
                                     std::string(65, 'a'))))
              .find("$.host.os.value: found ") != std::string::npos);
    CHECK(read_host_file("/nonexistent/x.json").failure().code == ExitCode::bad_input);
}
