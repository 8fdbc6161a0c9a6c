// HTTP for wheel indexes and image registries: ranges, redirects, retries, the site's CA bundle, proxies and
// credentials; its URLs, and a file behind range requests as a source of bytes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"
#include "base/image_reference.hpp"
#include "base/process.hpp"

/// URLs of indexes and wheels: taken apart, joined, and shown without what is secret in them.
namespace cudamatrix::url {

/// An http or https URL.
struct Parts {
    std::string scheme;     ///< lower case
    std::string user_info;  ///< "user:password", as it was written; may be empty
    std::string authority;  ///< host and port, lower case
    std::string path;       ///< starts with '/', with query and without fragment
    std::string fragment;   ///< without '#'

    /// "https://host:port": what credentials belong to.
    [[nodiscard]] std::string origin() const { return scheme + "://" + authority; }
    /// Without user and fragment.
    [[nodiscard]] std::string text() const { return origin() + path; }
    /// Without fragment.
    [[nodiscard]] std::string with_user() const {
        return scheme + "://" + (user_info.empty() ? "" : user_info + "@") + authority + path;
    }
};

/// Nothing for another scheme, a missing host, blanks or control characters.
[[nodiscard]] std::optional<Parts> parse(std::string_view text);

/// `reference` of a page at `base` as an absolute URL (RFC 3986, 5.2); nothing where that is no http(s) URL.
[[nodiscard]] std::optional<std::string> join(std::string_view base, std::string_view reference);

/// Fit for messages: without user, password, query and fragment (all of which can be secret).
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace cudamatrix::url

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

/// The file of certificates that the system below `root` trusts, where its distribution keeps it; empty:
/// there is none. A libcurl that is part of this program knows no such place.
[[nodiscard]] std::string system_ca_bundle(const std::filesystem::path& root);

/// What a status that is no success means for the user: "not found (404)", "needs credentials (401)".
[[nodiscard]] std::string describe_status(long status);

/// Reads ahead: little where reading jumps, up to 4 MiB at once where it goes on. Of one thread at a time.
class HttpSource final : public ByteSource {
  public:
    /// Asks for the last `tail` bytes, which tells the size as well (of a zip they are the directory).
    /// Environment failures: those of `connection`, which has to outlive the source, another status, a server
    /// that ignores ranges.
    [[nodiscard]] static Result<std::unique_ptr<HttpSource>> open(HttpConnection& connection, std::string url,
                                                                  std::uint64_t tail = 128 * 1024);

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    /// Also fails for another range than the asked one, a file that changed (by size or ETag), a short
    /// answer.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::uint8_t> into) override;

    /// Bytes of the file that came over the network for this source.
    [[nodiscard]] std::uint64_t transferred() const { return transferred_; }

  private:
    struct Window {
        std::uint64_t offset = 0;
        std::string bytes;
        [[nodiscard]] std::uint64_t end() const { return offset + bytes.size(); }
    };

    HttpSource(HttpConnection& connection, std::string url) : connection_(connection), url_(std::move(url)) {}
    [[nodiscard]] Result<HttpResponse> ask(const HttpRange& range, std::uint64_t limit);
    [[nodiscard]] Result<Window> checked(HttpResponse response, std::uint64_t first, std::uint64_t last);
    [[nodiscard]] Status fetch(std::uint64_t offset, std::uint64_t wanted);

    HttpConnection& connection_;
    std::string url_;
    std::string final_url_;  ///< where the redirects of the first request ended
    std::string etag_;
    std::uint64_t size_ = 0;
    std::uint64_t ahead_ = 0;
    std::uint64_t transferred_ = 0;
    Window tail_;
    Window last_;
};

}  // namespace cudamatrix
