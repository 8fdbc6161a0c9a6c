// `--host fleet/*.json` as a shell makes it.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "commands/command_line.hpp"

using namespace cudamatrix;

TEST_CASE("command line: each file behind --host is a --host of its own") {
    const auto words = [](std::string_view line) {
        return text::join(each_host_alone(text::split(line, ' ')), " ");
    };
    CHECK(words("check m.yaml --host") == "check m.yaml --host");
    CHECK(words("check --host m.yaml") == "check --host m.yaml");
    CHECK(words("check --host a.json m.yaml") == "check --host=a.json m.yaml");
    CHECK(words("check m.yaml --host a.json b/c.json") == "check m.yaml --host=a.json --host=b/c.json");
    CHECK(words("check --host a.json -v b.json") == "check --host=a.json -v b.json");
    CHECK(words("check --host --out a.json") == "check --host --out a.json");
    CHECK(words("check --host=a.json b.json") == "check --host=a.json b.json");
    CHECK(words("check --host a.json --host") == "check --host=a.json --host");
    CHECK(words("check --facts a.json --host -x.json") == "check --facts a.json --host -x.json");
    CHECK(each_host_alone({}).empty());
}
