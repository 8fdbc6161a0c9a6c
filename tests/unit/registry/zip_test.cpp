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

/// Why its only member cannot be read: the message without what all of them start with.
std::string damage(const Entry& entry) {
    const auto message = first_member(make_zip({entry}));
    constexpr std::string_view start = "a in a.whl is damaged: ";
    REQUIRE(message.starts_with(start));
    return message.substr(start.size());
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
    const Entry wide{.name = "a", .content = "wide", .wide = true};
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
    const std::string elsewhere = "its directory is not where its end record says";
    const std::pair<ZipLies, std::string> lies[] = {
        {{.disc = 1}, "it spreads over several discs"},
        {{.disc = 1, .wide = true}, "it spreads over several discs"},
        {{.directory_offset = 1}, elsewhere},
        {{.directory_offset = 0xfffffff0}, elsewhere},
        {{.directory_size = 20}, elsewhere},
        {{.directory_offset = ~0ull - 10, .wide = true}, elsewhere},
        {{.count = 2}, "its directory is too short for 2 members"},
        {{.count = ~0ull, .wide = true}, fmt::format("its directory is too short for {} members", ~0ull)}};
    for (const auto& [lie, why] : lies)
        CHECK(refusal(make_zip({{"a", "x"}}, lie)) == why);
    CHECK(refusal(make_zip({{std::string(50, 'a'), "x"}}, {.count = 2})) ==
          "its directory ends in member 2 of 2");
    CHECK(refusal(make_zip({{"a", "x"}, {"b", "y"}}, {.count = 1})) ==
          "its directory has 47 bytes after its last member");
    CHECK(refusal("garbage before" + good) == elsewhere);
    auto damaged = good;
    damaged.replace(damaged.find("PK\1\2"), 2, "QK");
    CHECK(refusal(damaged) == "its directory is damaged at member 1");
    auto without_extra = make_zip({{.name = "a", .content = "x", .wide = true}});
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
    const std::string folder = "leads out of its folder", control = "has control characters";
    const std::pair<std::string, std::string> names[] = {
        {"../x", folder + ": '../x'"},         {"a/../../x", folder + ": 'a/../../x'"},
        {"a/..", folder + ": 'a/..'"},         {"/etc/passwd", "is an absolute path: '/etc/passwd'"},
        {"a\nb", control + ": 'a?b'"},         {std::string("a\0b", 3), control + ": 'a?b'"},
        {"a\x1b[2Jb", control + ": 'a?[2Jb'"}, {"a\xff", "is not UTF-8: 'a?'"}};
    for (const auto& [name, why] : names)
        CHECK(refusal(make_zip({{name, "x"}})) == "the name of a member " + why);
    CHECK(refusal(make_zip({{"", "x"}})) == "a member has no name");
    CHECK(refusal(make_zip({{"a", "x"}, {"a", "y"}})) == "two members are named 'a'");
    CHECK(refusal(make_zip({{"a..b/...", "x"}})) == "opened");
}

TEST_CASE("Members that overlap are refused") {
    const Entry one{"a", "one"};
    for (const std::uint64_t offset : {0, 5})
        CHECK(refusal(make_zip({one, {.name = "b", .content = "two", .offset_lie = offset}})) ==
              "'a' overlaps 'b'");
    const Entry lies[] = {{.name = "a", .content = "one", .offset_lie = 1'000'000},
                          {.name = "a", .content = "one", .compressed_lie = 5000},
                          {.name = "a",
                           .content = "one",
                           .stored = true,
                           .size_lie = ~0ull - 5,
                           .compressed_lie = ~0ull - 5,
                           .wide = true}};
    for (const auto& lie : lies)
        CHECK(refusal(make_zip({lie})) == "'a' overlaps the directory");
    // Quoted: the extra field of the first hides the header of the second, so that the data of both are one.
    CHECK(damage({.name = "a",
                  .compressed_lie = deflated("x").size() + 60,
                  .local_extra = std::string(60, 'e'),
                  .raw = deflated("x")}) == "its data overlaps what follows");
}

TEST_CASE("Bombs and impossible sizes are refused before anything is inflated") {
    CHECK(refusal(make_zip({{"zeros", std::string(10'000'000, '\0')}})) == "it is a bomb: 10 MB from 10 kB");
    CHECK(refusal(make_zip({{"zeros", std::string(4'000'000, '\0')}})) == "opened");
    // One beside files of the usual kind, up to a size; as large together as alone; and stored bytes are no
    // excuse.
    CHECK(refusal(make_zip({{"code", noise(300'000)}, {"zeros", std::string(60'000'000, '\0')}})) ==
          "opened");
    CHECK(refusal(make_zip({{"code", noise(300'000)}, {"zeros", std::string(70'000'000, '\0')}})) ==
          "'zeros' is a bomb: 70 MB from 68 kB");
    CHECK(refusal(make_zip({{"code", noise(30'000)}, {"zeros", std::string(60'000'000, '\0')}})) ==
          "it is a bomb: 60 MB from 88 kB");
    CHECK(refusal(make_zip({{"a", std::string(3'000'000, '\0')}, {"b", std::string(3'000'000, '\0')}})) ==
          "it is a bomb: 6 MB from 6 kB");
    CHECK(refusal(make_zip({{.name = "code", .content = noise(300'000), .stored = true},
                            {"zeros", std::string(60'000'000, '\0')}})) == "it is a bomb: 60 MB from 58 kB");
    CHECK(refusal(make_zip({{.name = "a", .content = "one", .size_lie = 1u << 30}})) ==
          "'a' claims 1.1 GB from 5 B, which deflate cannot give");
    CHECK(refusal(make_zip({{.name = "a", .content = "one", .stored = true, .size_lie = 4}})) ==
          "'a' is stored, yet has 3 bytes in the archive and 4 outside of it");
}

TEST_CASE("Content that is not what the directory announced is refused") {
    const auto content = noise(1000), whole = deflated(content);
    const std::pair<Entry, std::string> cases[] = {
        {{.size_lie = 999}, "it has more than the 999 bytes announced"},
        {{.size_lie = 1001}, "it has 1000 bytes, 1001 are announced"},
        {{.crc_lie = 1}, fmt::format("its CRC-32 is {:08x}, 00000001 is announced", crc(content))},
        {{.size_lie = 4, .raw = "\xff\xff\xff\xff"}, "its deflate stream is broken"},
        {{.raw = whole.substr(0, whole.size() - 1)}, "its deflate stream ends too early"},
        {{.raw = whole + "more"}, "bytes follow the end of its deflate stream"},
        {{.local_name = "b"}, "its local header names another file"}};
    for (const auto& [lie, why] : cases) {
        auto entry = lie;
        entry.name = "a";
        entry.content = content;
        CHECK(damage(entry) == why);
    }
    auto bytes = make_zip({{"a", "one"}});
    bytes[8] = 0;
    CHECK(first_member(bytes) == "a in a.whl is damaged: its local header names another compression method");
    bytes[0] = 'Q';
    CHECK(first_member(bytes) == "a in a.whl is damaged: it has no local header");
}

TEST_CASE("Encrypted members, other methods and members above the limit are listed but not read") {
    CHECK(first_member(make_zip({{.name = "a", .content = "one", .flags = 1}})) ==
          "a in a.whl is encrypted, which is not supported");
    CHECK(first_member(make_zip({{.name = "a", .content = "one", .method = 93}})) ==
          "a in a.whl is compressed by method 93: stored (0) and deflate (8) are supported");
    MemorySource source(make_zip({{"a", "12345"}}));
    const auto zip = Zip::open(source, "a.whl");
    REQUIRE(zip.ok());
    const auto text = zip->text(zip->members().front(), 4);
    REQUIRE_FALSE(text.ok());
    CHECK(text.failure().diagnostics.front().message == "a in a.whl has 5 B, at most 4 B are read");
}
