// Python package indexes: a project's page (PEP 503 as HTML, PEP 691 as JSON), kept on disk, and its files'
// names (PEP 427).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/http.hpp"

namespace cudamatrix {

/// Pages kept on disk with their ETag: what did not change is not transferred again (RFC 9110, 13.1.2). A
/// folder with two files for each page: the bytes, and what is known of them. A torn or changed one is asked
/// for anew.
class PageCache {
  public:
    explicit PageCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// As HttpConnection::get, but what the server says is still the same comes from the disk, with the
    /// status 200.
    [[nodiscard]] Result<HttpResponse> get(HttpConnection& connection, HttpRequest request) const;

  private:
    std::filesystem::path folder_;
};

/// One file of a project, as the index lists it.
struct IndexFile {
    std::string name;             ///< "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl"
    std::string url;              ///< absolute, without fragment
    std::string sha256;           ///< 64 lower-case hexadecimal digits; empty where the index gives none
    std::string requires_python;  ///< ">=3.9"; empty: not given
    bool yanked = false;          ///< PEP 592
    std::string yanked_reason;
    std::optional<std::uint64_t> size;
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

/// The version of a source distribution "NAME-VERSION.tar.gz" of `project`; nothing for other files.
[[nodiscard]] std::optional<std::string> sdist_version(std::string_view file, std::string_view project);

/// The files on a project's page that came from `url`; `content_type` decides between HTML and JSON. Another
/// one, a newer interface than 1, broken JSON and URLs of another scheme are input failures.
[[nodiscard]] Result<std::vector<IndexFile>> parse_project_page(std::string_view page,
                                                                std::string_view content_type,
                                                                const std::string& url);

/// The files of `project` on `index` ("https://host/simple"); an index without it is an input failure.
[[nodiscard]] Result<std::vector<IndexFile>> project_files(HttpConnection& connection, std::string_view index,
                                                           std::string_view project,
                                                           const PageCache* cache = nullptr);

/// The index that pip of this machine would ask: PIP_INDEX_URL, else that of pip's configuration files, else
/// the default that pip's help names. An environment failure where there is no pip.
[[nodiscard]] Result<std::string> default_index(const Environment& environment,
                                                const Cancellation* cancellation = nullptr);

}  // namespace cudamatrix
