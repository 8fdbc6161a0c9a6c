#include "look/scan/wheel.hpp"

#include <doctest/doctest.h>

#include "unit/look/scan/fixture.hpp"
#include "unit/registry/zip_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::scan;
using fixture::Blob;
using fixture::message;
using test::MemorySource;

namespace {

std::string wheel() {
    return test::make_zip(
        {{"torch/__init__.py", "import os\n"},
         {"torch/lib/", "", true},
         {"torch/lib/libbig.so", string_of(fixture::elf(fixture::large_sections()))},
         {"torch/lib/libsmall.so", string_of(fixture::program({fixture::sass(80, {"k"})})), true},
         {"torch/lib/libplain.so", string_of(fixture::elf({{".text", 1, Blob().text("x"), 0}}))}});
}

IndexFile file(const std::string& name) {
    IndexFile out;
    out.name = name;
    return out;
}

}  // namespace

TEST_CASE("a wheel's libraries are what the unpacked files are") {
    MemorySource source(wheel());
    const auto scan = scan_wheel(source, "torch.whl", {}, {});
    REQUIRE(scan.ok());
    CHECK(scan->files == 4);
    REQUIRE(scan->libraries.size() == 2);
    Library big = scan->libraries[0];
    CHECK(big.path == "torch/lib/libbig.so");
    big.path = "f";
    CHECK(fixture::text_of(big) == fixture::on_disk(fixture::elf(fixture::large_sections()), false));
    CHECK(scan->libraries[1].path == "torch/lib/libsmall.so");
    CHECK(source.most_at_once <= 1U << 20);
}

TEST_CASE("the hash covers every byte, whatever the order of reading") {
    const auto bytes = wheel();
    MemorySource good(bytes);
    const auto digest = sha256(bytes);
    const auto scan = scan_wheel(good, "torch.whl", digest, {});
    REQUIRE(scan.ok());
    CHECK(scan->notes == std::vector<std::string>{"sha256 " + digest + " checked"});
    MemorySource swapped(bytes);
    const std::string other(64, '0');
    CHECK(message(scan_wheel(swapped, "torch.whl", other, {})) ==
          "torch.whl has the sha256 " + digest + ", and the index says " + other);

    MemorySource plain("0123456789");
    HashedSource hashed(plain);
    std::array<std::uint8_t, 3> part{};
    REQUIRE(hashed.read(7, part).ok());  // before it begins to count
    hashed.begin();
    for (const std::uint64_t offset : {0, 1, 5, 2})
        REQUIRE(hashed.read(offset, part).ok());
    CHECK(hashed.finish().value() == sha256("0123456789"));
}

TEST_CASE("a wheel that lies is an error") {
    const auto library = string_of(fixture::program({fixture::sass(80, {"k"})}));
    const auto error_of = [](const std::string& bytes) {
        MemorySource source(bytes);
        return message(scan_wheel(source, "x.whl", {}, {}));
    };
    CHECK(error_of("no zip at all") != "");
    CHECK(error_of(test::make_zip({{.name = "a.so", .content = library, .crc_lie = 1U}})) != "");
    CHECK(error_of(test::make_zip({{.name = "a.so", .content = library, .size_lie = library.size() - 1}})) !=
          "");
    CHECK(error_of(test::make_zip({{.name = "a.so", .content = library, .size_lie = library.size() + 1}})) !=
          "");
    CHECK(error_of(test::make_zip({{.name = "../a.so", .content = library}})) != "");
    const auto whole = wheel();
    CHECK(error_of(whole.substr(0, whole.size() - 1)) != "");
    CHECK(error_of(test::make_zip({{.name = "a.so", .content = library}})) == "");
}

TEST_CASE("requirements") {
    const auto torch = parse_requirement("torch==2.6.0+cu118");
    REQUIRE(torch.has_value());
    CHECK(torch->project == "torch");
    CHECK(torch->version == "2.6.0+cu118");
    for (const char* project : {"a", "z", "A", "Z", "0", "9", "a-b", "a.b", "a_b"})
        CHECK(parse_requirement(std::string(project) + "==1").has_value());
    for (const char* text : {"torch", "torch==", "==2.6.0", "torch=2.6.0", "torch>=2.6", "../a==1", "a b==1",
                             "torch==2 6", "torch==../x"})
        CHECK_FALSE(parse_requirement(text).has_value());
}

TEST_CASE("which wheel of a version") {
    const std::vector<IndexFile> files = {file("torch-2.6.0.tar.gz"),
                                          file("torch-2.5.1-cp312-cp312-manylinux1_x86_64.whl"),
                                          file("torch-2.6.0-cp39-cp39-manylinux1_x86_64.whl"),
                                          file("torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl"),
                                          file("torch-2.6.0-cp313-cp313t-manylinux1_x86_64.whl"),
                                          file("torch-2.6.0-cp312-cp312-win_amd64.whl"),
                                          file("torch-2.6.0-cp312-none-macosx_11_0_arm64.whl"),
                                          file("torch-2.6.0-cp312-cp312-manylinux_2_28_aarch64.whl"),
                                          file("torch-2.6.0+cu118-cp310-cp310-linux_x86_64.whl")};
    const auto chosen = [&](const std::string& version, const WheelChoice& choice) {
        const auto found = choose_wheel(files, {"torch", version}, choice);
        return found.ok() ? found->name : found.failure().diagnostics.at(0).message;
    };
    CHECK(chosen("2.6.0", {}) == "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl");
    CHECK(chosen("2.6.0", {"3.9", "x86_64"}) == "torch-2.6.0-cp39-cp39-manylinux1_x86_64.whl");
    CHECK(chosen("2.6.0", {"3.13t", "x86_64"}) == "torch-2.6.0-cp313-cp313t-manylinux1_x86_64.whl");
    CHECK(chosen("2.6.0", {"", "aarch64"}) == "torch-2.6.0-cp312-cp312-manylinux_2_28_aarch64.whl");
    CHECK(chosen("2.6.0+cu118", {}) == "torch-2.6.0+cu118-cp310-cp310-linux_x86_64.whl");
    CHECK(chosen("2.7.0", {}) == "the index has no wheel of torch==2.7.0");
    CHECK(chosen("2.6.0", {"3.8", "x86_64"}) == "the index has no wheel of torch==2.6.0 for Python 3.8");
    CHECK(chosen("2.6.0", {"3.13", "x86_64"}) == "the index has no wheel of torch==2.6.0 for Python 3.13");
    CHECK(chosen("2.5.1", {"", "aarch64"}) == "the index has no Linux wheel of torch==2.5.1 for aarch64");
    CHECK(choose_wheel({}, {"torch", "1"}, {}).failure().code == ExitCode::bad_input);
}
