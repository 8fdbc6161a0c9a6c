// URLs of indexes and wheels: taken apart, joined, and shown without what is secret in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

/// "%2B" as "+"; nothing where an escape is incomplete.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace cudamatrix::url
