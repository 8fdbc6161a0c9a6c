#include "fatbin/object_files.hpp"

#include <doctest/doctest.h>

#include "fatbin/reader.hpp"
#include "unit/fatbin/fixture.hpp"

using namespace cudamatrix::fatbin;
using fixture::Blob;
using Lines = std::vector<std::string>;

namespace {

const std::string kLong = "a_name_of_more_than_fifteen_characters.o";

Blob library() {
    return fixture::archive({{"one.o", fixture::program({fixture::sass(80, {"k"})}, "__nv_relfatbin")},
                             {"readme", Blob().text("odd")},
                             {"plain.o", fixture::elf({{".text", 1, Blob().text("code"), 0}})},
                             {kLong, fixture::program({fixture::ptx(90, 8, 4)})},
                             {"bare", fixture::container({fixture::sass(86, {"k"})})}});
}

Lines names_of(const Blob& blob, std::string& error) {
    Lines names;
    error = for_each_member(blob.view(), [&](std::string_view name, Bytes bytes) {
        names.push_back(std::string(name) + " " + std::to_string(bytes.size));
        return true;
    });
    return names;
}

}  // namespace

TEST_CASE("a static library's members are read like files, and counted") {
    const Blob blob = library();
    const Contents contents = read(blob.view());
    CHECK(contents.error == "");
    CHECK(contents.members == 5);
    CHECK(contents.members_with_code == 3);
    CHECK(contents.containers == 5);
    CHECK(summary(contents.entries) == Lines{"sass 7.5", "sass 8.0", "sass 8.6", "ptx 9.0@8.4"});
    for (const Place& place : contents.places)
        CHECK(blob.view().number<std::uint32_t>(place.offset) == 0xBA55ED50);
}

TEST_CASE("names: short, long, BSD's, and an empty library") {
    std::string error;
    const Blob two = fixture::archive({{"a.o", Blob().text("x")}, {kLong, Blob().text("yy")}});
    CHECK(names_of(two, error) == Lines{"a.o 1", kLong + " 2"});
    CHECK(error == "");
    CHECK(names_of(Blob().text("!<arch>\n"), error) == Lines{});
    CHECK(error == "");
    std::string header = "#1/8";
    header.resize(48, ' ');
    const Blob bsd = Blob().text("!<arch>\n" + header + "10        `\nname.o").zeros(2).text("xy");
    CHECK(names_of(bsd, error) == Lines{"name.o 2"});
    CHECK(error == "");
}

TEST_CASE("what is refused of an archive") {
    const auto error_of = [](const Blob& blob) { return read(blob.view()).error; };
    CHECK(error_of(Blob().text("!<thin>\n")) ==
          "a thin archive: it names the files of its members and holds none of their bytes");
    CHECK(error_of(Blob().text("!<arch>\nrubbish")) == "archive, member at 0x8: no member header");
    const Blob one = fixture::archive({{"a.o", Blob().text("xy")}});
    const std::size_t header = 8 + 60 + 4;
    Blob end = one;
    CHECK(error_of(end.put<std::uint8_t>(header + 58, 'x')) == "archive, member at 0x48: no member header");
    for (const char letter : {'-', 'x', ' ', '\0'}) {
        Blob size = one;
        CHECK(error_of(size.put<std::uint8_t>(header + 48, static_cast<std::uint8_t>(letter))) ==
              "archive, member at 0x48: no member header");
    }
    Blob big = one;
    big.put<std::uint8_t>(header + 48, '9').put<std::uint8_t>(header + 49, '9');
    CHECK(error_of(big) == "archive, member at 0x48: 99 bytes, 2 left");
    Blob name = one;
    name.put<std::uint8_t>(header, '/').put<std::uint8_t>(header + 1, '7').put<std::uint8_t>(header + 2, ' ');
    CHECK(error_of(name.put<std::uint8_t>(header + 3, ' ')) ==
          "archive, member at 0x48: name /7 is not in the table");
    const Blob bad = fixture::archive({{"a.o", fixture::elf({}).put<std::uint64_t>(40, 1U << 20)}});
    CHECK(error_of(bad) == "member a.o: ELF section table lies outside the file");
}

TEST_CASE("a library cut off at any byte never reads beyond its end, and says so except between members") {
    std::size_t quiet = 0;
    fixture::cut_at_every_byte(library(), 8, [&](std::size_t, Bytes cut) {
        if (read(cut).error.empty()) ++quiet;
        (void)read_deep(cut);
    });
    CHECK(quiet < 12);
}

TEST_CASE("random damage to a library never reads outside") {
    fixture::damage(library(), 5, 4, [](Bytes bytes) { CHECK(read(bytes).entries.size() < 1000); });
}
