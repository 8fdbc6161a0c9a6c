// HTTP for wheel indexes and image registries: ranges, redirects, retries, the site's CA bundle, proxies and
// credentials.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_source.hpp"
#include "base/image_reference.hpp"
#include "base/process.hpp"
#include "registry/url.hpp"

namespace cudamatrix {

class Curl;

struct HttpOptions {
    Environment environment;  ///< names the proxies, the CA bundle and the netrc file
    std::string ca_bundle;    ///< a PEM file that goes before those; empty: none
    Mirrors mirrors;
    unsigned attempts = 5;                    ///< of one request, the first one counted
    std::chrono::milliseconds back_off{500};  ///< before the second attempt; doubled before each further one
    std::chrono::milliseconds longest_wait{60'000};  ///< a server that asks for a longer pause is a failure
    std::chrono::seconds connect_limit{20};
    std::chrono::seconds silence_limit{60};  ///< a transfer below 1 kB/s for so long is given up
    const Cancellation* cancellation = nullptr;
    /// What is to be done about a certificate that cannot be verified.
    std::string ca_advice = "name the site's certificates by --ca-bundle FILE";
};

/// Bytes `first` to `last`, both counted; without `first` the last `last` bytes.
struct HttpRange {
    std::optional<std::uint64_t> first;
    std::uint64_t last = 0;
};

enum class HttpMethod { get, head, post };

struct HttpRequest {
    std::string url;
    std::string accept = {};              ///< empty: anything
    std::optional<HttpRange> range = {};  ///< with it, an answer that is not 206 is returned without its body
    std::uint64_t limit = 64u << 20;      ///< bytes of the body; more is a failure
    HttpMethod method = HttpMethod::get;
    /// The header "Authorization", for the request's own host only ("": none), instead of credentials looked
    /// up.
    std::optional<std::string> authorization = {};
    std::string form = {};    ///< of a POST: what it sends, as application/x-www-form-urlencoded
    bool error_body = false;  ///< keep the first 64 KiB of the body of a status from 400 on
    bool as_stored = false;   ///< ask for the bytes as they are, not compressed on the way
    ByteSink sink = nullptr;  ///< takes the body of a success instead of HttpResponse::body; without `range`
    std::string etag = {};    ///< of a copy that is there already: where it still holds, the answer is 304
};

struct HttpResponse {
    long status = 0;
    std::string url;                             ///< after redirects, without credentials
    std::map<std::string, std::string> headers;  ///< of the last answer; names in lower case
    std::string body;

    [[nodiscard]] std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? "" : found->second;
    }
};

/// Shared by all threads of a command; each of them talks through an HttpConnection of its own.
class Http {
  public:
    /// Loads libcurl; see Curl::load for the failure.
    [[nodiscard]] static Result<std::unique_ptr<Http>> open(HttpOptions options);
    Http(const Http&) = delete;
    Http& operator=(const Http&) = delete;

    /// Bytes that came over the network so far, with headers, before decompression.
    [[nodiscard]] std::uint64_t transferred() const { return transferred_; }
    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    [[nodiscard]] const HttpOptions& options() const { return options_; }

  private:
    friend class HttpConnection;
    Http(HttpOptions options, std::shared_ptr<const Curl> curl)
        : options_(std::move(options)), curl_(std::move(curl)) {}

    /// Credentials in the URL are remembered for its host and port, as pip does, and taken out of it.
    [[nodiscard]] std::string credentials_for(const url::Parts& parts);

    HttpOptions options_;
    std::shared_ptr<const Curl> curl_;
    std::mutex mutex_;
    std::map<std::string, std::string> credentials_;  ///< origin -> "user:password"
    std::atomic<std::uint64_t> transferred_{0};
    std::atomic<std::uint64_t> requests_{0};
};

/// One connection that is kept alive between requests. Of one thread at a time.
class HttpConnection {
  public:
    explicit HttpConnection(Http& http);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    /// The answer, whatever its status. Lost connections, time-outs and statuses of a busy server are
    /// retried, with growing pauses or the one that the server asks for; then they are environment failures.
    /// Messages show URLs without credentials and query. A `sink` gets each byte once; its own failure is
    /// returned as it is.
    [[nodiscard]] Result<HttpResponse> get(const HttpRequest& request);

    [[nodiscard]] Http& http() { return http_; }
    /// The status of the last answer that came; 0: none did.
    [[nodiscard]] long last_status() const { return last_status_; }

  private:
    struct Attempt;
    [[nodiscard]] Attempt attempt(const HttpRequest& request, const url::Parts& target,
                                  std::uint64_t delivered);

    Http& http_;
    void* handle_ = nullptr;
    long last_status_ = 0;
};

/// What a status that is no success means for the user: "not found (404)", "needs credentials (401)".
[[nodiscard]] std::string describe_status(long status);

}  // namespace cudamatrix
