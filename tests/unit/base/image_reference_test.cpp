#include "base/image_reference.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"

using namespace cudamatrix;

namespace {

const std::string kSome = "sha256:" + std::string(64, 'a');

/// The canonical text, or the message.
std::string read(std::string_view text) {
    const auto reference = parse_image_reference(text);
    return reference.ok() ? reference->text() : reference.failure().diagnostics.front().message;
}

/// "SCHEME REFERENCE" of the place, or the message.
std::string place(std::string_view text, const Mirrors& mirrors) {
    const auto place = place_of(*parse_image_reference(text), mirrors);
    return place.ok() ? place->scheme + " " + place->reference.text()
                      : place.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("References get the host and the namespace that docker gives them") {
    const std::pair<std::string, std::string> cases[] = {
        {"python", "docker.io/library/python"},
        {"python:3.12-slim", "docker.io/library/python:3.12-slim"},
        {"docker.io/python:3.12", "docker.io/library/python:3.12"},
        {"index.docker.io/library/python", "docker.io/library/python"},
        {"nvidia/cuda:12.4.1-base-ubuntu22.04", "docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04"},
        {"nvcr.io/nvidia/pytorch:25.01-py3", "nvcr.io/nvidia/pytorch:25.01-py3"},
        {"NVCR.io/nvidia/pytorch", "nvcr.io/nvidia/pytorch"},
        {"localhost/x", "localhost/x"},
        {"localhost:5000/x:1", "localhost:5000/x:1"},
        {"host:5000", "docker.io/library/host:5000"},
        {"127.0.0.1:5000/a/b/c", "127.0.0.1:5000/a/b/c"},
        {"[::1]:5000/x", "[::1]:5000/x"},
        {"a.b/c__d/e---f/g.h_i@" + kSome, "a.b/c__d/e---f/g.h_i@" + kSome},
        {"x:1_A.b-C@" + kSome, "docker.io/library/x:1_A.b-C@" + kSome},
        {"gcr.io/" + std::string(248, 'a'), "gcr.io/" + std::string(248, 'a')},
        {"x:" + std::string(128, 'T'), "docker.io/library/x:" + std::string(128, 'T')},
    };
    for (const auto& [text, whole] : cases)
        CHECK(read(text) == whole);
    const auto parts = parse_image_reference("registry.example.org:5000/team/app:1@" + kSome);
    REQUIRE(parts.ok());
    CHECK(*parts == ImageReference{"registry.example.org:5000", "team/app", "1", kSome});
}

TEST_CASE("What is no reference is refused, and says which part of it") {
    const auto part = [](std::string_view wrong) {
        return fmt::format(
            "invalid path component '{}': expected lower-case letters and digits, joined by '.', '_', "
            "'__' or '-'",
            wrong);
    };
    const auto tag = [](std::string_view wrong) {
        return fmt::format(
            "invalid tag '{}': expected up to 128 letters, digits, '_', '.' and '-', not starting with '.' "
            "or '-'",
            wrong);
    };
    const auto digest = [](std::string_view wrong) {
        return fmt::format("invalid digest '{}': expected sha256: and 64 lower-case hexadecimal digits",
                           wrong);
    };
    const auto host = [](const std::string& wrong) { return "invalid registry host '" + wrong + "'"; };
    const std::string empty_part = "a component of its path is empty";
    const std::pair<std::string, std::string> cases[] = {
        {"", "it is empty"},
        {"https://docker.io/x", "it starts with a URL scheme"},
        {"/x", empty_part},
        {"x/", empty_part},
        {"docker.io//x", empty_part},
        {"docker.io/", empty_part},
        {":1", empty_part},
        {"@" + kSome, empty_part},
        {"Python", part("Python")},
        {"Nvidia/cuda", part("Nvidia")},
        {"nvidia/CUDA", part("CUDA")},
        {"a..b/c", host("a..b")},
        {"x/a..b", part("a..b")},
        {"x/a___b", part("a___b")},
        {"x/a._b", part("a._b")},
        {"x/.a", part(".a")},
        {"x/a-", part("a-")},
        {"x/../y", part("..")},
        {"x/a b", part("a b")},
        {"x/a$b", part("a$b")},
        {"x/a\nRUN id", part("a?RUN id")},
        {"x/\xc3\xa4", part("ä")},
        {"-host.org/x", host("-host.org")},
        {"host-.org/x", host("host-.org")},
        {"ho_st.org/x", host("ho_st.org")},
        {"host.org:/x", host("host.org:")},
        {"host.org:0/x", host("host.org:0")},
        {"host.org:65536/x", host("host.org:65536")},
        {"host.org:5a/x", host("host.org:5a")},
        {"host.org:5:6/x", host("host.org:5:6")},
        {"[::1/x", host("[::1")},
        {"[]/x", host("[]")},
        {"[::1]5000/x", host("[::1]5000")},
        {"user:secret@host.org/x", digest("host.org/x")},
        {std::string(64, 'l') + ".org/x", host(std::string(64, 'l') + ".org")},
        {"x:", tag("")},
        {"x:.1", tag(".1")},
        {"x:-1", tag("-1")},
        {"x:1+cu", tag("1+cu")},
        {"x:1 2", tag("1 2")},
        {"x:1\n", tag("1?")},
        {"x:" + std::string(129, 't'), tag(std::string(129, 't'))},
        {"x@", digest("")},
        {"x@sha256:", digest("sha256:")},
        {"x@sha256:" + std::string(63, 'a'), digest("sha256:" + std::string(63, 'a'))},
        {"x@sha256:" + std::string(65, 'a'), digest("sha256:" + std::string(65, 'a'))},
        {"x@sha256:" + std::string(64, 'A'), digest("sha256:" + std::string(64, 'A'))},
        {"x@sha512:" + std::string(128, 'a'), digest("sha512:" + std::string(128, 'a'))},
        {"x@" + kSome + "\n", digest(kSome + "?")},
        {"x@" + kSome + "@" + kSome, digest(kSome + "@" + kSome)},
        {std::string(64, 'a'), "it is an image id, not a name"},
        {"gcr.io/" + std::string(249, 'a'), "its name has 256 characters, expected at most 255"},
    };
    for (const auto& [text, why] : cases) {
        const auto shown = text::printable(std::string_view(text).substr(0, 300));
        CHECK(read(text) == fmt::format("invalid image reference '{}': {}", shown, why));
    }
}

TEST_CASE("A place is the longest key of the mirror map, http where it says so and on this machine") {
    const Mirrors mirrors = {{"docker.io", "registry.example.org/hub"},
                             {"docker.io/nvidia", "127.0.0.1:5000/gpu"},
                             {"docker.io/nvidia/cuda", "http://plain.example.org"},
                             {"docker.io/plain", "http://plain.example.org/x"},
                             {"nvcr.io", "https://localhost:5001"},
                             {"quay.io", "NO/Place"},
                             {"gcr.io", "host.example.org/x:tag"}};
    const std::pair<std::string, std::string> cases[] = {
        {"python:3.12", "https registry.example.org/hub/library/python:3.12"},
        {"nvidia/tools:1@" + kSome, "http 127.0.0.1:5000/gpu/tools:1@" + kSome},
        {"nvidia/cuda:12",
         "the mirror of docker.io/nvidia/cuda gives 'plain.example.org', which is not an image name"},
        {"plain/a:1", "http plain.example.org/x/a:1"},
        {"nvidiax/cuda:12", "https registry.example.org/hub/nvidiax/cuda:12"},
        {"nvcr.io/nvidia/pytorch:1", "https localhost:5001/nvidia/pytorch:1"},
        {"ghcr.io/a/b:1", "https ghcr.io/a/b:1"},
        {"docker.io.example.org/a:1", "https docker.io.example.org/a:1"},
        {"127.0.0.1.example.org/a:1", "https 127.0.0.1.example.org/a:1"},
        {"[::1]:5000/a:1", "http [::1]:5000/a:1"},
        {"quay.io/a:1", "the mirror of quay.io/a gives 'NO/Place/a', which is not an image name"},
        {"gcr.io/a:1", "the mirror of gcr.io/a gives 'host.example.org/x:tag/a', which is not an image name"},
    };
    for (const auto& [text, expected] : cases)
        CHECK(place(text, mirrors) == expected);
    CHECK(place_of(*parse_image_reference("python"), {})->origin() == "https://registry-1.docker.io");
}
