#include "registry/http.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/number.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLeastAhead = 32u << 10;
constexpr std::uint64_t kMostAhead = 4u << 20;

struct ContentRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t total = 0;
};

constexpr auto number = text::whole_number<std::uint64_t>;

// "bytes 0-99/1234" (RFC 9110, 14.4); an unknown total ("*") is of no use here.
std::optional<ContentRange> parse_content_range(std::string_view text) {
    if (!text::lower(text).starts_with("bytes ")) return std::nullopt;
    text = text::trim(text.substr(6));
    const auto dash = text.find('-');
    const auto slash = text.find('/');
    if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash)
        return std::nullopt;
    const auto first = number(text.substr(0, dash));
    const auto last = number(text.substr(dash + 1, slash - dash - 1));
    const auto total = number(text.substr(slash + 1));
    if (!first || !last || !total || *first > *last || *last >= *total) return std::nullopt;
    return ContentRange{*first, *last, *total};
}

Failure source_failure(const std::string& url, std::string_view why, std::string fix = {}) {
    return environment_failure(fmt::format("{}: {}", url::shown(url), why), std::move(fix));
}

constexpr const char* kOtherIndex =
    "name an index or a mirror whose files can be read in parts (--index URL)";

Failure lying(const std::string& url, std::string_view what) {
    return source_failure(url, fmt::format("the server lies about ranges: {}", what), kOtherIndex);
}

// What an answer says it holds.
Result<ContentRange> range_of(const HttpResponse& response, const std::string& url) {
    const auto header = response.header("content-range");
    if (const auto range = parse_content_range(header)) return *range;
    return lying(url, header.empty() ? "its answer does not say which bytes it holds"
                                     : fmt::format("'{}' is not a range", text::printable(header)));
}

}  // namespace

Result<HttpResponse> HttpSource::ask(const HttpRange& range, std::uint64_t limit) {
    const HttpRequest request{final_url_.empty() ? url_ : final_url_, {}, range, limit};
    auto response = connection_.get(request);
    // The target of a redirect may be signed for a while only: then the first address gives another.
    if (response.ok() && !final_url_.empty() && final_url_ != url_ && response->status >= 400 &&
        response->status < 500) {
        final_url_.clear();
        response = connection_.get({url_, {}, range, limit});
    }
    if (!response.ok()) return response;
    if (response->status == 200)
        return source_failure(
            url_,
            "the server does not answer range requests, and the whole file is not downloaded "
            "to read parts of it",
            kOtherIndex);
    // 416 to the first request: an empty file, or ranges from the end are not known.
    if (response->status != 206) return source_failure(url_, describe_status(response->status));
    transferred_ += response->body.size();
    final_url_ = response->url;
    return response;
}

// The window of an answer that says exactly what was asked for, of the file that it was before.
Result<HttpSource::Window> HttpSource::checked(HttpResponse response, std::uint64_t first,
                                               std::uint64_t last) {
    CM_TRY_ASSIGN(const auto range, range_of(response, url_));
    if (range.total != size_ || response.header("etag") != etag_)
        return source_failure(url_, "the file changed while it was read", "start again");
    if (range.first != first || range.last != last)
        return lying(url_, fmt::format("asked for bytes {} to {}, it gave {} to {}", first, last, range.first,
                                       range.last));
    if (response.body.size() != last - first + 1)
        return lying(url_, fmt::format("its answer has {} bytes instead of {}", response.body.size(),
                                       last - first + 1));
    return Window{first, std::move(response.body)};
}

Result<std::unique_ptr<HttpSource>> HttpSource::open(HttpConnection& connection, std::string url,
                                                     std::uint64_t tail) {
    std::unique_ptr<HttpSource> source(new HttpSource(connection, std::move(url)));
    source->ahead_ = kLeastAhead;
    CM_TRY_ASSIGN(auto response, source->ask({std::nullopt, tail}, tail));
    CM_TRY_ASSIGN(const auto range, range_of(response, source->url_));
    source->size_ = range.total;
    source->etag_ = response.header("etag");
    CM_TRY_ASSIGN(source->tail_, source->checked(std::move(response),
                                                 range.total - std::min(range.total, tail), range.total - 1));
    return source;
}

Status HttpSource::fetch(std::uint64_t offset, std::uint64_t wanted) {
    // Reading on from where the last window ended: the next one may be larger.
    const bool goes_on = !last_.bytes.empty() && offset == last_.end();
    ahead_ = goes_on ? std::min(ahead_ * 2, kMostAhead) : kLeastAhead;
    auto end = std::min(size_, offset + std::max(wanted, ahead_));
    if (offset < tail_.offset)
        end = std::min(end, tail_.offset);  // what is there already is not asked for again
    last_ = {};                             // before the next one comes: both would be in memory
    CM_TRY_ASSIGN(auto response, ask({offset, end - 1}, end - offset));
    CM_TRY_ASSIGN(last_, checked(std::move(response), offset, end - 1));
    return Done{};
}

Status HttpSource::read(std::uint64_t offset, std::span<std::uint8_t> into) {
    if (offset > size_ || into.size() > size_ - offset)
        return input_failure(fmt::format("{}: bytes {} to {} are past its end at {}", url::shown(url_),
                                         offset, offset + into.size(), size_));
    while (!into.empty()) {
        const auto holds = [&](const Window& window) {
            return offset >= window.offset && offset < window.end();
        };
        if (!holds(tail_) && !holds(last_)) {
            CM_TRY(fetch(offset, into.size()));
        }
        const auto& window = holds(tail_) ? tail_ : last_;
        const auto at = static_cast<std::size_t>(offset - window.offset);
        const auto size = std::min(into.size(), window.bytes.size() - at);
        std::memcpy(into.data(), window.bytes.data() + at, size);
        into = into.subspan(size);
        offset += size;
    }
    return Done{};
}

}  // namespace cudamatrix
