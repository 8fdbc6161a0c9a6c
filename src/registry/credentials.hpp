// Credentials of image registries from where docker and podman keep them. Never part of a message.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"

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

}  // namespace cudamatrix
