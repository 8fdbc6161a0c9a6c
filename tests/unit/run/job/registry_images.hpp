// Images in the folder of a fake registry (tests/fakes/registry_server.py): manifests and configurations, no
// layers.
#pragma once

#include <string>
#include <string_view>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "fakes/http_server.hpp"

namespace cudamatrix::test {

inline std::string digest_of(std::string_view bytes) {
    return "sha256:" + sha256(bytes);
}

/// The configuration of an image; `env` is the inside of a JSON list.
inline std::string config_of(std::string_view architecture, std::string_view env) {
    return fmt::format(
        R"({{"os":"linux","architecture":"{}","config":{{"Env":[{}],"Labels":{{"l":"label-secret"}}}}}})",
        architecture, env);
}

inline std::string manifest_of(std::string_view config) {
    return fmt::format(R"({{"schemaVersion":2,"layers":[],"config":{{"digest":"{}","size":{}}}}})",
                       digest_of(config), config.size());
}

/// An index with an image for one architecture; `build` makes it another one.
inline std::string index_of(std::string_view architecture, std::string_view env, int build = 0) {
    const auto manifest = manifest_of(config_of(architecture, env));
    return fmt::format(R"({{"schemaVersion":2,"build":{},"manifests":[{{"digest":"{}","size":{},)"
                       R"("platform":{{"os":"linux","architecture":"{}"}}}}]}})",
                       build, digest_of(manifest), manifest.size(), architecture);
}

/// What an index of that image names: its manifest and its configuration.
inline void put_parts(const fakes::HttpServer& server, const std::string& repository,
                      std::string_view architecture, std::string_view env) {
    const auto config = config_of(architecture, env);
    const auto manifest = manifest_of(config);
    server.put(repository + "/blobs/" + sha256(config), config);
    server.put(repository + "/manifests/part-" + sha256(manifest), manifest);
}

/// The whole image behind a tag; the digest of its index.
inline std::string put_image(const fakes::HttpServer& server, const std::string& repository,
                             const std::string& tag, std::string_view env,
                             std::string_view architecture = "amd64") {
    put_parts(server, repository, architecture, env);
    const auto index = index_of(architecture, env);
    server.put(repository + "/manifests/" + tag, index);
    return digest_of(index);
}

}  // namespace cudamatrix::test
