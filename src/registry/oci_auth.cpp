#include "registry/oci.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestToken = 64u << 10;
constexpr std::string_view kClient = "cudamatrix";

bool is_token_char(char c) {
    return text::is_word(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// Reads the header from left to right.
class ChallengeReader {
  public:
    explicit ChallengeReader(std::string_view text) : rest_(text) {}

    std::vector<AuthChallenge> read() {
        std::vector<AuthChallenge> out;
        while (true) {
            skip(" \t,");
            const auto word = token();
            if (word.empty()) return out;
            skip(" \t");
            if (!rest_.starts_with('=')) {  // no name of a parameter: a scheme
                out.push_back({text::lower(word), {}});
                continue;
            }
            rest_.remove_prefix(1);
            skip(" \t");
            auto content = value();
            if (!out.empty()) out.back().parameters.emplace(text::lower(word), std::move(content));
        }
    }

  private:
    void skip(std::string_view characters) {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
    }
    std::string_view token() {
        const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_token_char) - rest_.begin();
        const auto word = rest_.substr(0, static_cast<std::size_t>(end));
        rest_.remove_prefix(word.size());
        return word;
    }
    std::string value() {
        if (!rest_.starts_with('"')) return std::string(token());
        std::string out;
        std::size_t i = 1;
        for (; i < rest_.size() && rest_[i] != '"'; ++i) {
            if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
            out += rest_[i];
        }
        rest_.remove_prefix(std::min(i + 1, rest_.size()));
        return out;
    }

    std::string_view rest_;
};

std::string percent_encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = text::is_word(c) || std::string_view("-._~").find(c) != std::string_view::npos;
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string basic(const RegistryCredentials& credentials) {
    return "Basic " + text::to_base64(credentials.user + ":" + credentials.password);
}

std::string parameter(const AuthChallenge& challenge, const std::string& name) {
    const auto found = challenge.parameters.find(name);
    return found == challenge.parameters.end() ? "" : found->second;
}

bool fits_header(std::string_view token) {
    return !token.empty() && token.size() <= kLargestToken &&
           std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// GET with Basic credentials or none; POST with an identity token, which is exchanged (OAuth 2).
HttpRequest token_request(const ImagePlace& place, const AuthChallenge& challenge,
                          const CredentialSearch& search) {
    const auto scope = percent_encoded("repository:" + place.reference.path + ":pull");
    const auto service = percent_encoded(parameter(challenge, "service"));
    HttpRequest request;
    request.url = parameter(challenge, "realm");
    request.limit = 4 * kLargestToken;
    request.authorization = "";
    if (search.found && !search.found->identity_token.empty()) {
        request.method = HttpMethod::post;
        request.form =
            fmt::format("grant_type=refresh_token&service={}&client_id={}&scope={}&refresh_token={}", service,
                        kClient, scope, percent_encoded(search.found->identity_token));
        return request;
    }
    request.url += fmt::format("{}service={}&scope={}",
                               request.url.find('?') == std::string::npos ? '?' : '&', service, scope);
    if (search.found) request.authorization = basic(*search.found);
    return request;
}

Result<std::string> bearer(HttpConnection& connection, const ImagePlace& place,
                           const AuthChallenge& challenge, const CredentialSearch& search) {
    const auto& host = place.reference.host;
    const auto realm = url::parse(parameter(challenge, "realm"));
    if (!realm || !realm->user_info.empty() || (realm->scheme != "https" && place.scheme != "http"))
        return environment_failure(fmt::format(
            "{} asks for a token from '{}', which is not an https URL: no credentials are sent there", host,
            url::shown(parameter(challenge, "realm"))));
    CM_TRY_ASSIGN(const auto response, connection.get(token_request(place, challenge, search)));
    const auto shown = url::shown(realm->text());
    if (response.status == 401 || response.status == 403 || response.status == 400)
        return unauthorized(place, fmt::format("{} gives no token for it ({})", shown, response.status),
                            search);
    if (response.status != 200)
        return environment_failure(fmt::format("{}: {}", shown, describe_status(response.status)));
    const auto json = parse_json(response.body, shown);
    auto token = json.ok() ? string_or(*json, "token", string_or(*json, "access_token")) : std::string();
    if (!fits_header(token)) return environment_failure(fmt::format("{}: the answer holds no token", shown));
    return "Bearer " + token;
}

}  // namespace

std::vector<AuthChallenge> parse_challenges(std::string_view header) {
    return ChallengeReader(header).read();
}

Failure unauthorized(const ImagePlace& place, std::string_view what, const CredentialSearch& search) {
    const auto name = place.reference.name();
    auto message = Diagnostic::error(fmt::format(
        "{}: {}: {}", name, what,
        search.found ? fmt::format("the credentials from {} are not enough, or there is no such repository",
                                   search.place)
                     : "it wants credentials, and none were found, or there is no such repository"));
    for (const auto& place_looked_at : search.looked)
        message = std::move(message).with_note("looked at " + place_looked_at);
    return {ExitCode::environment,
            {std::move(message).with_fix(
                fmt::format("check the name, or log in: docker login {}", place.reference.host))}};
}

Result<std::string> authorize(HttpConnection& connection, const ImagePlace& place, std::string_view challenge,
                              const CredentialSearch& search) {
    const auto challenges = parse_challenges(challenge);
    const auto of = [&](std::string_view scheme) {
        return std::find_if(challenges.begin(), challenges.end(),
                            [&](const AuthChallenge& one) { return one.scheme == scheme; });
    };
    if (const auto token = of("bearer"); token != challenges.end())
        return bearer(connection, place, *token, search);
    if (of("basic") == challenges.end())
        return environment_failure(
            fmt::format("{} wants an authorization of a kind that is not understood: Bearer and Basic are",
                        place.reference.host));
    if (!search.found || search.found->user.empty())
        return unauthorized(place, "it does not let itself be read (401)", search);
    return basic(*search.found);
}

}  // namespace cudamatrix
