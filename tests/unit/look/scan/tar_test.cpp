#include "look/scan/layer.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "unit/look/scan/tar_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::scan;
using fixture::tar;
using fixture::tar_header;
using fixture::TarMember;

namespace {

class Listing final : public TarHandler {
  public:
    [[nodiscard]] Status begin(const TarEntry& entry) override {
        constexpr const char* kinds[] = {"file", "folder", "hard", "link", "other"};
        text += entry.path + " " + kinds[static_cast<std::size_t>(entry.kind)];
        if (entry.kind == TarEntry::Kind::file) text += " " + std::to_string(entry.size);
        if (!entry.link.empty()) text += " -> " + entry.link;
        text += entry.kind == TarEntry::Kind::file ? ": " : "\n";
        return Done{};
    }
    [[nodiscard]] Status content(std::span<const std::uint8_t> bytes) override {
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Done{};
    }
    [[nodiscard]] Status end() override {
        text += "\n";
        return Done{};
    }
    std::string text;
};

// What the tar holds, or "error: ..." behind what stood before it.
std::string listed(const std::string& bytes, std::size_t piece = 100'000) {
    Listing listing;
    TarBytes tar(listing, "x.tar");
    Status status = Done{};
    for (std::size_t at = 0; at < bytes.size() && status.ok(); at += piece) {
        const auto part = bytes.substr(at, piece);
        status = tar.feed({reinterpret_cast<const std::uint8_t*>(part.data()), part.size()});
    }
    if (status.ok()) status = tar.finish();
    if (!status.ok()) listing.text += "error: " + status.failure().diagnostics.front().message;
    return listing.text;
}

std::string without_end(const std::string& text) {
    return text.substr(0, text.size() - 1024);
}

}  // namespace

TEST_CASE("a tar's files, folders and links, in pieces of any size") {
    const auto bytes = tar({{"./", "", '5'},
                            {"./usr//lib/a.so", std::string(513, 'x')},
                            {"empty", ""},
                            {"old/", "", '\0'},
                            {"hard", "", '1', "usr/lib/a.so"},
                            {"soft", "", '2', "/usr/lib/../a.so"},
                            {"null", "", '3'},
                            {"seven", "7", '7'}});
    const std::string expected = " folder\nusr/lib/a.so file 513: " + std::string(513, 'x') +
                                 "\nempty file 0: \nold folder\nhard hard -> usr/lib/a.so\n"
                                 "soft link -> /usr/lib/../a.so\nnull other\nseven file 1: 7\n";
    for (const std::size_t piece : {1U, 7U, 511U, 512U, 513U, 100'000U}) {
        CHECK(listed(bytes, piece) == expected);
        CHECK(listed(fixture::gzipped(bytes), piece) == expected);
    }
    const auto half = bytes.size() / 2;
    CHECK(listed(fixture::gzipped(bytes.substr(0, half)) + fixture::gzipped(bytes.substr(half))) == expected);
}

TEST_CASE("long names: GNU's and pax's, the prefix of ustar, sizes as binary numbers") {
    const std::string deep = "a/" + std::string(150, 'b') + "/c.so";
    CHECK(listed(tar({{"././@LongLink", deep + std::string(1, '\0'), 'L'}, {deep, "x"}})) ==
          deep + " file 1: x\n");
    CHECK(listed(tar({{"././@LongLink", deep + std::string(1, '\0'), 'K'}, {"l", "", '2', "short"}})) ==
          "l link -> " + deep + "\n");
    CHECK(listed(tar({{"pax", fixture::pax_record("path", deep) + fixture::pax_record("mtime", "1.5"), 'x'},
                      {"short", "x"},
                      {"next", "y"}})) == deep + " file 1: x\nnext file 1: y\n");
    CHECK(listed(tar({{"global", fixture::pax_record("path", "all"), 'g'}, {"a", "x"}})) == "a file 1: x\n");
    const auto sized = tar_header({"pax", fixture::pax_record("size", "3"), 'x'}) +
                       fixture::padded(fixture::pax_record("size", "3")) + tar_header({"a"}) +
                       fixture::padded("xyz") + std::string(512, '\0');
    CHECK(listed(sized) == "a file 3: xyz\n");
    const std::string binary = std::string("\x80", 1) + std::string(10, '\0') + "\3";
    CHECK(listed(tar_header({"a"}, binary) + fixture::padded("xyz") + std::string(512, '\0')) ==
          "a file 3: xyz\n");
}

TEST_CASE("tars that lie") {
    const auto refused = [](const std::string& why, std::size_t at) {
        return "error: cannot read x.tar as a tar: " + why + " (at byte " + std::to_string(at) + ")";
    };
    const auto good = tar({{"a", "x"}});
    CHECK(listed("") == refused("it is cut off: the mark of its end did not come", 0));
    CHECK(listed(without_end(good)) ==
          "a file 1: x\n" + refused("it is cut off: the mark of its end did not come", 512));
    CHECK(listed(good.substr(0, 512)) ==
          "a file 1: " + refused("it is cut off: the mark of its end did not come", 0));
    auto flipped = good;
    flipped[3] = 'y';
    CHECK(listed(flipped) == refused("a header has a wrong checksum", 0));
    CHECK(listed(std::string(600, 'x')) == refused("a header has a wrong checksum", 0));
    CHECK(listed(tar({{"a/../../etc", "x"}})) == refused("'a/../../etc' leads out of the folder", 0));
    CHECK(listed(tar({{"h", "x", '1', "a"}})) == refused("a hard link has content of its own", 0));
    CHECK(listed(tar({{"h", "", '1', "../a"}})) == refused("'../a' leads out of the folder", 0));
    CHECK(listed(tar({{"s", "x", 'S'}})) == refused("it holds a sparse file, which is not supported", 0));
    CHECK(listed(tar({{"p", fixture::pax_record("GNU.sparse.major", "1"), 'x'}, {"s", "x"}})) ==
          refused("it holds a sparse file, which is not supported", 1024));
    CHECK(listed(tar_header({"a"}, "9") + std::string(1024, '\0')) ==
          refused("a header has an invalid size", 0));
    CHECK(listed(tar_header({"a"}, std::string("\xff", 1) + std::string(11, '\xff'))) ==
          refused("a header has an invalid size", 0));
    CHECK(listed(tar_header({"L", "", 'L'}, fixture::octal(2U << 20, 11))) ==
          refused("a name or its attributes have 2097152 bytes", 0));
    for (const char* record : {"x", "9 path", "99 path=a\n", "5 a=b", "6 abc\n", "0 a=b\n", "-9 path=a\n"})
        CHECK(listed(tar({{"p", record, 'x'}, {"a", "x"}})) ==
              refused("a pax header has a broken record", std::strlen(record)));
    CHECK(listed(tar({{"p", fixture::pax_record("size", "3x"), 'x'}, {"a", "x"}})) ==
          refused("a pax header has an invalid size", 1024));
}

TEST_CASE("compressed tars that lie") {
    const auto packed = fixture::gzipped(tar({{"a", std::string(3000, 'x')}}));
    CHECK(listed(packed.substr(0, packed.size() - 4)).find("is cut off: its gzip stream goes on") !=
          std::string::npos);
    auto broken = packed;
    broken[broken.size() - 6] = static_cast<char>(broken[broken.size() - 6] ^ 1);
    CHECK(listed(broken).find("x.tar is damaged: its gzip stream is broken") != std::string::npos);
    CHECK(listed(packed + "behind").find("x.tar is damaged: its gzip stream is broken") != std::string::npos);
    CHECK(listed("\x28\xb5\x2f\xfd----") == "error: x.tar is compressed by zstd");
    CHECK(listed(std::string("\xfd"
                             "7zXZ\0--",
                             8)) == "error: x.tar is compressed by xz");
}
