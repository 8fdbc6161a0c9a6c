// Python package indexes: the page of a project (PEP 503 as HTML, PEP 691 as JSON) and the names of its files
// (PEP 427).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/http.hpp"

namespace cudamatrix {

class PageCache;

/// One file of a project, as the index lists it.
struct IndexFile {
    std::string name;             ///< "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl"
    std::string url;              ///< absolute, without fragment
    std::string sha256;           ///< 64 lower-case hexadecimal digits; empty where the index gives none
    std::string requires_python;  ///< ">=3.9"; empty: not given
    bool yanked = false;          ///< PEP 592
    std::string yanked_reason;
    bool has_metadata = false;  ///< PEP 658: `url` + ".metadata" is the wheel's METADATA
    std::optional<std::uint64_t> size;
    std::string uploaded;  ///< YYYY-MM-DD; empty: not given (HTML never gives it)
};

/// The parts of a wheel's name; compressed tag sets are taken apart.
struct WheelName {
    std::string distribution;  ///< as written: "nvidia_cublas_cu12"
    std::string version;       ///< "2.6.0+cu124"
    std::string build;         ///< "1"; mostly empty
    std::vector<std::string> pythons;
    std::vector<std::string> abis;
    std::vector<std::string> platforms;
};

/// Nothing for what is no wheel's name (PEP 427 and its binary distribution format specification).
[[nodiscard]] std::optional<WheelName> parse_wheel_name(std::string_view file);

/// Name and version of a source distribution "NAME-VERSION.tar.gz" or ".zip" of `project`; nothing for other
/// files.
[[nodiscard]] std::optional<std::string> sdist_version(std::string_view file, std::string_view project);

/// "Nvidia_cuBLAS.cu12" as "nvidia-cublas-cu12": the name as indexes compare it (PEP 503).
[[nodiscard]] std::string normalised_project(std::string_view name);

/// The files on a project's page that came from `url`. `content_type` decides between HTML and JSON. Input
/// failures: another content type, a newer major version of the interface than 1, JSON that is none, an
/// http(s) URL that is none.
[[nodiscard]] Result<std::vector<IndexFile>> parse_project_page(std::string_view page,
                                                                std::string_view content_type,
                                                                const std::string& url);

/// The files of `project` on `index` ("https://host/simple"); an index without the project is an input
/// failure that says so. `cache`: a page that did not change is not transferred again.
[[nodiscard]] Result<std::vector<IndexFile>> project_files(HttpConnection& connection, std::string_view index,
                                                           std::string_view project,
                                                           const PageCache* cache = nullptr);

/// The index that pip of this machine would ask: PIP_INDEX_URL, else what pip's configuration files say, else
/// pip's own default, which its help names. An environment failure where there is no pip: then --index has to
/// be given.
[[nodiscard]] Result<std::string> default_index(const Environment& environment,
                                                const Cancellation* cancellation = nullptr);

}  // namespace cudamatrix
