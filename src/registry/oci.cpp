#include "registry/oci.hpp"

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestManifest = 4u << 20;  // what registries take, by the specification
constexpr std::uint64_t kLargestConfig = 16u << 20;
constexpr std::uint64_t kLargestPage = 64u << 20;
constexpr std::size_t kMostTags = 1'000'000;
constexpr std::string_view kManifests =
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";

std::string address(const ImagePlace& place, std::string_view kind, std::string_view what) {
    return fmt::format("{}/v2/{}/{}/{}", place.origin(), place.reference.path, kind, what);
}

std::string address_of_tag(const ImagePlace& place) {
    return address(place, "manifests", place.reference.tag.empty() ? kLatestTag : place.reference.tag);
}

std::string digest_of(std::string_view bytes) {
    return "sha256:" + sha256(bytes);
}

Failure lying(const ImagePlace& place, std::string_view said, std::string_view found) {
    return environment_failure(
        fmt::format("{}: the registry {} says that this is {}, but what it gives is {}",
                    place.reference.text(), place.reference.host, text::printable(said.substr(0, 100)),
                    found),
        "do not use it: something on the way changes what is transferred");
}

// "manifest unknown", "name unknown": the code of the registry's error document, in its words.
std::string reason_of(const HttpResponse& response, std::string_view none = {}) {
    const auto json = parse_json(response.body, "error");
    const auto* errors = json.ok() ? member(*json, "errors") : nullptr;
    const bool any = errors != nullptr && errors->is_array() && !errors->empty();
    const auto code = any ? string_or(errors->front(), "code").substr(0, 60) : std::string();
    return code.empty() ? std::string(none) : text::replace_all(text::lower(text::printable(code)), "_", " ");
}

Failure unexpected(const ImagePlace& place, const HttpResponse& response) {
    const auto reason = reason_of(response);
    return environment_failure(fmt::format("{}: the registry {} answers {}{}", place.reference.text(),
                                           place.reference.host, response.status,
                                           reason.empty() ? "" : ": " + reason));
}

// The target of `</v2/...>; rel="next"`; nothing on the last page.
std::optional<std::string> next_page(std::string_view link) {
    const auto open = link.find('<');
    const auto close = link.find('>', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
    const auto rest = text::replace_all(text::lower(link.substr(close + 1)), "\"", "");
    if (rest.find("rel=next") == std::string::npos) return std::nullopt;
    return std::string(link.substr(open + 1, close - open - 1));
}

}  // namespace

/// A manifest, or the registry's word for why there is none.
struct OciClient::Answer {
    std::optional<OciManifest> manifest;
    std::string missing;
};

Result<ImagePlace> OciClient::place(const ImageReference& reference) {
    return place_of(reference, connection_.http().options().mirrors);
}

Result<CredentialSearch> OciClient::credentials(const ImagePlace& place) {
    const auto name = place.reference.name();
    if (const auto known = credentials_.find(name); known != credentials_.end()) return known->second;
    const auto& options = connection_.http().options();
    auto found = find_credentials(place.reference.host, place.reference.path, options.environment,
                                  options.cancellation);
    if (found.ok()) credentials_[name] = *found;
    return found;
}

// Asks with the token of an earlier answer; one that the registry takes no longer is renewed once.
Result<HttpResponse> OciClient::ask(const ImagePlace& place, const HttpRequest& wanted) {
    const auto name = place.reference.name();
    auto request = wanted;
    request.error_body = true;
    request.as_stored = true;
    for (bool renewed = false;; renewed = true) {
        request.authorization = authorizations_[name];
        auto response = connection_.get(request);
        if (!response.ok()) {
            auto failure = std::move(response).failure();
            if (connection_.last_status() == 429)
                failure.diagnostics.front().fix = "start again later, name a mirror (mirrors: {" +
                                                  place.reference.host +
                                                  ": HOST/PATH}), or log in: known users may ask more often";
            return failure;
        }
        if (response->status != 401 && response->status != 403) return response;
        CM_TRY_ASSIGN(const auto search, credentials(place));
        if (response->status == 403 || renewed) {
            const auto reason = reason_of(*response);
            return unauthorized(place,
                                fmt::format("the registry answers {}{}", response->status,
                                            reason.empty() ? "" : " (" + reason + ")"),
                                search);
        }
        CM_TRY_ASSIGN(authorizations_[name],
                      authorize(connection_, place, response->header("www-authenticate"), search));
    }
}

Result<std::optional<std::string>> OciClient::digest_of_tag(const ImageReference& reference) {
    CM_TRY_ASSIGN(const auto place, this->place(reference));
    CM_TRY_ASSIGN(const auto response, ask(place, {.url = address_of_tag(place),
                                                   .accept = std::string(kManifests),
                                                   .method = HttpMethod::head}));
    if (response.status == 404) return std::optional<std::string>();
    const auto digest = response.header("docker-content-digest");
    if (response.status != 200 || !is_image_digest(digest)) {
        CM_TRY_ASSIGN(const auto manifest, find(reference));
        return manifest ? std::optional(manifest->digest) : std::nullopt;
    }
    return std::optional<std::string>(digest);
}

Result<OciClient::Answer> OciClient::read_manifest(const ImageReference& reference) {
    CM_TRY_ASSIGN(const auto place, this->place(reference));
    auto wanted = reference.digest;
    HttpRequest request{
        .url = address_of_tag(place), .accept = std::string(kManifests), .limit = kLargestManifest};
    if (wanted.empty()) {
        // The tag may move between two requests: what HEAD names is what is read. A registry that answers
        // no HEAD, or none with a digest, is asked by the tag.
        request.method = HttpMethod::head;
        CM_TRY_ASSIGN(const auto head, ask(place, request));
        const auto said = head.header("docker-content-digest");
        if (head.status == 200 && is_image_digest(said)) wanted = said;
        request.method = HttpMethod::get;
    }
    if (!wanted.empty()) request.url = address(place, "manifests", wanted);
    CM_TRY_ASSIGN(const auto response, ask(place, request));
    if (response.status == 404) return Answer{std::nullopt, reason_of(response, "not found")};
    if (response.status != 200) return unexpected(place, response);
    const auto digest = digest_of(response.body);
    const auto said = response.header("docker-content-digest");
    if (!wanted.empty() && digest != wanted) return lying(place, wanted, digest);
    if (!said.empty() && said != digest) return lying(place, said, digest);
    CM_TRY_ASSIGN(auto manifest, parse_manifest(response.body, digest, place.reference.text()));
    if (manifest.media_type.empty()) manifest.media_type = response.header("content-type");
    return Answer{std::move(manifest), {}};
}

Result<std::optional<OciManifest>> OciClient::find(const ImageReference& reference) {
    CM_TRY_ASSIGN(auto answer, read_manifest(reference));
    return std::move(answer.manifest);
}

Result<OciManifest> OciClient::manifest(const ImageReference& reference) {
    CM_TRY_ASSIGN(auto answer, read_manifest(reference));
    if (!answer.manifest) {
        const auto place = this->place(reference);
        const auto host = place.ok() ? place->reference.host : reference.host;
        return input_failure(
            fmt::format("{}: the registry {} has no such image: {}", reference.text(), host, answer.missing),
            "check the name and the tag");
    }
    return std::move(*answer.manifest);
}

Result<OciManifest> OciClient::for_architecture(const ImageReference& reference, const OciManifest& manifest,
                                                std::string_view architecture) {
    if (!manifest.is_index()) return manifest;
    CM_TRY_ASSIGN(const auto image, image_in_index(manifest, reference.text(), architecture));
    auto one = reference;
    one.digest = image.digest;
    return this->manifest(one);
}

Result<std::string> OciClient::blob(const ImageReference& reference, const OciDescriptor& what,
                                    std::uint64_t limit) {
    CM_TRY_ASSIGN(const auto place, this->place(reference));
    CM_TRY_ASSIGN(auto response, ask(place, {.url = address(place, "blobs", what.digest), .limit = limit}));
    if (response.status != 200) return unexpected(place, response);
    const auto digest = digest_of(response.body);
    if (digest != what.digest) return lying(place, what.digest, digest);
    return std::move(response.body);
}

Result<OciConfig> OciClient::config(const ImageReference& reference, const OciManifest& image) {
    if (image.is_index())
        return input_failure(reference.text() + ": an index has no configuration of its own");
    CM_TRY_ASSIGN(const auto bytes, blob(reference, image.config, kLargestConfig));
    return parse_image_config(bytes, reference.text());
}

Status OciClient::layer(const ImageReference& reference, const OciDescriptor& layer, const ByteSink& sink) {
    CM_TRY_ASSIGN(const auto place, this->place(reference));
    Sha256 hash;
    std::uint64_t size = 0;
    HttpRequest request;
    request.url = address(place, "blobs", layer.digest);
    request.limit = layer.size;
    request.sink = [&](std::span<const std::uint8_t> bytes) {
        hash.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        size += bytes.size();
        return sink(bytes);
    };
    CM_TRY_ASSIGN(const auto response, ask(place, request));
    if (response.status != 200 && response.status != 206) return unexpected(place, response);
    const auto digest = "sha256:" + hash.hex();
    if (digest != layer.digest) return lying(place, layer.digest, digest);
    return Done{};
}

Result<std::vector<std::string>> OciClient::tags(const ImageReference& reference) {
    CM_TRY_ASSIGN(const auto place, this->place(reference));
    const auto name = place.reference.name();
    std::set<std::string> out;
    std::set<std::string> pages;
    for (auto page = address(place, "tags", "list?n=1000");;) {
        if (!pages.insert(page).second)
            return environment_failure(fmt::format("{}: its list of tags never ends", name));
        CM_TRY_ASSIGN(const auto response, ask(place, {.url = page, .limit = kLargestPage}));
        if (response.status == 404)
            return input_failure(fmt::format("{}: the registry {} has no such repository: {}", name,
                                             place.reference.host, reason_of(response, "not found")),
                                 "check the name");
        if (response.status != 200) return unexpected(place, response);
        const auto json = parse_json(response.body, name);
        const auto* list = json.ok() ? member(*json, "tags") : nullptr;
        if (list == nullptr || !(list->is_array() || list->is_null()))
            return environment_failure(fmt::format("{}: the registry did not return a list of tags", name));
        // An empty repository has null.
        for (const auto& tag : *list) {
            if (!tag.is_string() || !is_image_tag(tag.get<std::string>()) || out.size() >= kMostTags)
                return environment_failure(fmt::format("{}: its list of tags contains an invalid tag", name));
            out.insert(tag.get<std::string>());
        }
        const auto next = next_page(response.header("link"));
        if (!next) return std::vector<std::string>(out.begin(), out.end());
        const auto target = url::join(page, *next);
        const auto parts = target ? url::parse(*target) : std::nullopt;
        if (!parts || parts->origin() != place.origin())
            return environment_failure(fmt::format("{}: its list of tags goes on at another host", name));
        page = *target;
    }
}

}  // namespace cudamatrix
