#include "registry/oci.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

struct Home : test::TempFolder {
    /// "USER PASSWORD TOKEN from PLACE", the places looked at or the message; "HOME" for the folder.
    [[nodiscard]] std::string find(std::string_view host, std::string_view repository = "team/app") const {
        const auto search = find_credentials(host, repository, environment, nullptr);
        std::string out;
        if (!search.ok()) {
            out = search.failure().diagnostics.front().message;
        } else if (search->found) {
            out = fmt::format("{} {} {} from {}", search->found->user, search->found->password,
                              search->found->identity_token, search->place);
        } else {
            out = text::join(search->looked, "; ");
        }
        return text::replace_all(out, path().string(), "HOME");
    }

    Environment environment{{"HOME", path().string()}, {"PATH", path().string() + ":/usr/bin:/bin"}};
};

std::string auth(std::string_view user_and_password) {
    return fmt::format(R"({{"auth":"{}"}})", text::to_base64(user_and_password));
}

}  // namespace

TEST_CASE("docker's configuration: keys as docker, podman and people write them") {
    Home home;
    home.put(
        ".docker/config.json",
        fmt::format(R"({{"auths":{{"https://index.docker.io/v1/":{},"registry.example.org:5000":{},)"
                    R"("https://second.example.org":{},"third.example.org/team":{},"third.example.org":{},)"
                    R"("four.example.org":{{"identitytoken":"refresh"}},"five.example.org":{{}}}}}})",
                    auth("hub:secret"), auth("a:b:c"), auth("second:x"), auth("team:x"), auth("all:x")));
    const std::string place = " from HOME/.docker/config.json";
    CHECK(home.find("docker.io", "library/python") == "hub secret " + place);
    CHECK(home.find("registry.example.org:5000") == "a b:c " + place);
    CHECK(home.find("second.example.org") == "second x " + place);
    CHECK(home.find("third.example.org") == "team x " + place);
    CHECK(home.find("third.example.org", "teams/app") == "all x " + place);
    CHECK(home.find("four.example.org") == "  refresh" + place);
    const std::string none =
        "HOME/.docker/config.json (nothing for {0}); HOME/.config/containers/auth.json (there is no "
        "such file); HOME/.netrc (there is no such file)";
    for (const auto* host : {"five.example.org", "registry.example.org", "registry.example.org:50001",
                             "xsecond.example.org", "second.example.org.evil.org", "example.org"})
        CHECK(home.find(host) == text::replace_all(none, "{0}", host));
}

TEST_CASE("The order of the places, and those that variables name") {
    Home home;
    const auto only = [](std::string_view user) {
        return fmt::format(R"({{"auths":{{"host.example.org":{}}}}})", auth(std::string(user) + ":x"));
    };
    home.put(".netrc", "machine host.example.org login netrc password x\n");
    CHECK(home.find("host.example.org") == "netrc x  from HOME/.netrc");
    home.environment["NETRC"] = (home / "other").string();
    home.put("other", "machine host.example.org login other password x\n");
    CHECK(home.find("host.example.org:5000") == "other x  from HOME/other");
    struct Place {
        std::string file, variable, value;
    };
    for (const auto& [file, variable, value] :
         {Place{".config/containers/auth.json", "", ""},
          Place{"run/containers/auth.json", "XDG_RUNTIME_DIR", "run"}, Place{".docker/config.json", "", ""},
          Place{"d/config.json", "DOCKER_CONFIG", "d"},
          Place{"file.json", "REGISTRY_AUTH_FILE", "file.json"}}) {
        home.put(file, only("user of " + file));
        if (!variable.empty()) home.environment[variable] = (home / value).string();
        CHECK(home.find("host.example.org") == "user of " + file + " x  from HOME/" + file);
    }
    home.environment["DOCKER_AUTH_CONFIG"] = only("inline");
    CHECK(home.find("host.example.org") == "inline x  from $DOCKER_AUTH_CONFIG");
}

TEST_CASE("netrc: words in any lines, macros, quotes; its default is no host's") {
    Home home;
    home.put(
        ".netrc",
        "# machine host.example.org login no password no\n"
        "machine\nfirst.example.org\n\tlogin u1\n\tpassword \"p1\"\n"
        "macdef init\nmachine host.example.org login macro password macro\n\n"
        "machine second.example.org password p2 account x login u2 machine docker.io login hub password p\n"
        "machine half.example.org login u\n"
        "default login any password any\n");
    CHECK(home.find("first.example.org") == "u1 p1  from HOME/.netrc");
    CHECK(home.find("second.example.org") == "u2 p2  from HOME/.netrc");
    CHECK(home.find("docker.io") == "hub p  from HOME/.netrc");
    for (const auto* host : {"host.example.org", "half.example.org", "third.example.org"})
        CHECK(home.find(host).ends_with(fmt::format("HOME/.netrc (nothing for {})", host)));
}

TEST_CASE("Credential helpers are programs, asked by the registry's name") {
    Home home;
    home.put(".docker/config.json",
             R"({"credHelpers":{"one.example.org":"fake","bad.example.org":"../x","gone.example.org":"none",)"
             R"("sad.example.org":"sad","odd.example.org":"odd"},"credsStore":"store",)"
             R"("auths":{"kept.example.org":{"auth":"dTpw"}}})");
    home.put("docker-credential-fake",
             "#!/bin/sh\nread name\necho \"{\\\"Username\\\":\\\"$1\\\",\\\"Secret\\\":\\\"$name\\\"}\"\n",
             true);
    home.put("docker-credential-store",
             "#!/bin/sh\nread name\n[ \"$name\" = https://index.docker.io/v1/ ] || { echo credentials not "
             "found in "
             "native keychain; exit 1; }\necho '{\"Username\":\"<token>\",\"Secret\":\"identity\"}'\n",
             true);
    home.put("docker-credential-sad", "#!/bin/sh\necho secret\nexit 3\n", true);
    home.put("docker-credential-odd", "#!/bin/sh\necho secret\n", true);
    CHECK(home.find("one.example.org") ==
          "get one.example.org  from the credential helper docker-credential-fake");
    CHECK(home.find("docker.io") == "  identity from the credential helper docker-credential-store");
    CHECK(home.find("kept.example.org") == "u p  from HOME/.docker/config.json");
    CHECK(home.find("other.example.org")
              .starts_with("the credential helper docker-credential-store (nothing for other.example.org); "
                           "HOME/.docker/config.json (nothing for other.example.org); "));
    CHECK(home.find("bad.example.org") ==
          "HOME/.docker/config.json: '../x' is not the name of a credential helper");
    const auto failed = [](std::string_view name, std::string_view host, std::string_view why) {
        return fmt::format(
            "the credential helper docker-credential-{} of HOME/.docker/config.json gives no "
            "credentials for {}.example.org: {}",
            name, host, why);
    };
    CHECK(home.find("sad.example.org") == failed("sad", "sad", "exit code 3"));
    CHECK(home.find("odd.example.org") == failed("odd", "odd", "its answer has no Username and Secret"));
    CHECK(home.find("gone.example.org").starts_with(failed("none", "gone", "")));
}

TEST_CASE("Files that cannot be read are errors that show nothing of them") {
    Home home;
    home.put(".docker/config.json", "{\"auths\": secret");
    CHECK(home.find("host.example.org") == "HOME/.docker/config.json: not valid JSON at byte 11");
    fs::remove(home / ".docker/config.json");
    fs::create_directories(home / ".docker/config.json");
    CHECK(home.find("host.example.org") == "cannot read HOME/.docker/config.json: it is a directory");
    home.environment = {};
    CHECK(home.find("host.example.org").empty());
}

TEST_CASE("Challenges of WWW-Authenticate, well and badly formed") {
    const auto shown = [](std::string_view header) {
        std::string out;
        for (const auto& challenge : parse_challenges(header)) {
            out += "[" + challenge.scheme;
            for (const auto& [name, value] : challenge.parameters)
                out += fmt::format(" {}={}", name, value);
            out += "]";
        }
        return out;
    };
    const std::pair<std::string, std::string> cases[] = {
        {R"(Bearer realm="https://a/token",service="b c",scope="x,y")",
         "[bearer realm=https://a/token scope=x,y service=b c]"},
        {R"(BASIC Realm="a, \"b\"")", R"([basic realm=a, "b"])"},
        {R"(Basic realm=plain , Bearer realm = "t")", "[basic realm=plain][bearer realm=t]"},
        {"Negotiate, Basic", "[negotiate][basic]"},
        {"", ""},
        {"=x", ""},
        {"a=b", ""},
        {R"(Bearer realm="open)", "[bearer realm=open]"},
        {R"(Bearer realm="open\)", "[bearer realm=open\\]"},
        {"Bearer realm=", "[bearer realm=]"},
        {"Bearer realm=\"a\",realm=\"b\"", "[bearer realm=a]"},
        {"Bearer \x01 realm=a", "[bearer]"},
    };
    for (const auto& [header, expected] : cases)
        CHECK(shown(header) == expected);
}
