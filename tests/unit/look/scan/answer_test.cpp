#include "look/scan/local.hpp"

#include <doctest/doctest.h>

#include "unit/look/scan/fixture.hpp"

using namespace cudamatrix::scan;
using cudamatrix::fatbin::Arch;
using cudamatrix::fatbin::PtxIsa;
using fixture::Blob;

namespace {

Library of(const std::vector<Blob>& entries) {
    return read_library("f", fixture::container(entries).view(), {});
}

Question on(const char* compute, const char* driver = "", std::optional<PtxIsa> isa = {}) {
    return {"GPU", *cudamatrix::fatbin::parse_arch(compute), driver, isa};
}

std::string text(const Library& library, const Question& question) {
    static const char* const names[] = {"runs", "no code", "unknown", "no kernels"};
    const auto answer = answer_to(library, question);
    return std::string(names[static_cast<int>(answer.outcome)]) + ": " + answer.text;
}

}  // namespace

TEST_CASE("machine code, of an earlier minor, PTX, nothing") {
    const Library library = of({fixture::sass(80, {"k"}), fixture::ptx(80, 8, 4)});
    CHECK(text(library, on("8.0")) == "runs: sass 8.0");
    CHECK(text(library, on("8.6")) == "runs: sass 8.0 (same major) for 8.6");
    CHECK(text(library, on("9.0", "driver 550", PtxIsa{8, 4})) == "runs: ptx 8.0 via JIT");
    CHECK(text(library, on("9.0")) == "runs: ptx 8.0 via JIT, if the driver knows PTX ISA 8.4");
    CHECK(text(library, on("9.0", "driver 535", PtxIsa{8, 2})) ==
          "no code: none: ptx 8.0 is PTX ISA 8.4, the driver knows up to 8.2");
    CHECK(text(library, on("7.5")) == "no code: none: nothing here runs on 7.5 (sass 8.0, ptx 8.0@8.4)");
    CHECK(text(library, on("9.0", "driver 999")) ==
          "unknown: ptx 8.0 via JIT, if the driver knows PTX ISA 8.4");
}

TEST_CASE("containers without kernels are never a code path, and a library of nothing else needs none") {
    CHECK(text(of({fixture::sass(75, {})}), on("7.5")) == "no kernels: no kernels");
    Blob both = fixture::container({fixture::sass(75, {})});
    both.append(fixture::container({fixture::sass(80, {"k"})}));
    CHECK(text(read_library("f", both.view(), {}), on("7.5")) ==
          "no code: none: nothing here runs on 7.5 (sass 8.0)");
}

TEST_CASE("link-time code is no code path") {
    fixture::EntryOptions options;
    options.kind = 8;
    options.arch = 90;
    CHECK(text(of({fixture::entry(options, Blob().text("ir"))}), on("9.0")) ==
          "no code: none: link-time code only, which no driver loads");
}

TEST_CASE("of a damaged file what stood before the damage counts, and the rest is unknown") {
    Blob blob = fixture::container({fixture::sass(80, {"k"})});
    blob.append(fixture::container({fixture::sass(90, {"k"})})).text("rubbish and more of it");
    const Library library = read_library("f", blob.view(), {});
    CHECK(text(library, on("9.0")) == "runs: sass 9.0");
    CHECK(text(library, on("7.5")).find("unknown: unknown: fat binary, container at 0x") == 0);
}

TEST_CASE("every library is asked every question") {
    Scan scan;
    scan.libraries = {of({fixture::sass(80, {"k"})}), of({fixture::sass(90, {"k"})})};
    const auto all = answers(scan, {on("8.0"), on("9.0")});
    REQUIRE(all.size() == 4);
    CHECK(all[0].outcome == Outcome::runs);
    CHECK(all[1].outcome == Outcome::no_code);
    CHECK(all[1].question == 1);
    CHECK(all[2].library == 1);
    CHECK(all[2].outcome == Outcome::no_code);
    CHECK(all[3].outcome == Outcome::runs);
}
