// Names that the facts know: of operating systems and GPUs.
#include <doctest/doctest.h>

#include <map>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"

using namespace cudamatrix;

namespace {

std::string meant(Field field, std::string_view text) {
    return lookup::names_in(Facts::embedded())(field, text);
}

}  // namespace

TEST_CASE("usual names of operating systems") {
    for (const auto& each : std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"jammy", "ubuntu22.04"},
             {"Noble", "ubuntu24.04"},
             {"bookworm", "debian12"},
             {"ubuntu-22.04", "ubuntu22.04"},
             {"Ubuntu 22.04", "ubuntu22.04"},
             {"ubuntu:22.04", "ubuntu22.04"},
             {"ubuntu2204", "ubuntu22.04"},
             {"debian-12", "debian12"},
             {"rocky9", "rockylinux9"},
             {"rocky-8", "rockylinux8"},
             {"Rocky Linux 9", "rockylinux9"},
             {"Red Hat Enterprise Linux 9", "rhel9"},
             {"RHEL 9", "rhel9"},
             {"al2023", "amazonlinux2023"},
             {"Windows 11", "windows11"},
             {"macOS", "macos"},
         }) {
        CAPTURE(each.first);
        CHECK(meant(Field::os, each.first) == each.second);
        CHECK(meant(Field::os, each.second).empty());
    }
}

TEST_CASE("what could be several operating systems, or none, is no name") {
    for (const std::string_view text : {"",
                                        "-",
                                        "jammyy",
                                        "jamm",
                                        "ubuntu",
                                        "ubuntu-22",
                                        "ubuntu22",
                                        "ubuntu2.204",
                                        "ubuntu220.4",
                                        "ubuntu-22.04.1",
                                        "22.04",
                                        "debian",
                                        "rocky",
                                        "rocky9.3",
                                        "Rocky Linux",
                                        "rhel",
                                        "rhel9.4",
                                        "linux",
                                        "centos-6",
                                        "ubuntu-jammy",
                                        "bookworm-slim",
                                        "windows-95",
                                        "xubuntu-22.04",
                                        "ubuntu22.04",
                                        "debian12"})
        CHECK_MESSAGE(meant(Field::os, text).empty(), text);
}

TEST_CASE("usual names of GPUs are those of their rows") {
    for (const auto& each : std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"rtx5090", "RTX 5090"},
             {"RTX-5090", "RTX 5090"},
             {"a100-80gb", "A100 80GB"},
             {"geforce rtx 5090", "GeForce RTX 5090"},
             {"nvidia a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB"},
             {"t4", "T4"},
         }) {
        CAPTURE(each.first);
        CHECK(meant(Field::gpu, each.first) == each.second);
        CHECK(meant(Field::gpu, each.second).empty());
        CHECK_FALSE(check_scalar(Field::gpu, each.second));
    }
    for (const std::string_view text :
         {"", "-", "rtx50900", "rtx_5090", "5090", "a100-81gb", "T4", "NVIDIA A100-SXM4-80GB", "rtx"})
        CHECK_MESSAGE(meant(Field::gpu, text).empty(), text);
}

TEST_CASE("names of other fields are none of these") {
    CHECK(meant(Field::compiler, "jammy").empty());
    CHECK(meant(Field::image, "ubuntu:22.04").empty());
    const auto all = lookup::spellings(Facts::embedded());
    CHECK(all(Field::cuda, "cu128") == "12.8");
    CHECK(all(Field::os, "jammy") == "ubuntu22.04");
    CHECK(all(Field::cuda, "jammy").empty());
}

// Else a text would mean several, and none would be read.
TEST_CASE("no two operating systems have a name in common") {
    const auto facts = Facts::embedded();
    const auto folded = [](std::string_view text) {
        auto out = text::lower(text);
        std::erase_if(out,
                      [](char c) { return std::string_view(" -_:.").find(c) != std::string_view::npos; });
        return out;
    };
    std::map<std::string, std::string_view> owners;
    for (const auto& row : facts.rows("operating_systems")) {
        std::vector<std::string_view> names{row.text("os"), row.text("name"), row.text("codename")};
        const auto spellings = row.list("spellings");
        names.insert(names.end(), spellings.begin(), spellings.end());
        for (const auto name : names) {
            if (name.empty()) continue;
            const auto owner = owners.emplace(folded(name), row.id()).first->second;
            CHECK_MESSAGE(owner == row.id(), name);
        }
    }
}
