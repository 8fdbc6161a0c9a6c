#include "run/job/shared_stages.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

constexpr const char* kProof =
    "# a comment\n"
    "FROM debian@sha256:1 AS base\n"
    "RUN true\n"
    "FROM base AS devel\n"
    "COPY packages-devel.lock /tmp/packages.lock\n"
    "RUN apt-get update \\\n"
    " && apt-get install g++\n"
    "FROM devel AS suite\n"
    "COPY suite/ /src/\n"
    "RUN make NAME\n"
    "FROM cudamatrix/m:NAME\n"
    "COPY --from=suite /opt /opt\n";

BuildFile build_file(const std::string& name, const std::string& packages = "p",
                     const std::string& text = kProof) {
    return {text::replace_all(text, "NAME", name),
            {{"packages-devel.lock", packages}, {"suite/main.cpp", "m"}, {"suite/test.cu", "t"}}};
}

// "devel: 0 1"
std::vector<std::string> shared(const std::vector<BuildFile>& files) {
    std::vector<std::string> out;
    for (const auto& stage : shared_stages(files)) {
        std::vector<std::string> places;
        for (const auto place : stage.files)
            places.push_back(std::to_string(place));
        out.push_back(stage.name + ": " + text::join(places, " "));
    }
    return out;
}

using Shared = std::vector<std::string>;

}  // namespace

TEST_CASE("shared stages: of those that stand on one another the last") {
    CHECK(shared({build_file("a"), build_file("b")}) == Shared{"devel: 0 1"});
    CHECK(shared({build_file("a"), build_file("a")}) == Shared{"suite: 0 1"});
    CHECK(shared({build_file("a"), build_file("b"), build_file("c", "other")}) ==
          Shared{"base: 0 1 2", "devel: 0 1"});
}

TEST_CASE("shared stages: what is copied counts, wherever it comes from") {
    auto other = build_file("a");
    other.context["suite/main.cpp"] = "changed";
    CHECK(shared({build_file("a"), other}) == Shared{"devel: 0 1"});
    CHECK(shared({build_file("a"), build_file("a", "changed")}) == Shared{"base: 0 1"});
    // Through another stage.
    const std::string through =
        "FROM debian AS one\nCOPY packages-devel.lock /p\nFROM debian AS two\nRUN true\nCOPY --from=one /p /p\nFROM two\n";
    CHECK(shared({build_file("a", "p", through), build_file("b", "p", through)}) == Shared{"two: 0 1"});
    CHECK(shared({build_file("a", "p", through), build_file("b", "q", through)}) == Shared{});
}

TEST_CASE("shared stages: none where there is nothing to share, or nobody knows") {
    CHECK(shared({}) == Shared{});
    CHECK(shared({build_file("a")}) == Shared{});
    CHECK(shared({build_file("a", "p", "FROM debian\nRUN true\n"),
                  build_file("b", "p", "FROM debian\nRUN true\n")}) ==
          Shared{});  // a stage without a name cannot be asked for
    for (const auto* unknown : {"COPY elsewhere/ /x", "ADD https://example.org/x /x",
                                "RUN --mount=type=bind,source=suite,target=/s make"}) {
        const auto text =
            fmt::format("FROM debian AS one\n{}\nFROM one AS two\nRUN true\nFROM two\n", unknown);
        CHECK(shared({build_file("a", "p", text), build_file("b", "p", text)}) == Shared{});
    }
    CHECK(shared({build_file("a", "p", "FROM debian@sha256:1 AS x\nRUN true\nFROM x\n"),
                  build_file("b", "p", "FROM debian@sha256:2 AS x\nRUN true\nFROM x\n")}) == Shared{});
    CHECK(shared({build_file("a", "p", "FROM --platform=linux/arm64 debian AS x\nRUN true\nFROM x\n"),
                  build_file("b", "p", "FROM debian AS x\nRUN true\nFROM x\n")}) == Shared{});
    CHECK(shared({build_file("a", "p", "RUN before any stage\n"),
                  build_file("b", "p", "\n\n# only a comment\n")}) == Shared{});
}
