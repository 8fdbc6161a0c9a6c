#include "base/base64.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cudamatrix;

TEST_CASE("The examples of RFC 4648, there and back") {
    const std::pair<std::string, std::string> examples[] = {{"", ""},
                                                            {"f", "Zg=="},
                                                            {"fo", "Zm8="},
                                                            {"foo", "Zm9v"},
                                                            {"foob", "Zm9vYg=="},
                                                            {"fooba", "Zm9vYmE="},
                                                            {"foobar", "Zm9vYmFy"},
                                                            {"\xff\xfe\xfd", "//79"}};
    for (const auto& [plain, coded] : examples) {
        CHECK(base64::encoded(plain) == coded);
        CHECK(base64::decoded(coded) == plain);
    }
    CHECK(base64::encoded(std::string("\0\0", 2)) == "AAA=");
    CHECK(base64::decoded("Zg") == "f");
}

TEST_CASE("What is no base64 is refused") {
    for (const auto* bad :
         {"Z", "Zg=", "Zg===", "Zg==Zg==", "Zm9v!", "Zm 9v", "Zm9v\n", "Zh==", "Zm9=", "====", "_-AA"})
        CHECK_MESSAGE(!base64::decoded(bad), bad);
}
