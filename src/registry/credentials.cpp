#include "registry/oci.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFile = 4u << 20;
// The key under which docker keeps what belongs to docker.io.
constexpr std::string_view kHubKey = "https://index.docker.io/v1/";

// "https://index.docker.io/v1/" as "docker.io": keys are written with and without scheme and version.
std::string plain_key(std::string_view key) {
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
    }
    while (key.ends_with('/'))
        key.remove_suffix(1);
    for (const std::string_view version : {"/v1", "/v2"}) {
        if (key.ends_with(version)) key.remove_suffix(version.size());
    }
    const auto host = text::lower(key.substr(0, key.find('/')));
    const auto rest = std::string(key.substr(std::min(host.size(), key.size())));
    return (host == "index.docker.io" || host == "registry-1.docker.io" ? "docker.io" : host) + rest;
}

// True when `key` names the registry of `name` ("host/path"), or a part of it.
bool covers(std::string_view key, std::string_view name) {
    return !key.empty() && name.starts_with(key) && (name.size() == key.size() || name[key.size()] == '/');
}

// The value of the longest key that covers `name`.
const Json* best(const Json* object, std::string_view name) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const Json* found = nullptr;
    std::size_t length = 0;
    for (const auto& [key, value] : object->items()) {
        const auto plain = plain_key(key);
        if (!covers(plain, name) || plain.size() <= length) continue;
        found = &value;
        length = plain.size();
    }
    return found;
}

// An entry of `auths`: {"auth": base64 of USER:PASSWORD} or the two apart, or an identity token.
std::optional<RegistryCredentials> entry_of(const Json& json) {
    RegistryCredentials out{string_or(json, "username"), string_or(json, "password"),
                            string_or(json, "identitytoken")};
    if (!out.identity_token.empty()) return out;
    const auto joined = text::from_base64(string_or(json, "auth"));
    if (joined && joined->find(':') != std::string::npos) {
        const auto colon = joined->find(':');
        out.user = joined->substr(0, colon);
        out.password = joined->substr(colon + 1);
        // docker pads what it writes with zeros.
        out.password.erase(std::min(out.password.find('\0'), out.password.size()));
    }
    if (out.user.empty() || out.password.empty()) return std::nullopt;
    return out;
}

bool is_helper_name(std::string_view name) {
    return !name.empty() && name.size() <= 100 && name.front() != '-' && name.front() != '.' &&
           text::only(name, "-_.");
}

class Search {
  public:
    Search(std::string_view host, std::string_view path, const Environment& environment,
           const Cancellation* cancellation)
        : host_(host),
          name_(fmt::format("{}/{}", host, path)),
          environment_(environment),
          cancellation_(cancellation) {}

    Result<CredentialSearch> run() {
        const auto inline_text = value_of(environment_, {"DOCKER_AUTH_CONFIG"});
        if (!inline_text.empty()) {
            CM_TRY(config(inline_text, "$DOCKER_AUTH_CONFIG"));
        }
        const auto home = value_of(environment_, {"HOME"});
        const auto runtime = value_of(environment_, {"XDG_RUNTIME_DIR"});
        const auto docker = value_of(environment_, {"DOCKER_CONFIG"});
        const auto in = [](const std::string& folder, const char* file) {
            return folder.empty() ? std::string() : (fs::path(folder) / file).string();
        };
        for (const auto& path :
             {value_of(environment_, {"REGISTRY_AUTH_FILE"}),
              docker.empty() ? in(home, ".docker/config.json") : in(docker, "config.json"),
              in(runtime, "containers/auth.json"), in(home, ".config/containers/auth.json")}) {
            if (out_.found || path.empty()) continue;
            CM_TRY(look_into(path, &Search::config));
        }
        const auto named = value_of(environment_, {"NETRC"});
        if (const auto path = named.empty() ? in(home, ".netrc") : named; !out_.found && !path.empty()) {
            CM_TRY(look_into(path, &Search::netrc));
        }
        return out_;
    }

  private:
    void nothing_in(const std::string& place, std::string_view why) {
        out_.looked.push_back(fmt::format("{} ({})", text::printable(place), why));
    }
    void nothing_for_host(const std::string& place) {
        nothing_in(place, fmt::format("nothing for {}", host_));
    }
    void take(RegistryCredentials credentials, const std::string& place) {
        out_.found = std::move(credentials);
        out_.place = text::printable(place);
    }

    // A file that is not there is only noted.
    Status look_into(const std::string& path,
                     Status (Search::*read)(const std::string&, const std::string&)) {
        std::error_code error;
        if (!fs::exists(path, error)) {
            nothing_in(path, "there is no such file");
            return Done{};
        }
        CM_TRY_ASSIGN(const auto content, file::read(path, kLargestFile));
        return (this->*read)(content, path);
    }

    Status config(const std::string& text, const std::string& place) {
        // The parser's own message names a position only: nothing of the content.
        CM_TRY_ASSIGN(const auto json, parse_json(text, text::printable(place)));
        const auto* helper = best(member(json, "credHelpers"), name_);
        if (helper != nullptr && helper->is_string()) return ask(helper->get<std::string>(), place);
        if (const auto store = string_or(json, "credsStore"); !store.empty()) {
            if (auto asked = ask(store, place); !asked.ok() || out_.found) return asked;
        }
        const auto* entry = best(member(json, "auths"), name_);
        auto found = entry == nullptr ? std::nullopt : entry_of(*entry);
        if (found) {
            take(std::move(*found), place);
        } else {
            nothing_for_host(place);
        }
        return Done{};
    }

    // docker-credential-NAME get: the server on standard input, {"Username", "Secret"} as its answer.
    Status ask(const std::string& name, const std::string& place) {
        if (!is_helper_name(name))
            return input_failure(fmt::format("{}: '{}' is not the name of a credential helper",
                                             text::printable(place), text::printable(name.substr(0, 100))));
        const auto program = "docker-credential-" + name;
        Command command;
        command.argv = {program, "get"};
        command.environment = environment_;
        command.input = host_ == "docker.io" ? std::string(kHubKey) : host_;
        command.time_limit = std::chrono::seconds(60);
        const auto outcome = cudamatrix::run(command, cancellation_);
        const auto failed = [&](const std::string& why) {
            return environment_failure(
                fmt::format("the credential helper {} of {} gives no credentials for {}: {}", program,
                            text::printable(place), host_, why),
                "fix the helper, or remove it from that file");
        };
        if (!outcome.ok()) return failed(outcome.failure().diagnostics.front().message);
        if (outcome->how == Ended::exited && outcome->exit_code != 0 &&
            outcome->out.find("credentials not found") != std::string::npos) {
            nothing_for_host("the credential helper " + program);
            return Done{};
        }
        if (!outcome->success()) return failed(outcome->describe());
        const auto json = parse_json(outcome->out, "its answer");
        const auto user = json.ok() ? string_or(*json, "Username") : "";
        const auto secret = json.ok() ? string_or(*json, "Secret") : "";
        if (user.empty() || secret.empty()) return failed("its answer has no Username and Secret");
        take(user == "<token>" ? RegistryCredentials{"", "", secret} : RegistryCredentials{user, secret, ""},
             "the credential helper " + program);
        return Done{};
    }

    // machine HOST login USER password SECRET, in words; macdef up to an empty line.
    Status netrc(const std::string& content, const std::string& path) {
        const auto wanted = host_.substr(0, host_.find(':'));
        RegistryCredentials here;
        bool in_machine = false;
        for (const auto& [key, value] : netrc_words(content)) {
            if (key == "machine" || key == "default") {
                if (!here.user.empty() && !here.password.empty()) break;
                here = {};
                in_machine = key == "machine" && plain_key(value) == wanted;
            }
            if (in_machine && key == "login") here.user = value;
            if (in_machine && key == "password") here.password = value;
        }
        if (here.user.empty() || here.password.empty()) {
            nothing_for_host(path);
        } else {
            take(std::move(here), path);
        }
        return Done{};
    }

    // Pairs of a keyword and its value; `default` has none.
    static std::vector<std::pair<std::string, std::string>> netrc_words(std::string_view content) {
        std::vector<std::pair<std::string, std::string>> out;
        bool macro = false;
        std::string key;
        for (const auto& line : text::split(content, '\n')) {
            if (text::trim(line).empty()) macro = false;
            if (macro || text::trim(line).starts_with('#')) continue;
            auto words = text::split(text::replace_all(text::trim(line), "\t", " "), ' ');
            for (auto& word : words) {
                if (word.empty()) continue;
                if (!key.empty()) {
                    if (word.size() > 1 && word.front() == '"' && word.back() == '"')
                        word = word.substr(1, word.size() - 2);
                    out.emplace_back(std::exchange(key, {}), word);
                } else if (word == "default") {
                    out.emplace_back(word, "");
                } else if (word == "macdef") {
                    macro = true;
                    break;
                } else {
                    key = word;
                }
            }
        }
        return out;
    }

    std::string host_;
    std::string name_;
    const Environment& environment_;
    const Cancellation* cancellation_;
    CredentialSearch out_;
};

}  // namespace

Result<CredentialSearch> find_credentials(std::string_view host, std::string_view path,
                                          const Environment& environment, const Cancellation* cancellation) {
    return Search(host, path, environment, cancellation).run();
}

}  // namespace cudamatrix
