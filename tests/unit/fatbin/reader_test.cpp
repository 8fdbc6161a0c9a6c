#include "fatbin/reader.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <limits>

#include "temp_folder.hpp"
#include "unit/fatbin/fixture.hpp"

using namespace cudamatrix::fatbin;
using fixture::Blob;
using Lines = std::vector<std::string>;

namespace {

const Lines kAll = {"sass 7.5", "sass 9.0a", "sass 12.0f", "ptx 9.0@8.4"};

Blob sample() {
    return fixture::program({fixture::sass(75, {"cudamatrix_vadd"}),
                             fixture::sass(90, {"cudamatrix_vadd"}, 0x100011),
                             fixture::sass(120, {"cudamatrix_vadd"}, 0x1200011), fixture::ptx(90, 8, 4)});
}

Contents read_blob(const Blob& blob) {
    return read(blob.view());
}

}  // namespace

TEST_CASE("an executable's device code is listed with kind, architecture, variant and PTX ISA") {
    const Blob blob = sample();
    const Contents contents = read_blob(blob);
    CHECK(contents.error == "");
    CHECK(contents.containers == 2);
    REQUIRE(contents.entries.size() == 5);
    CHECK(summary(contents.entries) == kAll);

    const Entry& ptx = contents.entries[4];
    CHECK(ptx.kind == Kind::ptx);
    CHECK(ptx.isa == PtxIsa{8, 4});
    CHECK(ptx.compressed);
    CHECK(ptx.payload == 8);
    CHECK(ptx.section == ".nv_fatbin");
    CHECK(ptx.container == 1);
    const Entry& sass = contents.entries[1];
    CHECK(sass.kind == Kind::sass);
    CHECK(sass.isa == PtxIsa{});
    CHECK_FALSE(sass.compressed);
    CHECK(functions(sass) == std::vector<std::string_view>{"cudamatrix_vadd"});
}

TEST_CASE("relocatable device code, a bare fat binary and a kind that is not known") {
    const Blob blob = fixture::program({fixture::sass(80, {"k"})}, "__nv_relfatbin");
    CHECK(summary(read_blob(blob).entries) == Lines{"sass 7.5", "sass 8.0"});

    const Blob bare =
        fixture::container({fixture::sass(86, {"k"}), fixture::entry({.kind = 0x10}, Blob().text("ir"))});
    const Contents contents = read_blob(bare);
    CHECK(contents.error == "");
    CHECK(contents.entries[0].section == "");
    CHECK(summary(contents.entries) == Lines{"sass 8.6", "other 0x10 7.5"});
}

TEST_CASE("a bare cubin tells its architecture in either layout of the flags") {
    const auto arch_of = [](std::uint8_t abi, std::uint8_t version, std::uint32_t flags) {
        const Blob blob = fixture::cubin({"k"}, {190, abi, version, flags});
        const Contents contents = read(blob.view());
        REQUIRE(contents.entries.size() == 1);
        return to_text(contents.entries[0].arch);
    };
    CHECK(arch_of(0x33, 7, 0x00560056) == "8.6");
    CHECK(arch_of(0x33, 7, 0x0056085a) == "9.0a");
    CHECK(arch_of(0x41, 8, 0x06004b04) == "7.5");
    CHECK(arch_of(0x41, 8, 0x06007802) == "12.0");
}

TEST_CASE("a cubin of ptxas 13 says in its notes whether it is for an a or f target") {
    const auto arch_of = [](const std::string& options) {
        const Blob blob =
            fixture::elf({{".note.nv.tkinfo", 7, Blob().text(options), 0}}, {190, 0x41, 8, 0x06007802});
        return to_text(read(blob.view()).entries.at(0).arch);
    };
    CHECK(arch_of("ptxas -arch sm_120f -m 64 ") == "12.0f");
    CHECK(arch_of("ptxas -arch sm_120a -m 64 ") == "12.0a");
    for (const char* plain :
         {"ptxas -arch sm_120 -m 64", "ptxas -arch sm_120", "-arch sm_121a", "-arch sm_12", ""})
        CHECK(arch_of(plain) == "12.0");
}

TEST_CASE("link-time code is its own kind: no cubin, no PTX, no code path") {
    const Blob blob = fixture::container({fixture::entry({8, 90, 0x118011}, Blob().text("ir"))});
    const Contents contents = read_blob(blob);
    REQUIRE(contents.entries.size() == 1);
    CHECK(contents.entries[0].kind == Kind::lto);
    CHECK(contents.entries[0].isa == PtxIsa{});
    CHECK(summary(contents.entries) == Lines{"lto 9.0a"});
}

TEST_CASE("only containers with our kernels count") {
    Blob bytes = fixture::container({fixture::sass(50, {"library_kernel"}), fixture::ptx(50, 6, 0)});
    bytes.pad(8);
    bytes.append(
        fixture::container({fixture::sass(75, {}), fixture::sass(80, {"other", "cudamatrix_reduce"})}));
    bytes.append(fixture::container({fixture::sass(52, {})}));
    const Blob blob = fixture::elf({{".nv_fatbin", 1, bytes, 0}});
    const Contents contents = read_blob(blob);
    REQUIRE(contents.containers == 3);
    CHECK(summary(entries_with_kernels(contents, "cudamatrix_")) == Lines{"sass 7.5", "sass 8.0"});
    CHECK(summary(entries_with_kernels(contents, "cudamatrix_sgemm")) == Lines{});
    CHECK(summary(entries_with_code(contents)) == Lines{"sass 5.0", "sass 7.5", "sass 8.0", "ptx 5.0@6.0"});
}

TEST_CASE("a compressed cubin cannot be looked into: it counts as code, never as our kernel") {
    const Blob blob = fixture::program({fixture::sass(90, {"cudamatrix_vadd"}, 0x8011)});
    const Contents contents = read_blob(blob);
    CHECK(contents.entries[1].compressed);
    CHECK(functions(contents.entries[1]).empty());
    CHECK(entries_with_kernels(contents, "cudamatrix_").empty());
    CHECK(summary(entries_with_code(contents)) == Lines{"sass 9.0"});
}

TEST_CASE("files without device code are no error, files of another kind are") {
    const Blob plain = fixture::elf({{".text", 1, Blob().text("code"), 0}});
    CHECK(read_blob(plain).error == "");
    CHECK(read_blob(plain).entries.empty());
    CHECK(read_blob(Blob()).error == "neither an ELF file nor a fat binary");
    CHECK(read_blob(Blob().text("#!/bin/true\n")).error == "neither an ELF file nor a fat binary");
    CHECK(read_blob(Blob(plain).put<std::uint8_t>(4, 1)).error == "not a 64-bit little-endian ELF file");
    CHECK(read_blob(Blob(plain).put<std::uint8_t>(5, 2)).error == "not a 64-bit little-endian ELF file");
    CHECK(read_blob(Blob(plain).put<std::uint64_t>(40, 0)).error ==
          "ELF file without a section table (stripped of it)");
}

TEST_CASE("a file cut off at any byte is an error or loses nothing, and never reads beyond its end") {
    fixture::cut_at_every_byte(sample(), 0, [](std::size_t length, Bytes cut) {
        const Contents contents = read(cut);
        CHECK_MESSAGE(contents.error != "", length);
        for (const Entry& entry : contents.entries)
            (void)functions(entry);
    });
}

TEST_CASE("a bare fat binary cut off at any byte is an error, and keeps the entries before the cut") {
    Blob whole = fixture::container({fixture::sass(75, {"a"}), fixture::ptx(80, 7, 8)});
    const std::size_t first = whole.size();
    whole.append(fixture::container({fixture::sass(86, {"b"})}));
    fixture::cut_at_every_byte(whole, 0, [&](std::size_t length, Bytes cut) {
        const Contents contents = read(cut);
        // At the border of two containers the rest is a whole file.
        CHECK_MESSAGE((contents.error == "") == (length == first), length);
        if (length >= first) CHECK(contents.entries.size() == 2);
    });
}

TEST_CASE("sizes that lie are refused by name, not followed") {
    const std::uint64_t hostile[] = {std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 63,
                                     0xffffffff, 100000};
    const Blob good = fixture::container({fixture::sass(75, {"a"})});
    const auto with = [&](std::size_t at, auto value) { return read_blob(Blob(good).put(at, value)).error; };
    const std::string container = "fat binary, container at 0x0", entry = container + ", entry at 0x0";
    for (const std::uint64_t size : hostile) {
        CHECK(with(8, size) == container + ": body of " + std::to_string(size) + " bytes does not fit, " +
                                   std::to_string(good.size()) + " bytes left");
        CHECK(with(16 + 8, size) == entry + ": payload of " + std::to_string(size) + " bytes, " +
                                        std::to_string(good.size() - 16 - 64) + " left");
    }
    for (const std::uint32_t size : {0U, 1U, 63U, 0xffffffffU, 0x80000000U})
        CHECK(with(16 + 4, size) == entry + ": header of " + std::to_string(size) + " bytes");
    CHECK(with(4, std::uint16_t{2}) ==
          container + ": version 2 with a header of 16 bytes, expected version 1 with 16");
    Blob magic = fixture::program({fixture::sass(75, {"a"})});
    const std::size_t second =
        static_cast<std::size_t>(read_blob(magic).entries[1].bytes.data - magic.view().data) - 64 - 16;
    const Contents bad = read_blob(magic.put<std::uint32_t>(second, 0xdeadbeef));
    CHECK(bad.error.find("magic number 0xdeadbeef, expected 0xba55ed50") != std::string::npos);
    CHECK(bad.entries.size() == 1);
}

TEST_CASE("section tables that lie are refused") {
    const auto with = [](std::size_t at, auto value) {
        Blob blob = sample();
        blob.put(at, value);
        return read_blob(blob).error;
    };
    CHECK(with(40, std::numeric_limits<std::uint64_t>::max()) == "ELF section table lies outside the file");
    CHECK(with(40, std::uint64_t{1} << 40) == "ELF section table lies outside the file");
    CHECK(with(60, std::uint16_t{0xffff}) == "ELF section table lies outside the file");
    CHECK(with(62, std::uint16_t{0x7fff}) == "ELF section names lie in section 32767 of 4");
    CHECK(with(58, std::uint16_t{0}) == "ELF section headers of 0 bytes, expected 64");

    const Blob blob = sample();
    const auto table = blob.view().number<std::uint64_t>(40);
    const std::size_t fatbin_header = static_cast<std::size_t>(table) + 2 * 64;
    CHECK(with(fatbin_header + 32, std::numeric_limits<std::uint64_t>::max()).find("lies outside the file") !=
          std::string::npos);
    CHECK(with(fatbin_header + 24, std::uint64_t{1} << 50).find("lies outside the file") !=
          std::string::npos);
    // Counts that moved into section 0: more than the file can hold.
    Blob extended = sample();
    extended.put(60, std::uint16_t{0}).put(static_cast<std::size_t>(table) + 32, std::uint64_t{1} << 58);
    CHECK(read_blob(extended).error == "ELF section table lies outside the file");
    Blob fits = sample();
    fits.put(60, std::uint16_t{0}).put(static_cast<std::size_t>(table) + 32, std::uint64_t{4});
    CHECK(read_blob(fits).error == "");
    CHECK(summary(read_blob(fits).entries) == kAll);
}

TEST_CASE("a damaged cubin inside costs its function names, not the reader") {
    std::mt19937 random(8);
    const auto check = [&](Bytes bytes) {
        const std::vector<std::uint8_t> copy(
            bytes.data, bytes.data + (random() % 4 == 0 ? random() % bytes.size : bytes.size));
        Entry entry;
        entry.kind = Kind::sass;
        entry.bytes = {copy.data(), copy.size()};
        for (const std::string_view name : functions(entry))
            CHECK(name.size() <= copy.size());
    };
    fixture::damage(fixture::cubin({"cudamatrix_vadd"}), 7, 3, check, 2000);
}

TEST_CASE("random damage anywhere never reads outside") {
    fixture::damage(sample(), 11, 6, [](Bytes bytes) {
        const Contents contents = read(bytes);
        CHECK(contents.entries.size() < 1000);
        (void)summary(entries_with_kernels(contents, "cudamatrix_"));
        (void)summary(entries_with_code(contents));
    });
}

TEST_CASE("files on disk: a missing one, a folder, a FIFO, an empty one and a real one") {
    const cudamatrix::test::TempFolder folder;
    const std::string path = (folder / "program").string();
    CHECK(read_file(path).contents.error == "No such file or directory");
    CHECK(read_file(folder.path()).contents.error == "not a regular file");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    CHECK(read_file(folder / "fifo").contents.error == "not a regular file");
    folder.put("program", "");
    CHECK(read_file(path).contents.error == "neither an ELF file nor a fat binary");
    const Blob blob = sample();
    folder.put("program", {reinterpret_cast<const char*>(blob.bytes().data()), blob.size()});
    FileContents file = read_file(path);
    FileContents moved = std::move(file);
    CHECK(summary(moved.contents.entries) == kAll);
    CHECK(functions(moved.contents.entries[1]).size() == 1);
}
