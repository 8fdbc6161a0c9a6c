#include <doctest/doctest.h>

#include "fatbin/reader.hpp"
#include "unit/fatbin/fixture.hpp"

using namespace cudamatrix::fatbin;
using fixture::Blob;
using Lines = std::vector<std::string>;

namespace {

Blob hiding() {
    Blob data;
    data.text("odd").append(fixture::container({fixture::sass(90, {"k"}), fixture::ptx(90, 8, 4)}));
    return fixture::elf({{".nv_fatbin", 1, fixture::container({fixture::sass(75, {"k"})}), 0},
                         {".ldata", 1, data, 0},
                         {".rodata", 1, Blob().text("P\xed\x55\xba and no more"), 0}});
}

}  // namespace

TEST_CASE("containers in other sections are found by the search and named by their section") {
    const Blob blob = hiding();
    CHECK(summary(read(blob.view()).entries) == Lines{"sass 7.5"});
    const Contents contents = read_deep(blob.view());
    CHECK(contents.error == "");
    CHECK(contents.containers == 2);
    CHECK(contents.hidden == 1);
    CHECK(contents.places.size() == 2);
    REQUIRE(contents.entries.size() == 3);
    CHECK(contents.entries[0].section == ".nv_fatbin");
    CHECK(contents.entries[1].section == ".ldata");
    CHECK(contents.entries[1].container == 1);
    CHECK(summary(contents.entries) == Lines{"sass 7.5", "sass 9.0", "ptx 9.0@8.4"});
    CHECK(containers_with_code(contents) == std::vector<bool>{true, true});
}

TEST_CASE("any kind of file is searched, and what is known already is not found twice") {
    Blob blob;
    blob.text("some other format").append(fixture::container({fixture::sass(80, {"k"})})).text("tail");
    CHECK(read(blob.view()).error == "neither an ELF file nor a fat binary");
    const Contents contents = read_deep(blob.view());
    CHECK(contents.error == "");
    CHECK(contents.hidden == 1);
    CHECK(contents.entries[0].section == "");
    const Blob plain = fixture::program({fixture::sass(80, {"k"})});
    CHECK(read_deep(plain.view()).hidden == 0);
    CHECK(read_deep(plain.view()).containers == 2);
    CHECK(read_deep(Bytes{}).error == "");
    CHECK(read_deep(Blob().text("nothing").view()).entries.empty());
}

TEST_CASE("what only looks like a container is passed over") {
    const Blob good = fixture::container({fixture::sass(80, {"k"})});
    const auto hidden = [](const Blob& blob) { return read_deep(blob.view()).hidden; };
    const Blob prefix = Blob().text("file:   ");
    CHECK(hidden(Blob(prefix).append(good)) == 1);
    CHECK(hidden(Blob(prefix).append(fixture::container({}))) == 0);
    CHECK(hidden(Blob(prefix).append(Blob(good).put<std::uint16_t>(4, 2))) == 0);
    CHECK(hidden(Blob(prefix).append(Blob(good).put<std::uint16_t>(6, 8))) == 0);
    CHECK(hidden(Blob(prefix).append(Blob(good).put<std::uint64_t>(8, good.size()))) == 0);
    CHECK(hidden(Blob(prefix).append(Blob(good).put<std::uint64_t>(8, ~std::uint64_t{0}))) == 0);
    CHECK(hidden(Blob(prefix).append(Blob(good).put<std::uint32_t>(16 + 4, 0))) == 0);
    CHECK(hidden(Blob(prefix).append(Blob(good).put<std::uint64_t>(16 + 8, 1U << 30))) == 0);
}

TEST_CASE("a damaged section is told, and what lies elsewhere is found all the same") {
    Blob blob = hiding();
    const Contents whole = read_deep(blob.view());
    blob.put<std::uint64_t>(static_cast<std::size_t>(whole.places[0].offset) + 16 + 8, 1U << 30);
    const Contents contents = read_deep(blob.view());
    CHECK(contents.error.find("payload of 1073741824 bytes") != std::string::npos);
    CHECK(contents.hidden == 1);
    CHECK(summary(contents.entries) == Lines{"sass 9.0", "ptx 9.0@8.4"});
}

TEST_CASE("a file made of containers that fail at their end is given up in time") {
    // Each begins 80 bytes after the one before and runs through all that follow.
    Blob blob;
    constexpr std::size_t kCount = 20000;
    const Blob entry = fixture::entry({}, Blob());
    for (std::size_t i = 0; i < kCount; ++i) {
        Blob one = fixture::container({entry});
        one.put<std::uint64_t>(8, (kCount - i) * 80 - 16 + 7);
        one.put<std::uint64_t>(16 + 8, 16);
        blob.append(one);
    }
    blob.text("trailer");
    CHECK(read_deep(Blob().text("file    ").append(blob).view()).error ==
          "too many bytes that only look like containers");
}

TEST_CASE("random damage never makes the search read outside") {
    fixture::damage(hiding(), 3, 4, [](Bytes bytes) {
        const Contents contents = read_deep(bytes);
        CHECK(contents.containers == contents.places.size());
        (void)containers_with_code(contents);
    });
}
