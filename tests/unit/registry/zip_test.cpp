#include "registry/zip.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "zip_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::test;

namespace {

std::string noise(std::size_t size) {
    std::string out;
    std::uint32_t state = 1;
    while (out.size() < size) {
        state = state * 1664525u + 1013904223u;
        out += static_cast<char>(state >> 24);
    }
    return out;
}

/// Why the archive cannot be opened: the message without what all of them start with.
std::string refusal(const std::string& bytes) {
    MemorySource source(bytes);
    const auto zip = Zip::open(source, "a.whl");
    if (zip.ok()) return "opened";
    CHECK(zip.failure().code == ExitCode::bad_input);
    CHECK(zip.failure().diagnostics.front().fix ==
          "download it again, and compare its sha256 with the one that the index gives");
    const auto& message = zip.failure().diagnostics.front().message;
    constexpr std::string_view start = "cannot read a.whl as a zip archive: ";
    REQUIRE(message.starts_with(start));
    return message.substr(start.size());
}

/// What reading the first member gives: its content or the message.
std::string first_member(const std::string& bytes) {
    MemorySource source(bytes);
    const auto zip = Zip::open(source, "a.whl");
    REQUIRE_MESSAGE(zip.ok(), zip.failure().diagnostics.front().message);
    const auto content = zip->text(zip->members().front(), 1u << 30);
    return content.ok() ? content.value() : content.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("A zip gives its members, stored and deflated, and their content") {
    const auto large = noise(300'000);
    MemorySource source(make_zip({{"torch/version.py", "cuda = '12.4'\n"},
                                  {"torch/lib/libtorch.so", large},
                                  {"torch/", "", true},
                                  {"empty.txt", ""},
                                  {"stored.bin", large, true}}));
    const auto zip = Zip::open(source, "a.whl");
    REQUIRE(zip.ok());
    REQUIRE(zip->members().size() == 5);
    CHECK(zip->members()[2].is_folder());
    CHECK(zip->find("torch/version.py")->size == 14);
    CHECK(zip->find("torch") == nullptr);
    CHECK(zip->text(*zip->find("torch/version.py"), 100).value() == "cuda = '12.4'\n");
    CHECK(zip->text(*zip->find("torch/lib/libtorch.so"), 300'000).value() == large);
    CHECK(zip->text(*zip->find("stored.bin"), 300'000).value() == large);
    CHECK(zip->text(*zip->find("empty.txt"), 0).value().empty());
    CHECK(source.most_at_once <= 70'000);  // members come in pieces; only the directory is read at once
}

TEST_CASE("A zip64 archive, and one with a comment that looks like an end record, are read") {
    Entry wide{"a", "wide"};
    wide.wide = true;
    CHECK(first_member(make_zip({wide}, {.wide = true})) == "wide");
    CHECK(first_member(make_zip({wide})) == "wide");
    CHECK(first_member(make_zip({{"a", "x"}}, {.comment = "PK\5\6 is what it starts with"})) == "x");
    CHECK(refusal(make_zip({})) == "opened");
}

TEST_CASE("What the sink refuses ends the stream") {
    MemorySource source(make_zip({{"a", noise(300'000)}}));
    const auto zip = Zip::open(source, "a.whl");
    REQUIRE(zip.ok());
    std::size_t got = 0;
    const auto status =
        zip->stream(zip->members().front(), [&](std::span<const std::uint8_t> bytes) -> Status {
            got += bytes.size();
            return input_failure("enough");
        });
    REQUIRE_FALSE(status.ok());
    CHECK(status.failure().diagnostics.front().message == "enough");
    CHECK(got > 0);
    CHECK(got <= 65'536);
}

TEST_CASE("A directory that lies is refused") {
    const auto good = make_zip({{"a", "one"}, {"b", "two"}});
    CHECK(refusal("") == "it has 0 bytes, and the smallest archive has 22");
    CHECK(refusal(std::string(100, 'x')) ==
          "it has no end record (it is truncated, or it is something else)");
    CHECK(refusal(make_zip({{"a", "x"}}, {.disc = 1})) == "it spreads over several discs");
    CHECK(refusal(make_zip({{"a", "x"}}, {.disc = 1, .wide = true})) == "it spreads over several discs");
    CHECK(refusal(make_zip({{"a", "x"}}, {.directory_offset = 1})) ==
          "its directory is not where its end record says");
    CHECK(refusal(make_zip({{"a", "x"}}, {.directory_offset = 0xfffffff0})) ==
          "its directory is not where its end record says");
    CHECK(refusal(make_zip({{"a", "x"}}, {.directory_size = 20})) ==
          "its directory is not where its end record says");
    CHECK(refusal(make_zip({{"a", "x"}}, {.directory_offset = ~0ull - 10, .wide = true})) ==
          "its directory is not where its end record says");
    CHECK(refusal(make_zip({{"a", "x"}}, {.count = 2})) == "its directory is too short for 2 members");
    CHECK(refusal(make_zip({{std::string(50, 'a'), "x"}}, {.count = 2})) ==
          "its directory ends in member 2 of 2");
    CHECK(refusal(make_zip({{"a", "x"}, {"b", "y"}}, {.count = 1})) ==
          "its directory has 47 bytes after its last member");
    CHECK(refusal(make_zip({{"a", "x"}}, {.count = ~0ull, .wide = true})) ==
          fmt::format("its directory is too short for {} members", ~0ull));
    CHECK(refusal("garbage before" + good) == "its directory is not where its end record says");
    auto damaged = good;
    damaged.replace(damaged.find("PK\1\2"), 2, "QK");
    CHECK(refusal(damaged) == "its directory is damaged at member 1");
    Entry wide{"a", "x"};
    wide.wide = true;
    auto without_extra = make_zip({wide});
    without_extra.replace(without_extra.rfind(le(1, 2) + le(24, 2)), 2, le(7, 2));
    CHECK(refusal(without_extra) == "the zip64 sizes of 'a' are missing");
    auto without_locator = make_zip({{"a", "x"}}, {.wide = true});
    without_locator.replace(without_locator.rfind("PK\6\7"), 2, "QK");
    CHECK(refusal(without_locator) == "its zip64 end record is missing");
}

TEST_CASE("An archive cut at any byte is refused, never read wrongly") {
    const auto good = make_zip({{"a", "one"}, {"b", noise(100)}});
    for (std::size_t size = 0; size < good.size(); ++size) {
        MemorySource source(good.substr(0, size));
        CHECK_FALSE(Zip::open(source, "a.whl").ok());
    }
}

TEST_CASE("No edit of one byte makes the reader fail in another way than by a message") {
    const auto good = make_zip({{"a", "one"}, {"b", noise(100)}});
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const int bit : {1, 0x80, 0xff}) {
            auto bytes = good;
            bytes[at] = static_cast<char>(bytes[at] ^ bit);
            MemorySource source(bytes);
            const auto zip = Zip::open(source, "a.whl");
            if (!zip.ok()) continue;
            for (const auto& member : zip->members())
                static_cast<void>(zip->text(member, 1u << 20).ok());
        }
    }
}

TEST_CASE("Names that lead elsewhere are refused") {
    CHECK(refusal(make_zip({{"../x", "x"}})) == "the name of a member leads out of its folder: '../x'");
    CHECK(refusal(make_zip({{"a/../../x", "x"}})) ==
          "the name of a member leads out of its folder: 'a/../../x'");
    CHECK(refusal(make_zip({{"a/..", "x"}})) == "the name of a member leads out of its folder: 'a/..'");
    CHECK(refusal(make_zip({{"/etc/passwd", "x"}})) ==
          "the name of a member is an absolute path: '/etc/passwd'");
    CHECK(refusal(make_zip({{"a\nb", "x"}})) == "the name of a member has control characters: 'a?b'");
    CHECK(refusal(make_zip({{std::string("a\0b", 3), "x"}})) ==
          "the name of a member has control characters: 'a?b'");
    CHECK(refusal(make_zip({{"a\x1b[2Jb", "x"}})) == "the name of a member has control characters: 'a?[2Jb'");
    CHECK(refusal(make_zip({{"a\xff", "x"}})) == "the name of a member is not UTF-8: 'a?'");
    CHECK(refusal(make_zip({{"", "x"}})) == "a member has no name");
    CHECK(refusal(make_zip({{"a", "x"}, {"a", "y"}})) == "two members are named 'a'");
    CHECK(refusal(make_zip({{"a..b/...", "x"}})) == "opened");
}

TEST_CASE("Members that overlap are refused") {
    Entry second{"b", "two"};
    second.offset_lie = 0;
    CHECK(refusal(make_zip({{"a", "one"}, second})) == "'a' overlaps 'b'");
    second.offset_lie = 5;
    CHECK(refusal(make_zip({{"a", "one"}, second})) == "'a' overlaps 'b'");
    Entry behind{"a", "one"};
    behind.offset_lie = 1'000'000;
    CHECK(refusal(make_zip({behind})) == "'a' overlaps the directory");
    Entry long_one{"a", "one"};
    long_one.compressed_lie = 5000;
    CHECK(refusal(make_zip({long_one})) == "'a' overlaps the directory");
    Entry wraps{"a", "one", true};
    wraps.wide = true;
    wraps.compressed_lie = ~0ull - 5;
    wraps.size_lie = ~0ull - 5;
    CHECK(refusal(make_zip({wraps})) == "'a' overlaps the directory");
    // Quoted: the extra field of the first hides the header of the second, so that the data of both are one.
    Entry quoting{"a", ""};
    quoting.raw = deflated("x");
    quoting.local_extra = std::string(60, 'e');
    quoting.compressed_lie = quoting.raw.size() + 60;
    CHECK(first_member(make_zip({quoting})) == "a in a.whl is damaged: its data overlaps what follows");
}

TEST_CASE("Bombs and impossible sizes are refused before anything is inflated") {
    std::string zeros;
    zeros.resize(10'000'000);
    CHECK(refusal(make_zip({{"zeros", zeros}})) == "'zeros' is a bomb: 10 MB from 10 kB");
    CHECK(refusal(make_zip({{"zeros", std::string(4'000'000, '\0')}})) ==
          "opened");  // small ones harm nobody
    Entry liar{"a", "one"};
    liar.size_lie = 1u << 30;
    CHECK(refusal(make_zip({liar})) == "'a' claims 1.1 GB from 5 B, which deflate cannot give");
    Entry stored{"a", "one", true};
    stored.size_lie = 4;
    CHECK(refusal(make_zip({stored})) == "'a' is stored, yet has 3 bytes in the archive and 4 outside of it");
}

TEST_CASE("Content that is not what the directory announced is refused") {
    Entry entry{"a", noise(1000)};
    entry.size_lie = 999;
    CHECK(first_member(make_zip({entry})) ==
          "a in a.whl is damaged: it has more than the 999 bytes announced");
    entry.size_lie = 1001;
    CHECK(first_member(make_zip({entry})) == "a in a.whl is damaged: it has 1000 bytes, 1001 are announced");
    entry.size_lie.reset();
    entry.crc_lie = 1;
    CHECK(first_member(make_zip({entry})) ==
          fmt::format("a in a.whl is damaged: its CRC-32 is {:08x}, 00000001 is announced",
                      crc(entry.content)));
    entry.crc_lie.reset();
    entry.raw = "\xff\xff\xff\xff";
    entry.size_lie = 4;
    CHECK(first_member(make_zip({entry})) == "a in a.whl is damaged: its deflate stream is broken");
    entry.size_lie.reset();
    const auto whole = deflated(entry.content);
    entry.raw = whole.substr(0, whole.size() - 1);
    CHECK(first_member(make_zip({entry})) == "a in a.whl is damaged: its deflate stream ends too early");
    entry.raw = whole + "more";
    CHECK(first_member(make_zip({entry})) ==
          "a in a.whl is damaged: bytes follow the end of its deflate stream");
    Entry renamed{"a", "one"};
    renamed.local_name = "b";
    CHECK(first_member(make_zip({renamed})) == "a in a.whl is damaged: its local header names another file");
    auto other_method = make_zip({{"a", "one"}});
    other_method[8] = 0;
    CHECK(first_member(other_method) ==
          "a in a.whl is damaged: its local header names another compression method");
    auto no_header = make_zip({{"a", "one"}});
    no_header[0] = 'Q';
    CHECK(first_member(no_header) == "a in a.whl is damaged: it has no local header");
}

TEST_CASE("Encrypted members, other methods and members above the limit are listed but not read") {
    Entry locked{"a", "one"};
    locked.flags = 1;
    CHECK(first_member(make_zip({locked})) == "a in a.whl is encrypted, which is not supported");
    Entry other{"a", "one"};
    other.method = 93;
    CHECK(first_member(make_zip({other})) ==
          "a in a.whl is compressed by method 93: stored (0) and deflate (8) are supported");
    MemorySource source(make_zip({{"a", "12345"}}));
    const auto zip = Zip::open(source, "a.whl");
    REQUIRE(zip.ok());
    const auto text = zip->text(zip->members().front(), 4);
    REQUIRE_FALSE(text.ok());
    CHECK(text.failure().diagnostics.front().message == "a in a.whl has 5 B, at most 4 B are read");
}
