#include "run/engine/engine.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fakes/fake_docker.hpp"

using namespace cudamatrix;
using namespace cudamatrix::engine;

TEST_CASE("which targets are images of an engine") {
    const auto image = parse_stored_image("docker:nvidia/cuda:12.4.1-base");
    REQUIRE(image.has_value());
    CHECK(image->engine == "docker");
    CHECK(image->reference == "nvidia/cuda:12.4.1-base");
    CHECK(parse_stored_image("podman:a")->engine == "podman");
    for (const char* target : {"docker", "dockers:a", "nvidia/cuda:12.4.1", "torch==2.6.0", "host:a", ""})
        CHECK_FALSE(parse_stored_image(target).has_value());
}

TEST_CASE("the call that saves, and what never becomes one") {
    const fakes::FakeDocker docker;
    const auto command = save_command({"docker", "a/b:1@sha256:00"}, docker.environment);
    REQUIRE(command.ok());
    CHECK(command->argv == std::vector<std::string>{docker.client(), "image", "save", "a/b:1@sha256:00"});
    for (const char* reference : {"", "--output=x", "-o", "a b", "a;b", "$(x)", "../a", "a\nb"}) {
        const auto refused = save_command({"docker", reference}, docker.environment);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == ExitCode::bad_input);
    }
    const auto absent = save_command({"podman", "a"}, docker.environment);
    REQUIRE_FALSE(absent.ok());
    CHECK(absent.failure().code == ExitCode::environment);
    CHECK(absent.failure().diagnostics.front().message == "podman:a: no program podman on PATH");
}
