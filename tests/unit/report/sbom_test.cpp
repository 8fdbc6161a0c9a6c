#include "report/sbom.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;
using fixtures::golden;

namespace {

Sbom sample_sbom() {
    Sbom sbom;
    sbom.image = "cudamatrix/training:debian12-cu11.8.0";
    sbom.digest = "sha256:" + std::string(64, 'd');
    sbom.distro = "debian-12";
    sbom.created = "2026-11-27T00:00:00Z";
    sbom.tool = "0.1.0";
    sbom.components = {
        {.type = "pypi",
         .name = "torch",
         .version = "2.6.0+cu118",
         .sha256 = std::string(64, 'a'),
         .url = "https://example.org/torch-2.6.0%2Bcu118.whl"},
        {.type = "deb", .name = "libstdc++6", .version = "12.2.0-14", .vendor = "debian", .arch = "amd64"},
        {.type = "deb", .name = "libc6", .version = "1:2.36-9+deb12u1", .vendor = "debian", .arch = "amd64"},
        {.type = "deb", .name = "libc6", .version = "1:2.36-9+deb12u1", .vendor = "debian", .arch = "amd64"},
        {.type = "oci",
         .name = "cuda",
         .version = "sha256:" + std::string(64, 'b'),
         .arch = "amd64",
         .repository = "docker.io/nvidia/cuda"},
        {.type = "generic", .name = "cpython", .version = "3.12.16", .arch = "x86_64"},
        {.type = "file", .name = "/workspace/my app"},
    };
    put_in_order(sbom);
    return sbom;
}

}  // namespace

TEST_CASE("sbom: SPDX and CycloneDX, whole") {
    const auto sbom = sample_sbom();
    CHECK(sbom.components.size() == 6);  // one stood there twice
    CHECK(spdx_json(sbom) == golden("sbom.spdx.json"));
    CHECK(cyclonedx_json(sbom) == golden("sbom.cdx.json"));
}

TEST_CASE("sbom: another content has another name, the same content the same") {
    const auto first = sample_sbom();
    CHECK(spdx_json(first) == spdx_json(sample_sbom()));
    auto second = sample_sbom();
    second.components.front().version += ".1";
    const auto name_of = [](const std::string& text, std::string_view key) {
        const auto at = text.find(key);
        REQUIRE(at != std::string::npos);
        return text.substr(at, text.find('\n', at) - at);
    };
    for (const auto* key : {"documentNamespace"})
        CHECK(name_of(spdx_json(first), key) != name_of(spdx_json(second), key));
    CHECK(name_of(cyclonedx_json(first), "serialNumber") != name_of(cyclonedx_json(second), "serialNumber"));
}

TEST_CASE("sbom: package URLs") {
    const std::vector<std::pair<Component, std::string>> rows{
        {{.type = "deb", .name = "g++", .version = "1:2~b+c", .vendor = "ubuntu", .arch = "arm64"},
         "pkg:deb/ubuntu/g%2B%2B@1%3A2~b%2Bc?arch=arm64&distro=x-1"},
        {{.type = "rpm", .name = "bash", .version = "0:5.1-9.el9", .vendor = "rocky", .arch = "x86_64"},
         "pkg:rpm/rocky/bash@5.1-9.el9?arch=x86_64&distro=x-1"},
        {{.type = "rpm", .name = "bind", .version = "32:9.16-1", .vendor = "rocky"},
         "pkg:rpm/rocky/bind@9.16-1?distro=x-1&epoch=32"},
        {{.type = "pypi", .name = "torch", .version = "2.6.0+cu124"}, "pkg:pypi/torch@2.6.0%2Bcu124"},
        {{.type = "oci", .name = "cuda", .version = "", .repository = "docker.io/nvidia/cuda"},
         "pkg:oci/cuda?repository_url=docker.io%2Fnvidia%2Fcuda"},
        {{.type = "file", .name = "/app"}, ""},
    };
    for (const auto& [component, url] : rows)
        CHECK(component.purl("x-1") == url);
    CHECK(rows[0].first.purl("") == "pkg:deb/ubuntu/g%2B%2B@1%3A2~b%2Bc?arch=arm64");
}

TEST_CASE("sbom: what the command says") {
    const SbomReport report{{{"a", {"sbom/a.spdx.json", "sbom/a.cdx.json"}, 90, {}},
                             {"b", {}, 0, {"it is not built: cudamatrix build makes it"}}},
                            {"0.1.0", "2026-11-01", "abc"}};
    CHECK(sbom_text({}) ==
          "no image: no chosen cell is accepted and can be rendered; cudamatrix check says why\n");
    CHECK(sbom_text(report) ==
          "a: 90 components in sbom/a.spdx.json, sbom/a.cdx.json\n"
          "b: it is not built: cudamatrix build makes it\n");
    CHECK(
        sbom_report_json(report).find(
            R"(    {"id":"b","files":[],"components":0,"problems":["it is not built: cudamatrix build makes it"]})") !=
        std::string::npos);
}
