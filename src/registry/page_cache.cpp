#include "registry/page_cache.hpp"

#include <optional>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "registry/url.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestPage = 64U << 20;
constexpr std::uint64_t kLargestHead = 1U << 16;

// What was kept, where it is whole and was kept for the same request.
std::optional<HttpResponse> kept(const std::filesystem::path& head, const std::filesystem::path& body,
                                 const std::string& asked, const HttpRequest& request) {
    std::error_code error;
    if (!std::filesystem::exists(head, error) || !std::filesystem::exists(body, error)) return std::nullopt;
    const auto text = file::read(head, kLargestHead);
    auto bytes = file::read(body, kLargestPage);
    if (!text.ok() || !bytes.ok()) return std::nullopt;
    const auto json = parse_json(*text, head.string());
    if (!json.ok() || !json->is_object() || string_or(*json, "asked") != asked ||
        string_or(*json, "accept") != request.accept || string_or(*json, "etag").empty() ||
        string_or(*json, "sha256") != sha256(*bytes))
        return std::nullopt;
    HttpResponse response;
    response.status = 200;
    response.url = string_or(*json, "url");
    response.headers["etag"] = string_or(*json, "etag");
    response.headers["content-type"] = string_or(*json, "content-type");
    response.body = std::move(bytes).value();
    return response;
}

}  // namespace

Result<HttpResponse> PageCache::get(HttpConnection& connection, HttpRequest request) const {
    // Names the page on the disk: user names and passwords are never written, not even into a hash.
    const auto parts = url::parse(request.url);
    const auto asked = parts ? parts->text() : std::string();
    const auto head = folder_ / (sha256(asked) + ".json");
    const auto body = folder_ / (sha256(asked) + ".body");
    auto before = kept(head, body, asked, request);
    if (before) request.etag = before->header("etag");
    auto response = connection.get(request);
    if (!response.ok()) return response;
    if (before && response->status == 304) return std::move(*before);
    const auto etag = response->header("etag");
    if (response->status != 200 || etag.empty() || text::invalid_utf8(etag)) return response;
    CM_TRY(file::make_directories(folder_));
    const Json known{{"asked", asked},
                     {"accept", request.accept},
                     {"url", response->url},
                     {"etag", etag},
                     {"content-type", response->header("content-type")},
                     {"sha256", sha256(response->body)}};
    // The bytes first: a head that came before them would belong to the old ones.
    CM_TRY(file::write(body, response->body));
    CM_TRY(file::write(head, to_text(known)));
    return response;
}

}  // namespace cudamatrix
