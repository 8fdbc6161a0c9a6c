// libcurl, loaded when a command needs the network: as shared libraries, it and what it links would cost
// every start of the program 5 ms. A static program holds it. Included by http.cpp and curl.cpp only.
#pragma once

#include <curl/curl.h>

#include <memory>

#include "base/result.hpp"

namespace cudamatrix {

/// A linked libcurl does not know where the system keeps its certificates.
#ifdef CUDAMATRIX_STATIC
inline constexpr bool kCurlIsLinked = true;
#else
inline constexpr bool kCurlIsLinked = false;
#endif

/// The functions of libcurl that http.cpp calls; alive as long as this object is.
class Curl {
  public:
    /// An environment failure where libcurl.so.4 is missing or older than 7.85 (2022, the first with protocol
    /// lists as text).
    [[nodiscard]] static Result<std::shared_ptr<const Curl>> load();
    ~Curl();
    Curl(const Curl&) = delete;
    Curl& operator=(const Curl&) = delete;

    decltype(&::curl_easy_init) easy_init = nullptr;
    decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
    decltype(&::curl_easy_reset) easy_reset = nullptr;
    decltype(&::curl_easy_perform) easy_perform = nullptr;
    decltype(&::curl_easy_setopt) easy_setopt = nullptr;
    decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
    decltype(&::curl_easy_strerror) easy_strerror = nullptr;
    decltype(&::curl_slist_append) slist_append = nullptr;
    decltype(&::curl_slist_free_all) slist_free_all = nullptr;

  private:
    Curl() = default;
    [[nodiscard]] Status bind();

    decltype(&::curl_global_init) global_init_ = nullptr;
    decltype(&::curl_global_cleanup) global_cleanup_ = nullptr;
    bool started_ = false;
};

}  // namespace cudamatrix
