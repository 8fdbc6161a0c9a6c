// Pages kept on disk with their ETag: what did not change is not transferred again (RFC 9110, 13.1.2).
#pragma once

#include <filesystem>

#include "registry/http.hpp"

namespace cudamatrix {

/// A folder with two files for each page: the bytes, and what is known of them. A torn or changed one is
/// asked for anew.
class PageCache {
  public:
    explicit PageCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// As HttpConnection::get, but what the server says is still the same comes from the disk, with the
    /// status 200.
    [[nodiscard]] Result<HttpResponse> get(HttpConnection& connection, HttpRequest request) const;

  private:
    std::filesystem::path folder_;
};

}  // namespace cudamatrix
