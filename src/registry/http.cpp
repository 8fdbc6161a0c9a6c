#include "registry/http.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <thread>

#include "base/text.hpp"
#include "registry/curl.hpp"

namespace cudamatrix {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kErrorBody = 64u << 10;
constexpr std::size_t kLongestError = 1u << 20;  // read of the page of an error or a redirect
constexpr std::size_t kLargestHeaders = 256u << 10;
constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

// Of "bytes 100-199/200".
std::uint64_t first_byte(std::string_view content_range) {
    std::uint64_t first = 0;
    const auto numbers = content_range.substr(std::min(content_range.find(' ') + 1, content_range.size()));
    const auto [end, error] = std::from_chars(numbers.data(), numbers.data() + numbers.size(), first);
    return error == std::errc() && end != numbers.data() ? first : kUnknown;
}

bool worth_another_try(long status) {
    constexpr std::array<long, 6> statuses{408, 429, 500, 502, 503, 504};
    return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

bool worth_another_try(CURLcode code) {
    constexpr std::array codes{
        CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_PARTIAL_FILE, CURLE_OPERATION_TIMEDOUT,
        CURLE_GOT_NOTHING,     CURLE_SEND_ERROR,           CURLE_RECV_ERROR,   CURLE_HTTP2,
        CURLE_HTTP2_STREAM,    CURLE_SSL_CONNECT_ERROR};
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// Sleeps in short steps, so that Ctrl-C is heard; false when it was.
bool pause(milliseconds length, const Cancellation* cancellation) {
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
        if (cancellation != nullptr && cancellation->requested()) return false;
        std::this_thread::sleep_for(std::min(milliseconds(50), length));
    }
    return cancellation == nullptr || !cancellation->requested();
}

std::string range_text(const HttpRange& range) {
    return range.first ? fmt::format("{}-{}", *range.first, range.last) : fmt::format("-{}", range.last);
}

std::string hint_for(CURLcode code, const std::string& ca_advice) {
    switch (code) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT:
            return "name a mirror that can be reached, or set https_proxy";
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
            return ca_advice;
        default:
            return {};
    }
}

}  // namespace

std::string describe_status(long status) {
    static constexpr std::pair<long, std::string_view> known[] = {
        {401, "it needs credentials (401): put them into ~/.netrc or into the URL of the index"},
        {403, "it is forbidden (403)"},
        {404, "there is no such page (404)"},
        {407, "the proxy needs credentials (407)"},
        {410, "it is gone (410)"},
        {429, "too many requests (429)"}};
    for (const auto& [code, words] : known) {
        if (code == status) return std::string(words);
    }
    return fmt::format("the server answered {}", status);
}

/// What one try gave, and where libcurl's callbacks put it.
struct HttpConnection::Attempt {
    CURLcode code = CURLE_OK;
    HttpResponse response;
    std::string error;
    milliseconds asked_to_wait{0};
    bool too_large = false;
    bool body_unwanted = false;
    std::size_t of_error = 0;  ///< bytes of the page of an error
    std::size_t of_headers = 0;
    bool is_redirect = false;
    std::optional<Failure> refused;  ///< by the sink
    std::uint64_t delivered = 0;     ///< bytes that the sink has, those of earlier attempts counted
    std::uint64_t position = 0;      ///< of the next byte of the body, for the sink
    Http& http;
    const Curl& curl;
    void* handle;
    const HttpRequest& request;
    std::array<char, CURL_ERROR_SIZE> message{};
    curl_slist* request_headers = nullptr;

    Attempt(Http& shared, void* connection, const HttpRequest& asked, std::uint64_t before)
        : delivered(before), http(shared), curl(*shared.curl_), handle(connection), request(asked) {}

    template <class T>
    void set(CURLoption option, T value) {
        curl.easy_setopt(handle, option, value);
    }
    void set(CURLoption option, const std::string& value) {
        curl.easy_setopt(handle, option, value.c_str());  // libcurl copies texts
    }
    void add_header(const std::string& line) {
        request_headers = curl.slist_append(request_headers, line.c_str());
    }
    void set_options(const url::Parts& target);
    void set_method();
    void set_site_options(const url::Parts& target);
    void set_credentials(const url::Parts& target);

    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
        auto& attempt = *static_cast<Attempt*>(self);
        long status = 0;
        attempt.curl.easy_getinfo(attempt.handle, CURLINFO_RESPONSE_CODE, &status);
        const auto& request = attempt.request;
        auto& body = attempt.response.body;
        if (status >= 400) {  // most pages of errors are of no use here
            if (request.error_body) body.append(data, std::min(size * count, kErrorBody - body.size()));
            attempt.of_error += size * count;
            return attempt.of_error > kLongestError ? 0 : size * count;
        }
        if (request.range) {
            // 200 to a request for a range starts the whole file: 800 MB that nobody asked for.
            if (status != 206 && status < 300) {
                attempt.body_unwanted = true;
                return 0;
            }
        }
        if (request.sink && status < 300) return attempt.pass_on({data, size * count});
        if (size * count > request.limit - body.size()) {
            attempt.too_large = true;
            return 0;
        }
        // A range has the size that was asked for: growing by doubling would hold three times that.
        if (request.range) body.reserve(static_cast<std::size_t>(request.limit));
        body.append(data, size * count);
        return size * count;
    }
    // To the sink, without what it has from an earlier attempt; gives the bytes that were taken.
    std::size_t pass_on(std::string_view bytes) {
        const auto size = bytes.size();
        if (position > delivered) {
            refused = environment_failure("the server went on with another part than it was asked for");
            return 0;
        }
        if (position + size > request.limit) {
            too_large = true;
            return 0;
        }
        const auto known = std::min<std::uint64_t>(delivered - std::min(delivered, position), size);
        position += size;
        bytes.remove_prefix(static_cast<std::size_t>(known));
        if (bytes.empty()) return size;
        const auto taken = request.sink({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        if (!taken.ok()) {
            refused = taken.failure();
            return 0;
        }
        delivered += bytes.size();
        return size;
    }
    static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
        auto& attempt = *static_cast<Attempt*>(self);
        const std::string_view line(data, size * count);
        attempt.of_headers += line.size();
        if (attempt.of_headers > kLargestHeaders) return 0;
        if (line.starts_with("HTTP/")) {  // each answer of a chain of redirects starts anew
            attempt.is_redirect = line.find(" 3") == line.find(' ');
            attempt.response.headers.clear();
            attempt.response.body.clear();
            // Which part it is says its Content-Range.
            attempt.position = line.find(" 206") == std::string_view::npos ? 0 : kUnknown;
        }
        const auto colon = line.find(':');
        if (colon != std::string_view::npos && attempt.response.headers.size() < 200) {
            const auto name = text::lower(text::trim(line.substr(0, colon)));
            auto& value = attempt.response.headers[name];
            if (name == "content-range") attempt.position = first_byte(text::trim(line.substr(colon + 1)));
            // Lists that may come in several lines; of other headers the last one counts.
            const bool listed = (name == "www-authenticate" || name == "link") && !value.empty();
            value = (listed ? value + ", " : std::string()).append(text::trim(line.substr(colon + 1)));
        }
        return size * count;
    }
    static int on_progress(void* self, curl_off_t, curl_off_t now, curl_off_t, curl_off_t) {
        auto& attempt = *static_cast<Attempt*>(self);
        // The body of a redirect is given to nobody, and may have no end.
        if (attempt.is_redirect && static_cast<std::size_t>(now) > kLongestError) {
            attempt.too_large = true;
            return 1;
        }
        const auto* cancellation = attempt.http.options_.cancellation;
        return cancellation != nullptr && cancellation->requested() ? 1 : 0;
    }
};

Result<std::unique_ptr<Http>> Http::open(HttpOptions options) {
    CM_TRY_ASSIGN(auto curl, Curl::load());
    return std::unique_ptr<Http>(new Http(std::move(options), std::move(curl)));
}

std::string Http::credentials_for(const url::Parts& parts) {
    const std::lock_guard lock(mutex_);
    if (!parts.user_info.empty()) {
        const auto plain = text::percent_decoded(parts.user_info);
        credentials_[parts.origin()] = plain ? *plain : parts.user_info;
    }
    const auto found = credentials_.find(parts.origin());
    return found == credentials_.end() ? "" : found->second;
}

HttpConnection::HttpConnection(Http& http) : http_(http), handle_(http.curl_->easy_init()) {}

HttpConnection::~HttpConnection() {
    if (handle_ != nullptr) http_.curl_->easy_cleanup(handle_);
}

void HttpConnection::Attempt::set_site_options(const url::Parts& target) {
    const auto& environment = http.options_.environment;
    // Always set: libcurl would read this process' environment, which only main does here.
    set(CURLOPT_PROXY, target.scheme == "https"
                           ? value_of(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                           : value_of(environment, {"http_proxy", "all_proxy", "ALL_PROXY"}));
    set(CURLOPT_NOPROXY, value_of(environment, {"no_proxy", "NO_PROXY"}));
    auto bundle = http.options_.ca_bundle;
    if (bundle.empty())
        bundle = value_of(environment, {"PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"});
    if (bundle.empty() && kCurlIsLinked) bundle = system_ca_bundle("/");
    if (!bundle.empty()) set(CURLOPT_CAINFO, bundle);
}

void HttpConnection::Attempt::set_credentials(const url::Parts& target) {
    const auto& environment = http.options_.environment;
    if (request.authorization) {
        // libcurl keeps a header of this name from other hosts and ports that redirects lead to.
        if (!request.authorization->empty()) add_header("Authorization: " + *request.authorization);
        return;
    }
    const auto credentials = http.credentials_for(target);
    if (!credentials.empty()) {
        const auto colon = credentials.find(':');
        set(CURLOPT_USERNAME, credentials.substr(0, colon));
        set(CURLOPT_PASSWORD, colon == std::string::npos ? "" : credentials.substr(colon + 1));
        set(CURLOPT_HTTPAUTH, long{CURLAUTH_BASIC});
        return;
    }
    auto netrc = value_of(environment, {"NETRC"});
    const auto home = value_of(environment, {"HOME"});
    if (netrc.empty() && !home.empty()) netrc = home + "/.netrc";
    if (netrc.empty()) return;
    set(CURLOPT_NETRC_FILE, netrc);
    set(CURLOPT_NETRC, long{CURL_NETRC_OPTIONAL});
}

void HttpConnection::Attempt::set_options(const url::Parts& target) {
    const auto& options = http.options_;
    curl.easy_reset(handle);  // keeps connections and their TLS sessions
    set(CURLOPT_URL, target.text());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, target.scheme == "https" ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(options.connect_limit.count()));
    set(CURLOPT_LOW_SPEED_LIMIT, 1024L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.silence_limit.count()));
    set(CURLOPT_USERAGENT, "cudamatrix");
    set(CURLOPT_ERRORBUFFER, message.data());
    set(CURLOPT_WRITEFUNCTION, &Attempt::on_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_HEADERFUNCTION, &Attempt::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Attempt::on_progress);
    set(CURLOPT_XFERINFODATA, this);
    set_method();
    if (!request.accept.empty()) add_header("Accept: " + request.accept);
    if (!request.etag.empty()) add_header("If-None-Match: " + request.etag);
    set_site_options(target);
    set_credentials(target);
    if (request_headers != nullptr) set(CURLOPT_HTTPHEADER, request_headers);
}

void HttpConnection::Attempt::set_method() {
    if (request.range) {
        set(CURLOPT_RANGE, range_text(*request.range));
    } else if (delivered > 0) {
        set(CURLOPT_RANGE, fmt::format("{}-", delivered));
    } else if (!request.as_stored && !request.sink) {
        set(CURLOPT_ACCEPT_ENCODING, "gzip");  // index pages shrink tenfold
    }
    if (request.method == HttpMethod::head) set(CURLOPT_NOBODY, 1L);
    if (request.method == HttpMethod::post) {
        set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request.form.size()));
        set(CURLOPT_COPYPOSTFIELDS, request.form);
    }
}

HttpConnection::Attempt HttpConnection::attempt(const HttpRequest& request, const url::Parts& target,
                                                std::uint64_t delivered) {
    const auto& curl = *http_.curl_;
    Attempt attempt(http_, handle_, request, delivered);
    attempt.set_options(target);
    attempt.code = curl.easy_perform(handle_);
    curl.slist_free_all(attempt.request_headers);

    curl_off_t body = 0;
    curl_off_t wait = 0;
    long headers = 0;
    const char* url = nullptr;
    curl.easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &attempt.response.status);
    curl.easy_getinfo(handle_, CURLINFO_SIZE_DOWNLOAD_T, &body);
    curl.easy_getinfo(handle_, CURLINFO_HEADER_SIZE, &headers);
    curl.easy_getinfo(handle_, CURLINFO_RETRY_AFTER, &wait);
    curl.easy_getinfo(handle_, CURLINFO_EFFECTIVE_URL, &url);
    attempt.asked_to_wait = std::chrono::seconds(wait);
    if (const auto parts = url::parse(url == nullptr ? "" : url)) attempt.response.url = parts->text();
    last_status_ = attempt.response.status;
    http_.transferred_ += static_cast<std::uint64_t>(body + headers);
    ++http_.requests_;
    if (attempt.of_error > kLongestError) attempt.code = CURLE_OK;  // its status says enough
    if (attempt.body_unwanted) {
        attempt.code = CURLE_OK;
        attempt.response.body.clear();
    }
    attempt.error =
        attempt.message.front() != '\0' ? attempt.message.data() : curl.easy_strerror(attempt.code);
    curl.easy_reset(handle_);  // it must not know `attempt` any longer
    return attempt;
}

Result<HttpResponse> HttpConnection::get(const HttpRequest& request) {
    const auto& options = http_.options_;
    const auto address = mirrored(request.url, options.mirrors);
    const auto target = url::parse(address);
    if (!target) {
        const bool secret = request.url.find('@') != std::string::npos;
        return input_failure("not an http or https URL: " +
                             (secret ? "(it holds a user name)" : text::printable(request.url)));
    }
    if (handle_ == nullptr) return environment_failure("libcurl gives no connection");
    const auto name = url::shown(address);
    const auto cancelled = [&] {
        return Failure{ExitCode::interrupted, {Diagnostic::error(fmt::format("{}: interrupted", name))}};
    };
    std::uint64_t delivered = 0;
    for (unsigned tries = 1;; ++tries) {
        auto got = attempt(request, *target, delivered);
        delivered = got.delivered;
        if (got.refused) return std::move(*got.refused);
        if (got.too_large) {
            const auto limit = got.is_redirect ? kLongestError : request.limit;
            return environment_failure(
                fmt::format("{}: the answer is larger than {}", name, text::human_bytes(limit)));
        }
        if (got.of_headers > kLargestHeaders)
            return environment_failure(
                fmt::format("{}: its headers are larger than {}", name, text::human_bytes(kLargestHeaders)));
        if (got.code == CURLE_ABORTED_BY_CALLBACK) return cancelled();
        const bool came = got.code == CURLE_OK;
        const bool again = came ? worth_another_try(got.response.status) : worth_another_try(got.code);
        if (came && !again) return std::move(got.response);
        const auto why = came ? describe_status(got.response.status) : text::printable(got.error);
        auto wait = options.back_off * (1u << std::min(tries - 1, 10u));
        if (got.asked_to_wait > wait) wait = got.asked_to_wait;
        if (!again)
            return environment_failure(fmt::format("{}: {}", name, why),
                                       hint_for(got.code, options.ca_advice));
        if (tries >= options.attempts) {
            const auto times = tries == 1 ? "" : fmt::format(" ({})", text::count(tries, "attempt"));
            return environment_failure(fmt::format("{}: {}{}", name, why, times),
                                       hint_for(got.code, options.ca_advice));
        }
        if (wait > options.longest_wait)
            return environment_failure(
                fmt::format("{}: {}, and it asks for a pause of {} s", name, why,
                            std::chrono::duration_cast<std::chrono::seconds>(wait).count()),
                "start again later: what is measured already is kept");
        if (!pause(wait, options.cancellation)) return cancelled();
    }
}

}  // namespace cudamatrix
