// Software bills of materials: what an image holds, as SPDX 2.3 and as CycloneDX 1.6.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/json.hpp"

namespace cudamatrix::report {

/// A part of an image.
struct Component {
    std::string
        type;  ///< of its package URL: deb, rpm, pypi, oci, generic; file: copied from the matrix's folder
    std::string name;
    std::string version = {};
    std::string vendor = {};      ///< debian, ubuntu, rocky: the namespace of its package URL; may be empty
    std::string arch = {};        ///< amd64, as its archive calls it; empty: all, or nobody says
    std::string sha256 = {};      ///< hex; empty: the lock has none
    std::string url = {};         ///< where it was fetched; empty: the lock does not say
    std::string repository = {};  ///< oci: docker.io/nvidia/cuda

    /// "pkg:deb/debian/libc6@2.36-9?arch=amd64&distro=debian-12" (github:package-url/purl-spec); empty for a
    /// file. `distro`: of the image.
    [[nodiscard]] std::string purl(std::string_view distro) const;
};

struct Sbom {
    std::string image;    ///< its reference: cudamatrix/NAME:ID
    std::string digest;   ///< sha256:...
    std::string distro;   ///< debian-12; empty: nobody says
    std::string created;  ///< 2026-11-27T00:00:00Z
    std::string tool;     ///< version of the program
    std::vector<Component> components;
};

/// Sorts the components and takes out doubles.
void put_in_order(Sbom& sbom);

[[nodiscard]] std::string spdx_json(const Sbom& sbom);
[[nodiscard]] std::string cyclonedx_json(const Sbom& sbom);

/// What the command `sbom` wrote.
struct SbomReport {
    struct Image {
        std::string id;
        std::vector<std::string> files;  ///< below the output folder
        std::size_t components = 0;
        std::vector<std::string> problems;  ///< where image and lock disagree, or why nothing was written
    };
    std::vector<Image> images;
    ToolInfo tool;
};

[[nodiscard]] std::string sbom_text(const SbomReport& report);
[[nodiscard]] std::string sbom_report_json(const SbomReport& report);

}  // namespace cudamatrix::report
