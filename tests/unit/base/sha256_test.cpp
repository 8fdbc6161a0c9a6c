#include "base/sha256.hpp"

#include <doctest/doctest.h>

#include "temp_folder.hpp"

using namespace cudamatrix;

// The known answers of FIPS 180-4.
TEST_CASE("sha256: known answers") {
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: pieces make the same digest, and one bit another") {
    for (std::size_t cut = 0; cut <= 3; ++cut) {
        const std::string_view text = "abc";
        CHECK(Sha256().update(text.substr(0, cut)).update("").update(text.substr(cut)).hex() ==
              sha256("abc"));
    }
    CHECK(sha256("abb") != sha256("abc"));
    CHECK(sha256(std::string(1, '\0')) != sha256(""));
    CHECK(is_sha256(sha256("abc")));
}

TEST_CASE("sha256 of a file: larger than its buffer, empty, missing, a folder") {
    const test::TempFolder folder;
    const std::string content((1u << 20) * 2 + 3, 'q');
    folder.put("large", content);
    folder.put("edge", content.substr(0, 1u << 20));
    folder.put("empty", "");
    CHECK(sha256_of_file(folder / "large").value() == sha256(content));
    CHECK(sha256_of_file(folder / "edge").value() == sha256(content.substr(0, 1u << 20)));
    CHECK(sha256_of_file(folder / "empty").value() == sha256(""));
    for (const auto& bad : {folder / "none", folder.path()}) {
        const auto result = sha256_of_file(bad);
        REQUIRE_FALSE(result.ok());
        CHECK(result.failure().code == ExitCode::environment);
        CHECK(result.failure().diagnostics.at(0).message == "cannot read " + bad.string());
    }
}
