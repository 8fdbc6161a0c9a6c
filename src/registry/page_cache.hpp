// Pages that are asked for again and again, kept on disk with their ETag: what did not change is not
// transferred (RFC 9110, 13.1.2).
#pragma once

#include <filesystem>
#include <string>

#include "registry/http.hpp"

namespace cudamatrix {

/// A folder with two files for each page: the bytes, and what is known of them, its address without user and
/// password. One that is torn or was changed is asked for anew.
class PageCache {
  public:
    explicit PageCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// As HttpConnection::get, but an answer that the server says is still the same comes from the disk, with
    /// the status 200. Only pages with an ETag are kept; that one cannot be written is a failure.
    [[nodiscard]] Result<HttpResponse> get(HttpConnection& connection, HttpRequest request) const;

  private:
    [[nodiscard]] std::filesystem::path file_of(const std::string& asked, std::string_view ending) const;

    std::filesystem::path folder_;
};

}  // namespace cudamatrix
