// Roots as distributions make them, and which file of certificates is taken.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "registry/http.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;

namespace {

struct Case {
    const char* name;
    std::vector<std::string> files;    // with content
    std::vector<std::string> empty;    // without
    std::vector<std::string> folders;  // of that name
    std::string expected;              // empty: none
};

}  // namespace

TEST_CASE("registry: the system's file of certificates") {
    const std::string debian = "etc/ssl/certs/ca-certificates.crt";
    const std::string rocky = "etc/pki/tls/certs/ca-bundle.crt";
    const std::string extracted = "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem";
    const std::string suse = "etc/ssl/ca-bundle.pem";
    const std::string alpine = "etc/ssl/cert.pem";
    const std::vector<Case> cases{
        {"Debian", {debian}, {}, {}, debian},
        {"Rocky", {rocky, extracted}, {}, {}, rocky},
        {"Rocky without the old name", {extracted}, {}, {}, extracted},
        {"SUSE", {suse}, {}, {}, suse},
        {"Alpine without ca-certificates", {alpine}, {}, {}, alpine},
        {"Alpine", {debian, alpine}, {}, {}, debian},
        {"nothing", {}, {}, {}, ""},
        {"an empty file of an interrupted update", {alpine}, {debian}, {}, alpine},
        {"only an empty file", {}, {debian}, {}, ""},
        {"a folder of that name", {}, {}, {debian}, ""},
        {"a folder before a file", {suse}, {}, {rocky}, suse},
        {"single certificates only", {"etc/ssl/certs/a.pem"}, {}, {}, ""},
        {"the name without its folder", {"ca-certificates.crt"}, {}, {}, ""},
    };
    for (const auto& one : cases) {
        CAPTURE(one.name);
        const test::TempFolder root;
        for (const auto& file : one.files)
            root.put(file, "-----BEGIN CERTIFICATE-----\n");
        for (const auto& file : one.empty)
            root.put(file);
        for (const auto& folder : one.folders)
            std::filesystem::create_directories(root.path() / folder);
        CHECK(system_ca_bundle(root.path()) ==
              (one.expected.empty() ? "" : (root.path() / one.expected).string()));
    }
}
