#include "registry/oci.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "fakes/http_server.hpp"

using namespace cudamatrix;
using fakes::HttpServer;
using namespace std::chrono_literals;

namespace {

std::string digest_of(std::string_view bytes) {
    return "sha256:" + sha256(bytes);
}

const std::string kConfig =
    R"({"created":"2026-03-04T05:06:07Z","os":"linux","architecture":"amd64","config":{"Env":["A=b=c","odd"],)"
    R"("Labels":{"maker":"us","count":3}}})";
const std::string kLayer = std::string(40'000, 'l') + std::string(40'000, 'm');
const std::string kImage = fmt::format(
    R"({{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
    R"("config":{{"mediaType":"c","digest":"{}","size":{}}},"layers":[{{"mediaType":"l","digest":"{}","size":{}}}]}})",
    digest_of(kConfig), kConfig.size(), digest_of(kLayer), kLayer.size());
const std::string kIndex = fmt::format(
    R"({{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[)"
    R"({{"digest":"{0}","size":{1},"platform":{{"os":"linux","architecture":"amd64"}}}},)"
    R"({{"digest":"{0}","size":{1},"platform":{{"os":"linux","architecture":"arm64","variant":"v8"}}}},)"
    R"({{"digest":"{0}","size":{1},"platform":{{"os":"unknown","architecture":"unknown"}}}}]}})",
    digest_of(kImage), kImage.size());

/// A registry with the image app:1 (an index) and app:single, and a client for it.
struct Registry {
    Registry() {
        server.put("app/manifests/1", kIndex);
        server.put("app/manifests/single", kImage);
        server.put("app/blobs/" + sha256(kConfig), kConfig);
        server.put("app/blobs/" + sha256(kLayer), kLayer);
        options.back_off = 1ms;
        options.connect_limit = 5s;
        options.environment = {{"HOME", server.root().string()}, {"PATH", "/usr/bin:/bin"}};
    }
    void open() {
        client.reset();
        http = std::move(Http::open(options)).value();
        client = std::make_unique<OciClient>(*http);
    }
    [[nodiscard]] ImageReference reference(std::string_view rest) const {
        return *parse_image_reference(fmt::format("{}/{}", server.host(), rest));
    }
    /// The digest, or the whole diagnostic with "HOST" for the server's.
    std::string digest(std::string_view rest) {
        if (!client) open();
        const auto manifest = client->manifest(reference(rest));
        return manifest.ok() ? manifest->digest : whole(manifest.failure());
    }
    [[nodiscard]] std::string whole(const Failure& failure) const {
        auto text = render(failure.diagnostics.front(), "");
        text = text::replace_all(text, "cudamatrix: error: ", "error: ");
        text = text::replace_all(text, server.root().string(), "HOME");
        return text::replace_all(text, server.host(), "HOST");
    }
    /// What was asked: "HEAD /v2/...", and in `sent` the authorizations.
    std::vector<std::string> asked(std::vector<std::string>* sent = nullptr) {
        std::vector<std::string> out;
        for (const auto& line : server.requests()) {
            const auto words = text::split(line, ' ');
            out.push_back(words[0] + " " + words[1]);
            if (sent != nullptr) sent->push_back(text::join({words.begin() + 3, words.end()}, " "));
        }
        return out;
    }

    /// The bytes of a layer, or the whole diagnostic.
    std::string layer(const ImageReference& image, const OciDescriptor& what) {
        std::string bytes;
        const auto done = client->layer(image, what, [&](std::span<const std::uint8_t> part) -> Status {
            bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
            return Done{};
        });
        return done.ok() ? bytes : whole(done.failure());
    }

    HttpServer server{"registry_server.py"};
    HttpOptions options;
    std::unique_ptr<Http> http;
    std::unique_ptr<OciClient> client;
};

const OciDescriptor kLayerDescriptor{"l", digest_of(kLayer), kLayer.size(), {}, {}};
const std::string kUser = "Basic " + text::to_base64("user:secret");

std::string lie(std::string_view behaviour, const std::string& said, const std::string& found) {
    return fmt::format(
        "error: HOST/{}/app:1: the registry HOST says that this is {}, but what it gives is {}\n"
        "  fix: do not use it: something on the way changes what is transferred\n",
        behaviour, said, found);
}

}  // namespace

TEST_CASE("A tag is asked for its digest, and what is read is what that digest names") {
    Registry registry;
    CHECK(registry.digest("plain/app:1") == digest_of(kIndex));
    CHECK(registry.asked() == std::vector<std::string>{"HEAD /v2/plain/app/manifests/1",
                                                       "GET /v2/plain/app/manifests/" + digest_of(kIndex)});
    CHECK(registry.digest("nohead/app:1") == digest_of(kIndex));
    CHECK(registry.digest("nodigest/app:1") == digest_of(kIndex));
    CHECK(registry.digest("plain/app:1@" + digest_of(kImage)) == digest_of(kImage));
    CHECK(*registry.client->digest_of_tag(registry.reference("plain/app:1")).value() == digest_of(kIndex));
    CHECK_FALSE(registry.client->digest_of_tag(registry.reference("plain/app:2"))->has_value());
    for (const auto* behaviour : {"nodigest", "nohead"})
        CHECK(
            *registry.client->digest_of_tag(registry.reference(behaviour + std::string("/app:1"))).value() ==
            digest_of(kIndex));
}

TEST_CASE("Index, image, configuration and layer are read down to their bytes") {
    Registry registry;
    registry.open();
    const auto reference = registry.reference("token/app:1");
    const auto index = registry.client->find(reference);
    REQUIRE(index.ok());
    REQUIRE(index->has_value());
    CHECK((*index)->is_index());
    CHECK((*index)->media_type == "application/vnd.oci.image.index.v1+json");
    CHECK((*index)->images.size() == 3);
    const auto image = registry.client->for_architecture(reference, **index, "arm64");
    REQUIRE(image.ok());
    CHECK(image->digest == digest_of(kImage));
    CHECK(registry.client->for_architecture(reference, *image, "s390x")->digest == digest_of(kImage));
    CHECK(registry.whole(registry.client->for_architecture(reference, **index, "s390x").failure()) ==
          "error: HOST/token/app:1: there is no image for linux/s390x: it has linux/amd64, linux/arm64\n"
          "  fix: choose a tag that has it, or an architecture that this one has\n");
    const auto config = registry.client->config(reference, *image);
    REQUIRE(config.ok());
    CHECK(config->architecture == "amd64");
    CHECK(config->env == std::vector<std::pair<std::string, std::string>>{{"A", "b=c"}});
    CHECK(config->labels == std::map<std::string, std::string>{{"maker", "us"}});
    CHECK_FALSE(registry.client->config(reference, **index).ok());
    REQUIRE(image->layers.size() == 1);
    CHECK(registry.layer(reference, image->layers.front()) == kLayer);
}

TEST_CASE("A torn layer goes on where it ended; other bytes than the digest's are refused") {
    Registry registry;
    registry.open();
    const auto read = [&](const std::string& behaviour, const OciDescriptor& what) {
        return registry.layer(registry.reference(behaviour + "/app:1"), what);
    };
    const auto& layer = kLayerDescriptor;
    CHECK(read("torn", layer) == kLayer);
    CHECK(read("whole", layer) == kLayer);
    CHECK(read("other", layer) == "error: the server went on with another part than it was asked for\n");
    auto short_by_one = layer;
    --short_by_one.size;
    CHECK(read("plain", short_by_one) ==
          fmt::format("error: http://HOST/v2/plain/app/blobs/{}: the answer is larger than 80 kB\n",
                      layer.digest));
    auto longer = layer;
    ++longer.size;
    CHECK(read("liebody", longer) == lie("liebody", layer.digest, digest_of(kLayer + "!")));
    CHECK(read("plain", {"l", digest_of("none"), 9, {}, {}}) ==
          "error: HOST/plain/app:1: the registry HOST answers 404: blob unknown\n");
    const auto stop = [](std::span<const std::uint8_t>) -> Status { return input_failure("enough"); };
    CHECK(registry.whole(registry.client->layer(registry.reference("plain/app:1"), layer, stop).failure()) ==
          "error: enough\n");
}

TEST_CASE("What is not there is said in the registry's words, and is not asked for twice") {
    Registry registry;
    CHECK(registry.digest("plain/app:2") ==
          "error: HOST/plain/app:2: the registry HOST has no such image: manifest unknown\n"
          "  fix: check the name and the tag\n");
    CHECK(registry.digest("plain/none:1") ==
          "error: HOST/plain/none:1: the registry HOST has no such image: name unknown\n"
          "  fix: check the name and the tag\n");
    const auto found = registry.client->find(registry.reference("plain/app:2"));
    REQUIRE(found.ok());
    CHECK_FALSE(found->has_value());
    CHECK(registry.digest("busy-2/app:1") == digest_of(kIndex));
    CHECK(registry.digest("busy-9/app:1") ==
          "error: http://HOST/v2/busy-9/app/manifests/1: the server answered 503 (5 attempts)\n");
    const std::string too_many =
        "  fix: start again later, name a mirror (mirrors: {HOST: HOST/PATH}), or log in: known users may ask more "
        "often\n";
    CHECK(registry.digest("wait-0/app:1") ==
          "error: http://HOST/v2/wait-0/app/manifests/1: too many requests (429) (5 attempts)\n" + too_many);
    CHECK(
        registry.digest("wait-3600/app:1") ==
        "error: http://HOST/v2/wait-3600/app/manifests/1: too many requests (429), and it asks for a pause of 3600 "
        "s\n" +
            too_many);
}

TEST_CASE("A registry that lies about digests is not believed") {
    Registry registry;
    CHECK(registry.digest("liebody/app:1") == lie("liebody", digest_of(kIndex), digest_of(kIndex + " ")));
    CHECK(registry.digest("lieheader/app:1") == lie("lieheader", digest_of("other"), digest_of(kIndex)));
    CHECK(registry.digest("liehead/app:1") ==
          "error: HOST/liehead/app:1: the registry HOST has no such image: manifest unknown\n"
          "  fix: check the name and the tag\n");
}

TEST_CASE("Tokens: for everyone, for who is known, renewed when they are old") {
    Registry registry;
    registry.server.put(".netrc", "machine 127.0.0.1\n login user password secret\n");
    registry.open();
    CHECK(registry.digest("login/app:1") == digest_of(kIndex));
    CHECK(registry.digest("expire/app:1") == digest_of(kIndex));
    CHECK(registry.digest("expire/app:1") == digest_of(kIndex));
    CHECK(registry.digest("basic/app:1") == digest_of(kIndex));
    CHECK(registry.digest("refresh/app:1").find("gives no token for it (401)") != std::string::npos);
    std::vector<std::string> sent;
    const auto asked = registry.asked(&sent);
    const std::string realm = "GET /token?service=login&scope=repository%3Alogin%2Fapp%3Apull";
    REQUIRE(asked.size() > 4);
    CHECK(asked[0] == "HEAD /v2/login/app/manifests/1");
    CHECK(asked[1] == realm);  // reading only, whatever the challenge says
    CHECK(sent[0] == "-");
    CHECK(sent[1] == kUser);
    CHECK(sent[2].starts_with("Bearer "));
    CHECK(std::count(asked.begin(), asked.end(), realm) == 1);
    CHECK(std::count_if(asked.begin(), asked.end(),
                        [](const auto& line) { return line.starts_with("GET /token?service=expire"); }) == 2);

    registry.server.put(
        ".docker/config.json",
        fmt::format(R"({{"auths":{{"{}":{{"identitytoken":"identity"}}}}}})", registry.server.host()));
    registry.open();
    CHECK(registry.digest("refresh/app:1") == digest_of(kIndex));
}

TEST_CASE("Who is not known is told where credentials were looked for") {
    Registry registry;
    registry.server.put(".docker/config.json", R"({"auths":{"registry.example.org":{"auth":"dTpw"}}})");
    const std::string looked =
        "  note: looked at HOME/.docker/config.json (nothing for HOST)\n"
        "  note: looked at HOME/.config/containers/auth.json (there is no such file)\n"
        "  note: looked at HOME/.netrc (there is no such file)\n"
        "  fix: check the name, or log in: docker login HOST\n";
    const std::string none = "it wants credentials, and none were found, or there is no such repository\n";
    CHECK(registry.digest("login/app:1") ==
          "error: HOST/login/app: http://HOST/token gives no token for it (401): " + none + looked);
    CHECK(registry.digest("basic/app:1") ==
          "error: HOST/basic/app: it does not let itself be read (401): " + none + looked);
    CHECK(registry.digest("deny/app:1") ==
          "error: HOST/deny/app: the registry answers 403: " + none + looked);
    CHECK(registry.digest("digestauth/app:1") ==
          "error: HOST wants an authorization of a kind that is not understood: Bearer and Basic are\n");
    CHECK(registry.digest("badrealm/app:1") ==
          "error: HOST asks for a token from '(no http or https URL)', which is not an https URL: no "
          "credentials are sent there\n");
    CHECK(registry.digest("notoken/app:1") == "error: http://HOST/token: the answer holds no token\n");

    registry.server.put(".docker/config.json",
                        fmt::format(R"({{"auths":{{"{}":{{"username":"user","password":"wrong"}}}}}})",
                                    registry.server.host()));
    registry.open();
    const std::string known =
        "the credentials from HOME/.docker/config.json are not enough, or there is no such repository\n"
        "  fix: check the name, or log in: docker login HOST\n";
    CHECK(registry.digest("login/app:1") ==
          "error: HOST/login/app: http://HOST/token gives no token for it (401): " + known);
    CHECK(registry.digest("basic/app:1") == "error: HOST/basic/app: the registry answers 401: " + known);
}

TEST_CASE("A token goes to its registry and not where a layer lies") {
    Registry registry;
    HttpServer store;
    store.put(sha256(kLayer), kLayer);
    registry.open();
    const auto reference = registry.reference("away-" + store.port() + "/app:1");
    CHECK(registry.layer(reference, kLayerDescriptor) == kLayer);
    CHECK(store.requests() == std::vector<std::string>{"GET /plain/" + sha256(kLayer) + " - -"});
    std::vector<std::string> sent;
    REQUIRE(registry.asked(&sent).size() == 3);
    CHECK(sent.back().starts_with("Bearer "));
}

TEST_CASE("All tags, page by page, and no page that leads astray") {
    Registry registry;
    for (const auto* tag : {"a", "b", "c", "d"})
        registry.server.put(fmt::format("app/manifests/{}", tag), kImage);
    registry.open();
    const auto tags = [&](std::string_view rest) {
        const auto list = registry.client->tags(registry.reference(rest));
        return list.ok() ? text::join(*list, " ") : registry.whole(list.failure());
    };
    CHECK(tags("plain/app") == "1 a b c d single");
    CHECK(tags("pages/app") == "1 a b c d single");
    CHECK(tags("plain/none") ==
          "error: HOST/plain/none: the registry HOST has no such repository: name unknown\n"
          "  fix: check the name\n");
    std::filesystem::create_directories(registry.server.root() / "empty/manifests");
    CHECK(tags("plain/empty").empty());
    CHECK(tags("endless/app") == "error: HOST/endless/app: its list of tags never ends\n");
    CHECK(tags("strayed/app") == "error: HOST/strayed/app: its list of tags goes on at another host\n");
    CHECK(tags("hostile/app") == "error: HOST/hostile/app: its list of tags contains an invalid tag\n");
}

TEST_CASE("The mirror map decides where is asked") {
    Registry registry;
    registry.options.mirrors = {{"docker.io", registry.server.host() + "/plain"},
                                {"docker.io/nvidia/cuda", registry.server.host() + "/token/app"}};
    registry.server.put("library/python/manifests/3.12", kImage);
    registry.open();
    CHECK(registry.client->manifest(*parse_image_reference("python:3.12"))->digest == digest_of(kImage));
    CHECK(registry.client->manifest(*parse_image_reference("nvidia/cuda:1"))->digest == digest_of(kIndex));
    CHECK(registry.whole(registry.client->manifest(*parse_image_reference("nvidia/cuda:2")).failure()) ==
          "error: docker.io/nvidia/cuda:2: the registry HOST has no such image: manifest unknown\n"
          "  fix: check the name and the tag\n");
}

TEST_CASE("Manifests that are none are refused") {
    const auto why = [](std::string_view text) {
        const auto manifest = parse_manifest(text, "d", "x");
        return manifest.ok() ? "" : manifest.failure().diagnostics.front().message;
    };
    CHECK(why(kImage).empty());
    CHECK(why(kIndex).empty());
    const std::string no_digest = "' in its manifest is not a digest with a size";
    const std::pair<std::string, std::string> cases[] = {
        {"", "x: its manifest is not JSON"},
        {"[]", "x: its manifest says no schemaVersion 2"},
        {"{}", "x: its manifest says no schemaVersion 2"},
        {R"({"schemaVersion":"2"})", "x: its manifest says no schemaVersion 2"},
        {R"({"schemaVersion":1,"fsLayers":[]})",
         "x: its manifest is of schema 1, which registries gave up in 2019: rebuild the image"},
        {R"({"schemaVersion":2})", "x: its manifest is neither an index nor one of an image"},
        {R"({"schemaVersion":2,"config":{}})", "x: its manifest is neither an index nor one of an image"},
        {R"({"schemaVersion":2,"manifests":{}})", "x: its manifest has no list that can be read"},
        {R"({"schemaVersion":2,"manifests":[1]})", "x: '" + no_digest},
        {R"({"schemaVersion":2,"manifests":[{"digest":"sha256:12","size":1}]})", "x: 'sha256:12" + no_digest},
        {R"({"schemaVersion":2,"config":{"digest":"a\u001bb"},"layers":[]})", "x: 'a?b" + no_digest},
        {text::replace_all(kImage, "\"size\":", "\"size\":-"), "x: '" + digest_of(kConfig) + no_digest},
        {text::replace_all(kImage, "\"size\":", "\"long\":"), "x: '" + digest_of(kConfig) + no_digest},
    };
    for (const auto& [text, message] : cases)
        CHECK(why(text) == message);
    CHECK_FALSE(parse_image_config("", "x").ok());
    CHECK_FALSE(parse_image_config("[]", "x").ok());
    CHECK(parse_image_config(R"({"config":{"Env":null,"Labels":null}})", "x")->env.empty());
}
