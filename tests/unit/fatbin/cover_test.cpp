#include "fatbin/cover.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace cudamatrix::fatbin;

namespace {

std::vector<Code> offered(std::initializer_list<const char*> texts) {
    std::vector<Code> list;
    for (const char* text : texts) {
        const auto code = parse_code(text);
        REQUIRE_MESSAGE(code, text);
        list.push_back(*code);
    }
    return list;
}

Cover ask(std::initializer_list<const char*> texts, const char* device, const char* isa = "9.9") {
    const auto arch = parse_arch(device);
    REQUIRE(arch);
    return cover(offered(texts), *arch, isa == nullptr ? std::nullopt : parse_ptx_isa(isa));
}

std::string code_path(std::initializer_list<const char*> texts, const char* device, const char* isa = "9.9") {
    return ask(texts, device, isa).text;
}

using Texts = std::initializer_list<const char*>;

// Of a file with code that is loaded as it is, and relocatable parts.
Cover ask_linked(Texts loaded, std::initializer_list<Texts> parts, const char* device,
                 const char* isa = "9.9") {
    const auto codes = offered(loaded);
    Offer offer{{codes.begin(), codes.end()}, {}};
    for (const auto& part : parts)
        ++offer.parts[offered(part)];
    return cover(offer, *parse_arch(device), isa == nullptr ? std::nullopt : parse_ptx_isa(isa));
}

std::string linked(Texts loaded, std::initializer_list<Texts> parts, const char* device,
                   const char* isa = "9.9") {
    return ask_linked(loaded, parts, device, isa).text;
}

// "8.0 8.6, 9.0a 9.0": pairs of code and device for which `loads` has to answer `expected`.
void check(bool (*loads)(const Arch&, const Arch&), bool expected, const std::string& pairs) {
    std::istringstream words(pairs);
    for (std::string code, device; words >> code >> device;) {
        if (device.back() == ',') device.pop_back();
        CHECK_MESSAGE(loads(*parse_arch(code), *parse_arch(device)) == expected, code, " on ", device);
    }
}

}  // namespace

TEST_CASE("SASS runs on its own capability and later minors of its major") {
    check(sass_runs_on, true, "7.5 7.5, 8.0 8.6, 8.0 8.9, 8.6 8.9, 10.0 10.3, 12.0 12.1, 6.0 6.1");
}

TEST_CASE("SASS runs neither on earlier minors nor on other majors") {
    check(sass_runs_on, false,
          "8.6 8.0, 8.9 8.6, 7.5 7.0, 10.3 10.0, 12.1 12.0, 7.5 8.0, 8.0 9.0, 9.0 10.0, 9.0 8.9, 10.0 12.0, "
          "10.0 11.0, 12.0 10.0, 1.0 10.0, 7.0 8.0, 6.1 7.5");
}

TEST_CASE("architecture-specific SASS runs on exactly its capability") {
    check(sass_runs_on, true, "9.0a 9.0, 12.0a 12.0");
    check(sass_runs_on, false, "10.0a 10.3, 12.0a 12.1, 9.0a 10.0, 10.3a 10.0, 9.0a 8.9, 12.1a 12.0");
}

TEST_CASE("family-specific SASS stays in its family and does not go back") {
    check(sass_runs_on, true, "10.0f 10.0, 10.0f 10.3, 12.0f 12.1");
    check(sass_runs_on, false,
          "10.3f 10.0, 12.1f 12.0, 10.0f 11.0, 10.0f 12.0, 12.0f 10.0, 10.0f 9.0, 10.0f 10.1");
}

TEST_CASE("Tegra devices and desktop devices do not share SASS") {
    check(sass_runs_on, true, "8.7 8.7, 7.2 7.2");
    check(sass_runs_on, false, "8.0 8.7, 8.6 8.7, 8.7 8.9, 7.2 7.5, 7.0 7.2, 6.1 6.2");
}

TEST_CASE("plain PTX compiles for any later device, a and f as their SASS") {
    check(ptx_compiles_for, true, "7.5 7.5, 7.5 12.1, 8.0 8.7, 9.0a 9.0, 10.0f 10.3");
    check(ptx_compiles_for, false,
          "9.0 8.9, 8.6 8.0, 12.0 10.3, 9.0a 10.0, 9.0a 12.0, 12.0f 10.0, 10.0f 12.0, 10.0a 10.3, "
          "10.3f 10.0, 12.1 12.0");
}

TEST_CASE("the code path: exact SASS before the nearest of the same major before PTX") {
    CHECK(code_path({"sass 8.0", "sass 8.6", "ptx 8.6@7.8"}, "8.6") == "sass 8.6");
    CHECK(ask({"sass 8.6"}, "8.6").code_path == CodePath::sass);
    CHECK(code_path({"sass 8.6", "sass 8.0"}, "8.9") == "sass 8.6 (same major) for 8.9");
    CHECK(code_path({"sass 8.0"}, "8.6") == "sass 8.0 (same major) for 8.6");
    CHECK(ask({"sass 8.0"}, "8.6").code_path == CodePath::sass_same_major);
    CHECK(code_path({"sass 8.0", "ptx 9.0@8.4"}, "12.0") == "ptx 9.0 via JIT");
    CHECK(code_path({"ptx 7.5@8.4", "ptx 9.0@8.4"}, "12.0") == "ptx 9.0 via JIT");
    CHECK(ask({"ptx 9.0@8.4"}, "9.0").code_path == CodePath::ptx_jit);
    CHECK(code_path({"sass 9.0a"}, "9.0") == "sass 9.0a");
}

TEST_CASE("PTX needs a driver that knows its ISA") {
    CHECK(code_path({"ptx 9.0@8.4"}, "9.0", "8.4") == "ptx 9.0 via JIT");
    CHECK(code_path({"ptx 9.0@8.4"}, "9.0", nullptr) == "ptx 9.0 via JIT, if the driver knows PTX ISA 8.4");
    CHECK(code_path({"ptx 9.0@9.0"}, "9.0", "8.9") ==
          "none: ptx 9.0 is PTX ISA 9.0, the driver knows up to 8.9");
    CHECK(code_path({"ptx 9.0@8.4"}, "9.0", "7.8") ==
          "none: ptx 9.0 is PTX ISA 8.4, the driver knows up to 7.8");
    CHECK(code_path({"ptx 7.5@9.0", "sass 8.0"}, "7.5", "8.4") ==
          "none: ptx 7.5 is PTX ISA 9.0, the driver knows up to 8.4");
    // An older PTX in the same file is taken instead.
    CHECK(code_path({"ptx 9.0@9.0", "ptx 7.5@7.8"}, "9.0", "8.4") == "ptx 7.5 via JIT");
    // SASS does not ask for the ISA.
    CHECK(code_path({"sass 9.0", "ptx 9.0@9.9"}, "9.0", "7.0") == "sass 9.0");
}

TEST_CASE("no code path says what was there") {
    CHECK(code_path({}, "7.5") == "none: no device code found");
    CHECK(code_path({"sass 8.0", "sass 9.0a"}, "12.0") ==
          "none: nothing here runs on 12.0 (sass 8.0, sass 9.0a)");
    CHECK(code_path({"sass 9.0a", "ptx 9.0a@8.0"}, "10.0") ==
          "none: nothing here runs on 10.0 (sass 9.0a, ptx 9.0a@8.0)");
    CHECK(code_path({"ptx 9.0@8.0"}, "8.9") == "none: nothing here runs on 8.9 (ptx 9.0@8.0)");
    CHECK(ask({"sass 12.1"}, "12.0").code_path == CodePath::none);
    CHECK(ask({"sass 7.5"}, "7.0").code_path == CodePath::none);
}

TEST_CASE("the form in reports reads back") {
    for (const char* text : {"sass 7.5", "sass 9.0a", "sass 12.0f", "ptx 9.0@8.4", "ptx 10.0f@8.8"}) {
        const auto code = parse_code(text);
        REQUIRE(code);
        CHECK(to_text(*code) == text);
    }
    for (const char* text : {"", "sass", "sass ", "sass 75", "sass 7.5@8.4", "ptx 9.0", "ptx 9.0@",
                             "ptx @8.4", "cubin 7.5", "sass  7.5", "ptx 9.0@8.4 ", "other 0x10 7.5"}) {
        CHECK_MESSAGE(!parse_code(text), text);
    }
}

TEST_CASE("of one capability the plain code is named, wherever it stands") {
    CHECK(code_path({"sass 9.0", "sass 9.0a"}, "9.0") == "sass 9.0");
    CHECK(code_path({"sass 9.0a", "sass 9.0"}, "9.0") == "sass 9.0");
    CHECK(code_path({"sass 9.0a", "sass 9.0", "sass 8.0"}, "10.0") ==
          "none: nothing here runs on 10.0 (sass 9.0a, sass 9.0, sass 8.0)");
}

TEST_CASE("where nothing runs as it is, the driver links relocatable parts: by the one that is worst off") {
    const Texts old = {"sass 8.0", "ptx 8.0@7.8"}, young = {"sass 8.0", "ptx 9.0@8.4"};
    CHECK(linked({"sass 8.0"}, {old, young}, "9.0") == "ptx 9.0 via JIT");
    CHECK(linked({"sass 8.0"}, {young, old}, "9.0", nullptr) ==
          "ptx 9.0 via JIT, if the driver knows PTX ISA 8.4");
    CHECK(linked({}, {{"sass 9.0"}, {"ptx 8.0@7.8"}}, "9.0") == "ptx 8.0 via JIT");
    CHECK(linked({}, {{"sass 9.0"}, {"sass 9.0", "ptx 8.0@7.8"}}, "9.0") == "sass 9.0");
    CHECK(ask_linked({"sass 8.0"}, {old, young}, "9.0").linked);
    // What is linked already needs no part.
    CHECK(linked({"sass 8.0"}, {young, {"ptx 9.0@8.4"}}, "8.6") == "sass 8.0 (same major) for 8.6");
    CHECK_FALSE(ask_linked({"sass 8.0"}, {old}, "8.0").linked);
}

TEST_CASE("one relocatable part without code is enough for none") {
    const Texts whole = {"sass 12.0", "ptx 12.0@9.0"}, machine = {"sass 12.0"};
    CHECK(linked(machine, {whole, whole, machine}, "13.0") ==
          "none: 1 of 3 relocatable parts cannot be linked: nothing here runs on 13.0 (sass 12.0)");
    CHECK(linked(machine, {machine, whole, machine}, "13.0", nullptr) ==
          "none: 2 of 3 relocatable parts cannot be linked: nothing here runs on 13.0 (sass 12.0)");
    CHECK(linked(machine, {whole, {}}, "13.0") ==
          "none: 1 of 2 relocatable parts cannot be linked: link-time code only");
    CHECK(linked({}, {{"ptx 8.0@7.8"}, {"ptx 12.0@9.0"}}, "13.0", "8.4") ==
          "none: 1 of 2 relocatable parts cannot be linked: ptx 12.0 is PTX ISA 9.0, the driver knows up to "
          "8.4");
    CHECK(linked({}, {{"ptx 9.0@8.4"}, {"ptx 9.0a@8.4"}}, "10.0") ==
          "none: 1 of 2 relocatable parts cannot be linked: nothing here runs on 10.0 (ptx 9.0a@8.4)");
    // The whole file has nothing, whatever its parts.
    CHECK(linked({"sass 9.0"}, {{"sass 9.0"}, {"sass 8.0"}}, "13.0") ==
          "none: nothing here runs on 13.0 (sass 8.0, sass 9.0)");
    CHECK(linked({"sass 9.0"}, {whole, machine}, "8.0") ==
          "none: nothing here runs on 8.0 (sass 9.0, sass 12.0, ptx 12.0@9.0)");
    CHECK_FALSE(ask_linked(machine, {whole, machine}, "13.0").linked);
}
