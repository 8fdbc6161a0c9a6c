#include "look/scan/local.hpp"

#include <doctest/doctest.h>

#include "unit/look/scan/fixture.hpp"

using namespace cudamatrix::scan;
using cudamatrix::fatbin::PtxIsa;
using fixture::Blob;

namespace {

Library of(const std::vector<Blob>& entries) {
    return read_library("f", fixture::container(entries).view(), {});
}

const Blob kLto = fixture::entry({.kind = 8, .arch = 90}, Blob().text("ir"));

// A shared library as nvcc -rdc=true links it: what nvlink made, and the parts that it made it of.
Blob linked(const std::vector<Blob>& made, const std::vector<std::vector<Blob>>& parts) {
    Blob relocatable;
    for (const auto& part : parts)
        relocatable.append(fixture::container(part)).pad(8);
    return fixture::elf({{"__nv_relfatbin", 1, relocatable}, {".nv_fatbin", 1, fixture::container(made)}});
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
    CHECK(text(of({kLto}), on("9.0")) == "no code: none: link-time code only, which no driver loads");
}

TEST_CASE("relocatable code runs where it is linked, or where every part can be") {
    // As libtorch_nvshmem.so of torch 2.13.0: two parts of NVIDIA's library, one of torch without PTX.
    const std::vector<Blob> nvidia{fixture::sass(120, {"k"}), fixture::ptx(120, 9, 0)};
    const std::vector<Blob> torch{fixture::sass(120, {"k"})};
    const auto answer = [](const Blob& blob, const Question& question) {
        return text(read_library("f", blob.view(), {}), question);
    };
    const Blob library = linked(torch, {torch, nvidia, nvidia});
    CHECK(answer(library, on("12.0")) == "runs: sass 12.0");
    CHECK(answer(library, on("13.0")) ==
          "no code: none: 1 of 3 relocatable parts cannot be linked: nothing here runs on 13.0 (sass 12.0)");
    CHECK(answer(library, on("13.0", "driver 999")) ==
          "no code: none: 1 of 3 relocatable parts cannot be linked: nothing here runs on 13.0 (sass 12.0)");
    CHECK(answer(library, on("8.0")) == "no code: none: nothing here runs on 8.0 (sass 12.0, ptx 12.0@9.0)");
    CHECK(answer(linked(torch, {nvidia, nvidia}), on("13.0")) ==
          "runs: ptx 12.0 via JIT, if the driver knows PTX ISA 9.0");
    CHECK(answer(linked(torch, {nvidia, nvidia}), on("13.0", "driver 999")) ==
          "unknown: ptx 12.0 via JIT, if the driver knows PTX ISA 9.0");
    CHECK(answer(linked(torch, {nvidia, {kLto}}), on("13.0")) ==
          "no code: none: 1 of 2 relocatable parts cannot be linked: link-time code only");
    // An object file without kernels is linked, too.
    CHECK(answer(linked(torch, {nvidia, {fixture::sass(120, {})}}), on("13.0")) ==
          "no code: none: 1 of 2 relocatable parts cannot be linked: nothing here runs on 13.0 (sass 12.0)");
    CHECK(answer(linked({fixture::sass(120, {})}, {{fixture::sass(120, {})}}), on("13.0")) ==
          "no kernels: no kernels");
    // Code of a whole program beside them is loaded without them.
    CHECK(answer(linked(nvidia, {torch}), on("13.0")) ==
          "runs: ptx 12.0 via JIT, if the driver knows PTX ISA 9.0");
}

TEST_CASE("a static library is linked of all its parts, by a linker that takes link-time code") {
    const auto member = [](const std::vector<Blob>& entries) {
        return fixture::elf({{"__nv_relfatbin", 1, fixture::container(entries)}});
    };
    const auto both = [&](const std::vector<std::vector<Blob>>& members, const Question& question) {
        std::vector<std::pair<std::string, Blob>> named;
        for (const auto& each : members)
            named.emplace_back("part.o", member(each));
        auto all = named;
        all.emplace_back("filler.o", fixture::filler(fixture::kBeyondSmall));  // read as it goes by
        const auto bytes = fixture::archive(all);
        StreamScanner scanner(bytes.size(), {});
        scanner.feed(bytes.bytes());
        const auto streamed = scanner.finish("f");
        REQUIRE(streamed);
        auto out = text(read_library("f", fixture::archive(named).view(), {}), question);
        CHECK(text(*streamed, question) == out);
        return out;
    };
    const std::vector<Blob> ptx{fixture::sass(90, {"k"}), fixture::ptx(90, 8, 4)};
    CHECK(both({ptx, ptx}, on("12.0", "driver 550", PtxIsa{8, 4})) == "runs: ptx 9.0 via JIT");
    CHECK(both({ptx, {kLto}}, on("9.0")) == "runs: sass 9.0");
    CHECK(both({ptx, {fixture::sass(90, {"k"})}, {kLto}}, on("12.0")) ==
          "no code: none: 1 of 2 relocatable parts cannot be linked: nothing here runs on 12.0 (sass 9.0)");
    CHECK(both({{kLto}, {kLto}}, on("9.0")) == "no code: none: link-time code only, which no driver loads");
}

TEST_CASE("damage may hide a part that cannot be linked") {
    Blob relocatable = fixture::container({fixture::ptx(90, 8, 4)});
    relocatable.pad(8).text("rubbish, more than 16 bytes");
    const Blob blob = fixture::elf({{".nv_fatbin", 1, fixture::container({fixture::sass(90, {"k"})})},
                                    {"__nv_relfatbin", 1, relocatable}});
    const Library library = read_library("f", blob.view(), {});
    CHECK(text(library, on("9.0")) == "runs: sass 9.0");
    CHECK(text(library, on("12.0")).find("unknown: unknown: ") == 0);
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
