#include "registry/curl.hpp"

#include <dlfcn.h>

#include "base/text.hpp"

namespace cudamatrix {
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

Result<std::shared_ptr<const Curl>> Curl::load() {
    std::shared_ptr<Curl> curl(new Curl);
    curl->library_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (curl->library_ == nullptr) {
        const char* reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
        return environment_failure(
            fmt::format("this needs the network, and {} cannot be loaded: {}", kLibrary,
                        text::printable(reason == nullptr ? "unknown reason" : reason)),
            kFix);
    }
    decltype(&::curl_version_info) version_info = nullptr;
    void* library = curl->library_;
    const bool all = find(library, "curl_easy_init", curl->easy_init) &&
                     find(library, "curl_easy_cleanup", curl->easy_cleanup) &&
                     find(library, "curl_easy_reset", curl->easy_reset) &&
                     find(library, "curl_easy_perform", curl->easy_perform) &&
                     find(library, "curl_easy_setopt", curl->easy_setopt) &&
                     find(library, "curl_easy_getinfo", curl->easy_getinfo) &&
                     find(library, "curl_easy_strerror", curl->easy_strerror) &&
                     find(library, "curl_slist_append", curl->slist_append) &&
                     find(library, "curl_slist_free_all", curl->slist_free_all) &&
                     find(library, "curl_version_info", version_info) &&
                     find(library, "curl_global_init", curl->global_init_) &&
                     find(library, "curl_global_cleanup", curl->global_cleanup_);
    if (!all || version_info(CURLVERSION_NOW)->version_num < kOldest) {
        return environment_failure(
            fmt::format("{} of this machine is older than 7.85, or no libcurl at all", kLibrary), kFix);
    }
    if (curl->global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return environment_failure(fmt::format("{} cannot be started", kLibrary), kFix);
    curl->started_ = true;
    return std::shared_ptr<const Curl>(std::move(curl));
}

// The library stays loaded: what it started itself (OpenSSL's handlers at exit) may still be called.
Curl::~Curl() {
    if (started_) global_cleanup_();
}

}  // namespace cudamatrix
