#include "registry/curl.hpp"

#include "base/text.hpp"

#ifndef CUDAMATRIX_STATIC
#include <dlfcn.h>
#endif

namespace cudamatrix {

#ifdef CUDAMATRIX_STATIC

// A static program holds its libcurl: to load another one is impossible.
Status Curl::bind() {
    easy_init = &::curl_easy_init;
    easy_cleanup = &::curl_easy_cleanup;
    easy_reset = &::curl_easy_reset;
    easy_perform = &::curl_easy_perform;
    easy_setopt = &::curl_easy_setopt;
    easy_getinfo = &::curl_easy_getinfo;
    easy_strerror = &::curl_easy_strerror;
    slist_append = &::curl_slist_append;
    slist_free_all = &::curl_slist_free_all;
    global_init_ = &::curl_global_init;
    global_cleanup_ = &::curl_global_cleanup;
    return Done{};
}

#else

namespace {

constexpr const char* kLibrary = "libcurl.so.4";
constexpr const char* kFix =
    "install libcurl4 (Debian 12, Ubuntu 22.04) or libcurl4t64 (Debian 13, Ubuntu 24.04)";
constexpr unsigned kOldest = 0x075500;  // 7.85.0

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

}  // namespace

// The library stays loaded: what it started itself (OpenSSL's handlers at exit) may still be called.
Status Curl::bind() {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
        return environment_failure(
            fmt::format("this needs the network, and {} cannot be loaded: {}", kLibrary,
                        text::printable(reason == nullptr ? "unknown reason" : reason)),
            kFix);
    }
    decltype(&::curl_version_info) version_info = nullptr;
    const bool all =
        find(library, "curl_easy_init", easy_init) && find(library, "curl_easy_cleanup", easy_cleanup) &&
        find(library, "curl_easy_reset", easy_reset) && find(library, "curl_easy_perform", easy_perform) &&
        find(library, "curl_easy_setopt", easy_setopt) && find(library, "curl_easy_getinfo", easy_getinfo) &&
        find(library, "curl_easy_strerror", easy_strerror) &&
        find(library, "curl_slist_append", slist_append) &&
        find(library, "curl_slist_free_all", slist_free_all) &&
        find(library, "curl_version_info", version_info) && find(library, "curl_global_init", global_init_) &&
        find(library, "curl_global_cleanup", global_cleanup_);
    if (!all || version_info(CURLVERSION_NOW)->version_num < kOldest) {
        return environment_failure(
            fmt::format("{} of this machine is older than 7.85, or no libcurl at all", kLibrary), kFix);
    }
    return Done{};
}

#endif

Result<std::shared_ptr<const Curl>> Curl::load() {
    std::shared_ptr<Curl> curl(new Curl);
    CM_TRY(curl->bind());
    if (curl->global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return environment_failure("libcurl cannot be started");
    curl->started_ = true;
    return std::shared_ptr<const Curl>(std::move(curl));
}

Curl::~Curl() {
    if (started_) global_cleanup_();
}

}  // namespace cudamatrix
