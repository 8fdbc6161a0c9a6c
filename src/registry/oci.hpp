// Reading from image registries (OCI distribution specification). What has a digest is checked against
// it. Credentials come from where docker and podman keep them and are never part of a message.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"
#include "base/image_reference.hpp"
#include "base/process.hpp"
#include "registry/http.hpp"

namespace cudamatrix {

/// What a registry knows a user by.
struct RegistryCredentials {
    std::string user;
    std::string password;
    std::string identity_token;  ///< instead of both: exchanged for an access token (OAuth 2)
};

/// What was found, and where.
struct CredentialSearch {
    std::optional<RegistryCredentials> found;
    std::string place;                ///< where they were found: "the credential helper ecr-login"
    std::vector<std::string> looked;  ///< the places that have none, each with the reason
};

/// The first place that knows `host` (and for keys with a path the image's own `path`): $DOCKER_AUTH_CONFIG,
/// the file $REGISTRY_AUTH_FILE, $DOCKER_CONFIG/config.json (else ~/.docker/config.json), podman's
/// $XDG_RUNTIME_DIR/containers/auth.json and ~/.config/containers/auth.json, machines of $NETRC (else
/// ~/.netrc; its `default` is no host's). Within a file: credHelpers (run as docker-credential-NAME),
/// credsStore, auths. Failures: a file that cannot be read, a helper that fails.
[[nodiscard]] Result<CredentialSearch> find_credentials(std::string_view host, std::string_view path,
                                                        const Environment& environment,
                                                        const Cancellation* cancellation);

/// A blob or a manifest, by what its parent says of it.
struct OciDescriptor {
    std::string media_type;
    std::string digest;
    std::uint64_t size = 0;
    std::string os;            ///< of an image in an index: linux
    std::string architecture;  ///< amd64, arm64
};

/// A manifest as it was read; `digest` is the SHA-256 of its bytes.
struct OciManifest {
    std::string digest;
    std::string media_type;
    std::vector<OciDescriptor> images;  ///< of an index (or docker's manifest list)
    OciDescriptor config;               ///< of one image
    std::vector<OciDescriptor> layers;  ///< of one image, the lowest first
    [[nodiscard]] bool is_index() const { return config.digest.empty(); }
};

/// The configuration of one image.
struct OciConfig {
    std::string os;
    std::string architecture;
    std::vector<std::pair<std::string, std::string>> env;
    std::map<std::string, std::string> labels;
};

/// One command's way to registries, through the mirror map of its Http and with the user's credentials. Of
/// one thread at a time; several may share an Http.
class OciClient {
  public:
    explicit OciClient(Http& http) : connection_(http) {}

    /// The manifest of a tag or digest; nothing where the registry has none. The digest of a tag is asked
    /// first (HEAD), which registries do not count against their limits. Environment failures: no answer, no
    /// access, an answer that lies about its digest or is no manifest.
    [[nodiscard]] Result<std::optional<OciManifest>> find(const ImageReference& reference);
    /// The same; what is not there is an input failure with the registry's word for it (manifest unknown).
    [[nodiscard]] Result<OciManifest> manifest(const ImageReference& reference);
    /// The digest of a tag, by HEAD alone where the registry gives it so; nothing where there is no such tag.
    [[nodiscard]] Result<std::optional<std::string>> digest_of_tag(const ImageReference& reference);

    /// The manifest for linux on `architecture` behind `manifest`: of an index the image for it, else itself.
    [[nodiscard]] Result<OciManifest> for_architecture(const ImageReference& reference,
                                                       const OciManifest& manifest,
                                                       std::string_view architecture);
    [[nodiscard]] Result<OciConfig> config(const ImageReference& reference, const OciManifest& image);
    /// The bytes of a layer as they are stored; torn transfers go on where they ended. A wrong digest shows
    /// only after the last byte: what was made of them is to be dropped then.
    [[nodiscard]] Status layer(const ImageReference& reference, const OciDescriptor& layer,
                               const ByteSink& sink);
    /// All tags of the reference's repository, sorted.
    [[nodiscard]] Result<std::vector<std::string>> tags(const ImageReference& reference);

  private:
    struct Answer;
    [[nodiscard]] Result<HttpResponse> ask(const ImagePlace& place, const HttpRequest& wanted);
    [[nodiscard]] Result<ImagePlace> place(const ImageReference& reference);
    [[nodiscard]] Result<CredentialSearch> credentials(const ImagePlace& place);
    [[nodiscard]] Result<Answer> read_manifest(const ImageReference& reference);
    [[nodiscard]] Result<std::string> blob(const ImageReference& reference, const OciDescriptor& what,
                                           std::uint64_t limit);

    HttpConnection connection_;
    std::map<std::string, std::string> authorizations_;    ///< by host and repository
    std::map<std::string, CredentialSearch> credentials_;  ///< the same
};

/// The image for linux on `architecture` (amd64, arm64) of an index; an input failure where it has none,
/// which names those that it has. `name` is for messages.
[[nodiscard]] Result<OciDescriptor> image_in_index(const OciManifest& index, std::string_view name,
                                                   std::string_view architecture);
/// Reads the bytes of a manifest of `digest`; `name` is for messages.
[[nodiscard]] Result<OciManifest> parse_manifest(std::string_view text, std::string digest,
                                                 std::string_view name);
/// Reads the bytes of an image's configuration.
[[nodiscard]] Result<OciConfig> parse_image_config(std::string_view text, std::string_view name);

// Authorization at registries: the challenges of WWW-Authenticate, and the token that a Bearer challenge
// wants.

/// `Bearer realm="https://...",service="..."`.
struct AuthChallenge {
    std::string scheme;                             ///< lower case: bearer, basic
    std::map<std::string, std::string> parameters;  ///< names in lower case
};

/// The challenges of a header (RFC 9110, 11.6.1), as far as it is well formed.
[[nodiscard]] std::vector<AuthChallenge> parse_challenges(std::string_view header);

/// The value of "Authorization" to read `place`, by the challenge and the user's credentials; a token is for
/// reading the one repository. Failures: no challenge that is understood, a realm that is no https URL (http
/// only where the registry is asked by http), credentials that the realm refuses.
[[nodiscard]] Result<std::string> authorize(HttpConnection& connection, const ImagePlace& place,
                                            std::string_view challenge, const CredentialSearch& search);

/// "registry.example.org wants credentials": with the places that were looked at as notes, and what to do.
[[nodiscard]] Failure unauthorized(const ImagePlace& place, std::string_view what,
                                   const CredentialSearch& search);

}  // namespace cudamatrix
