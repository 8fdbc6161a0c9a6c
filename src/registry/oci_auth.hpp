// What a registry answers to who asks without authorization: the challenges of WWW-Authenticate, and the
// token that a Bearer challenge wants.
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

/// The value of "Authorization" with which `place` lets itself be read, by what its answer asks for and the
/// user's credentials, if there are any; `search` says where those were looked for. A token is asked for
/// reading the one repository. Failures: no challenge that is understood, a realm that is no https URL (http
/// is one where the registry itself is asked by http), credentials that the realm refuses.
[[nodiscard]] Result<std::string> authorize(HttpConnection& connection, const ImagePlace& place,
                                            std::string_view challenge, const CredentialSearch& search);

/// "registry.example.org wants credentials": with the places that were looked at as notes, and what to do.
[[nodiscard]] Failure unauthorized(const ImagePlace& place, std::string_view what,
                                   const CredentialSearch& search);

}  // namespace cudamatrix
