#include "look/scan/stream.hpp"

#include <doctest/doctest.h>

#include "unit/look/scan/fixture.hpp"

using fixture::Blob;
using fixture::on_disk;
using fixture::streamed;

namespace {

// The section table in front of everything, as tools leave it that add sections to a finished library.
Blob table_first(const Blob& blob) {
    const auto view = blob.view();
    const auto table = static_cast<std::size_t>(view.number<std::uint64_t>(40));
    const std::size_t length = std::size_t{view.number<std::uint16_t>(60)} * 64;
    std::vector<std::uint8_t> bytes(blob.bytes().begin(), blob.bytes().begin() + 64);
    bytes.insert(bytes.end(), blob.bytes().begin() + static_cast<std::ptrdiff_t>(table),
                 blob.bytes().begin() + static_cast<std::ptrdiff_t>(table + length));
    bytes.insert(bytes.end(), blob.bytes().begin() + 64,
                 blob.bytes().begin() + static_cast<std::ptrdiff_t>(table));
    Blob moved(std::move(bytes));
    moved.put<std::uint64_t>(40, 64);
    for (std::size_t at = 64; at < 64 + length; at += 64)
        moved.put<std::uint64_t>(at + 24, moved.view().number<std::uint64_t>(at + 24) + length);
    return moved;
}

}  // namespace

TEST_CASE("a large library that goes by once is read as the same file on disk") {
    const Blob blob = fixture::elf(fixture::large_sections());
    const std::string plain = on_disk(blob, false), deep = on_disk(blob, true);
    CHECK(plain ==
          "f: 7 entries, 2384 bytes, 4/1/0 containers, 0/0 members; .nv_fatbin __nv_relfatbin; "
          "sass 7.5 x1 496; sass 8.0 x1 496 compressed 1; sass 8.6 x1 496; sass 9.0a x1 496; "
          "ptx 9.0@8.4 x1 8 compressed 1; lto 9.0 x1 8; sass 7.5 x1 384 (no kernels); part x1 sass 8.6");
    for (const std::size_t piece :
         {std::size_t{4097}, std::size_t{1} << 16, (std::size_t{1} << 20) + 3, blob.size()}) {
        CHECK(streamed(blob, false, piece) == plain);
        CHECK(streamed(blob, true, piece) == deep);
    }
}

TEST_CASE("containers that a linker has aligned to 256 bytes follow each other over zeros") {
    const auto library = [](std::size_t gap, std::size_t behind, const char* stray = "") {
        auto sections = fixture::large_sections();
        Blob code;
        for (const std::uint32_t arch : {75U, 80U, 86U, 90U})
            code.append(fixture::container({fixture::sass(arch, {"k"})})).text(stray).zeros(gap).pad(256);
        sections[1].bytes = code.zeros(behind);
        return fixture::elf(sections);
    };
    for (const std::size_t behind : {std::size_t{0}, std::size_t{8}, std::size_t{500}}) {
        const Blob aligned = library(0, behind);
        CHECK(on_disk(aligned, false).find("error") == std::string::npos);
        for (const std::size_t piece : {std::size_t{4097}, std::size_t{1} << 16, (std::size_t{1} << 20) + 3})
            CHECK(streamed(aligned, false, piece) == on_disk(aligned, false));
        CHECK(streamed(aligned, true, 4097) == on_disk(aligned, true));
    }
    for (const Blob& other : {library(2048, 0), library(100, 0, "no zeros")})
        CHECK(streamed(other, false, 4097).find("error: section .nv_fatbin: no whole container at 0x") !=
              std::string::npos);
}

TEST_CASE("the section table may come first") {
    const Blob blob = table_first(fixture::elf(fixture::large_sections()));
    CHECK(on_disk(blob, false) == on_disk(fixture::elf(fixture::large_sections()), false));
    CHECK(streamed(blob, false) == on_disk(blob, false));
    CHECK(streamed(blob, true) == on_disk(blob, true));
}

TEST_CASE("small files, files of other kinds, large fat binaries") {
    const Blob small = fixture::program({fixture::sass(80, {"k"})});
    CHECK(streamed(small, false, 1) == on_disk(small, false));
    CHECK(streamed(small, true, 7) == on_disk(small, true));
    for (const char* text : {"", "x", "#!/usr/bin/env python3\nprint('hello')\n"})
        CHECK(streamed(Blob().text(text), false) == "nothing");
    CHECK(streamed(fixture::filler(fixture::kBeyondSmall), false) == "nothing");
    Blob bare;
    for (int i = 0; i < 3; ++i)
        bare.append(
            fixture::container({fixture::entry({}, fixture::filler(4U << 20, 7)), fixture::ptx(80, 7, 8)}));
    CHECK(streamed(bare, false) == on_disk(bare, false));
    const Blob hidden = Blob(fixture::filler(fixture::kBeyondSmall)).append(small);
    CHECK(streamed(hidden, true) == on_disk(hidden, true));
}

TEST_CASE("the scanner stops asking for bytes when there is nothing to find") {
    cudamatrix::scan::StreamScanner scanner(1U << 30, {});
    const Blob text = Blob().text("import torch\n").zeros(64);
    scanner.feed(text.bytes());
    CHECK_FALSE(scanner.wants_more());
    CHECK_FALSE(scanner.finish("f").has_value());
}

TEST_CASE("large static libraries: every member is a file") {
    const auto object = fixture::elf(fixture::large_sections());
    const Blob library = fixture::archive(
        {{"first.o", fixture::program({fixture::sass(80, {"k"})})},
         {"large.o", object},
         {"readme", Blob().text("odd")},
         {"a_name_of_more_than_fifteen_characters.o", fixture::container({fixture::sass(70, {"k"})})}});
    CHECK(streamed(library, false) == on_disk(library, false));
    CHECK(streamed(library, false, 101) == on_disk(library, false));
    Blob cut(std::vector<std::uint8_t>(library.bytes().begin(), library.bytes().end() - 100));
    CHECK(streamed(cut, false).find("error: archive, member at 0x") != std::string::npos);
    CHECK(streamed(cut, false, 65536, library.size()).find("error: cut off: ") != std::string::npos);
    Blob broken = library;
    broken.put<std::uint8_t>(8 + 58, 'x');
    CHECK(streamed(broken, false).find("error: archive, member at 0x8: no member header") !=
          std::string::npos);
    const Blob thin = Blob().text("!<thin>\n").append(fixture::filler(fixture::kBeyondSmall));
    CHECK(streamed(thin, false).find("error: a thin archive") != std::string::npos);
}

TEST_CASE("sizes that lie, sections that lie: an error, never a wrong answer") {
    const Blob good = fixture::elf(fixture::large_sections());
    const auto table = static_cast<std::size_t>(good.view().number<std::uint64_t>(40));
    const auto fatbin = static_cast<std::size_t>(good.view().number<std::uint64_t>(table + 2 * 64 + 24));
    const auto error_of = [](const Blob& blob, std::uint64_t told) {
        const auto text = streamed(blob, false, 65536, told);
        const auto at = text.find("error: ");
        return at == std::string::npos ? std::string() : text.substr(at + 7);
    };
    const auto changed = [&](std::size_t at, auto value) {
        Blob blob = good;
        return error_of(blob.put(at, value), blob.size());
    };
    CHECK(error_of(good, good.size()) == "");
    CHECK(error_of(good, good.size() + 1).find("cut off: ") == 0);
    CHECK(error_of(good, good.size() - 1) == "ELF section table lies outside the file");
    CHECK(error_of(Blob(good).zeros(1), good.size()) ==
          "more bytes than the " + std::to_string(good.size()) + " that it should have");
    CHECK(changed(4, std::uint8_t{1}) == "not a 64-bit little-endian ELF file");
    CHECK(changed(18, std::uint16_t{190}) ==
          "a single cubin of more than 8 MiB in an archive: unpack it to have it read");
    CHECK(changed(40, std::uint64_t{0}) == "ELF file without a section table (stripped of it)");
    CHECK(changed(40, ~std::uint64_t{0}) == "ELF section table lies outside the file");
    CHECK(changed(58, std::uint16_t{0}) == "ELF section headers of 0 bytes, expected 64");
    CHECK(changed(60, std::uint16_t{0xffff}) == "ELF section table lies outside the file");
    CHECK(changed(62, std::uint16_t{0x7fff}) ==
          "ELF section names lie far from the section table: unpack the file to have it read");
    CHECK(changed(table + 2 * 64 + 24, ~std::uint64_t{0}).find("section .nv_fatbin of ") == 0);
    CHECK(changed(table + 2 * 64 + 24, std::uint64_t{fatbin + 8}) ==
          "section .nv_fatbin: no whole container at 0x0");
    CHECK(changed(fatbin + 4, std::uint16_t{2}) == "section .nv_fatbin: no whole container at 0x0");
    CHECK(changed(fatbin + 16 + 4, std::uint32_t{0}) == "section .nv_fatbin: no whole container at 0x0");
    CHECK(changed(fatbin + 16 + 8, std::uint64_t{1} << 60) ==
          "section .nv_fatbin: no whole container at 0x0");
}

TEST_CASE("a stream cut off anywhere is an error") {
    const Blob small = fixture::program({fixture::sass(80, {"k"}), fixture::ptx(90, 8, 4)});
    for (std::size_t length = 8; length < small.size(); ++length) {
        const Blob cut(std::vector<std::uint8_t>(
            small.bytes().begin(), small.bytes().begin() + static_cast<std::ptrdiff_t>(length)));
        CHECK(streamed(cut, false, 64, small.size()).find("error: ") != std::string::npos);
    }
    const Blob large = fixture::elf(fixture::large_sections());
    for (std::size_t length = fixture::kBeyondSmall; length < large.size(); length += 4001) {
        const Blob cut(std::vector<std::uint8_t>(
            large.bytes().begin(), large.bytes().begin() + static_cast<std::ptrdiff_t>(length)));
        CHECK(streamed(cut, false, 1U << 20, large.size()).find("error: ") != std::string::npos);
    }
}

TEST_CASE("random damage: what the stream reads without an error is what the file on disk has") {
    const Blob whole = fixture::elf(fixture::large_sections());
    const std::size_t code = fixture::kBeyondSmall;
    std::mt19937 random(17);
    int same = 0;
    for (int round = 0; round < 60; ++round) {
        Blob blob = whole;
        for (int i = 0; i < 3; ++i) {
            const std::size_t place =
                random() % 4 == 0 ? random() % 64 : code + random() % (whole.size() - code);
            blob.put(place, static_cast<std::uint8_t>(random()));
        }
        const auto stream = streamed(blob, false, 1U << 20);
        if (stream == "nothing" || stream.find("error") != std::string::npos) continue;
        CHECK(stream == on_disk(blob, false));
        ++same;
    }
    CHECK(same > 5);
}
