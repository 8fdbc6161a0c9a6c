// Authorization at registries: the challenges of WWW-Authenticate, and the token that a Bearer challenge
// wants.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/image_reference.hpp"
#include "registry/credentials.hpp"
#include "registry/http.hpp"

namespace cudamatrix {

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
