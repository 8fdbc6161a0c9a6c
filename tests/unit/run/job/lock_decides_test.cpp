// build: {base_from: ..}: which base family debian gets, what lock says of it, and that it stays.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/sha256.hpp"
#include "fakes/http_server.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

namespace {

const std::string kOfficial = "docker.io/library/debian:bookworm";
const std::string kTag = "library/debian/manifests/bookworm";

// A cell on Debian 12, and a registry on the loopback that may have its official image.
struct Debian {
    explicit Debian(const std::string& base_from = "auto", const std::string& behaviour = "plain")
        : world(fmt::format(
              "version: 1\nname: decides\nmirrors: {{docker.io: \"{}/{}\"}}\nset: {{cuda: \"11.8.0\", "
              "os: debian12, gpu: T4, driver: \"550.54.15\"}}\nbuild: {{base_from: {}}}\n",
              registry.host(), behaviour, base_from)) {
        world.base_from.clear();
        world.answer("base-devel.txt", "apt=2.6.2\nlibc6=2.36-9\n");
    }
    std::string put(const std::string& note = "one") const {
        const auto manifest = fmt::format(
            R"({{"schemaVersion":2,"for":"{}","manifests":[{{"digest":"sha256:{}","size":1,"platform":)"
            R"({{"os":"linux","architecture":"amd64"}}}}]}})",
            note, std::string(64, 'a'));
        registry.put(kTag, manifest);
        return "sha256:" + sha256(manifest);
    }
    Lock locked() const {
        auto lock = read_lock(world.lock_file());
        REQUIRE(lock.ok());
        REQUIRE(lock->has_value());
        return std::move(**lock);
    }
    std::string dockerfile() {
        const auto report = world.ran();
        REQUIRE(report.images.size() == 1);
        CHECK(report.images[0].id == "debian12-cu11.8.0");
        return content_of(world.settings.out / "images/debian12-cu11.8.0/Dockerfile");
    }
    bool asked() {
        const auto all = registry.requests();
        return std::ranges::any_of(all,
                                   [](const std::string& line) { return line.find("debian") != line.npos; });
    }

    fakes::HttpServer registry{"registry_server.py"};
    World world;
};

}  // namespace

TEST_CASE("base_from auto: what the registry has is taken, pinned by digest, and nothing is bootstrapped") {
    Debian debian;
    const auto digest = debian.put();
    debian.world.fake.script("mmdebstrap", "exit 1");
    const auto changes = debian.world.lock();
    if (!changes.ok()) FAIL(World::render_failure(changes.failure()));
    const auto lock = debian.locked();
    CHECK(lock.references.at(kOfficial).digest == digest);
    CHECK(lock.bases.empty());
    CHECK(debian.world.progress.find("bootstrap") == std::string::npos);
    CHECK(debian.dockerfile().find(fmt::format("\nFROM {}/plain/library/debian:bookworm@{} AS base\n",
                                               debian.registry.host(), digest)) != std::string::npos);
    CHECK_FALSE(fs::exists(debian.world.settings.out / "make-base.sh"));
    CHECK(debian.world.lock().value() == std::vector<std::string>{"1 image: already pinned"});
}

TEST_CASE(
    "base_from auto: what the registry lacks or keeps to itself is bootstrapped, and said in one line") {
    for (const std::string behaviour : {"plain", "deny"}) {
        CAPTURE(behaviour);
        Debian debian("auto", behaviour);
        const auto changes = debian.world.lock();
        if (!changes.ok()) FAIL(World::render_failure(changes.failure()));
        const auto lock = debian.locked();
        CHECK(lock.references.empty());
        CHECK(lock.bases.contains("bookworm"));
        const auto& said = debian.world.progress;
        const auto line = kOfficial + " is not to be had, its distribution is bootstrapped: ";
        CHECK(said.find(line) != std::string::npos);
        CHECK(said.find(line) == said.rfind(line));
        CHECK(debian.dockerfile().find("\nADD bootstrap-bookworm.tar /\n") != std::string::npos);
    }
}

TEST_CASE("base_from auto: what was decided stays until --update, both ways") {
    Debian debian;
    REQUIRE(debian.world.lock().ok());
    const auto digest = debian.put();
    CHECK(debian.world.lock().value() == std::vector<std::string>{"1 image: already pinned"});
    CHECK(debian.locked().references.empty());
    CHECK(debian.world.lock(true, {"apt"}).ok());
    CHECK(debian.world.lock(true, {"images"}).ok());
    CHECK(debian.locked().references.empty());

    const auto moved = debian.world.lock(true, {"bases"});
    if (!moved.ok()) FAIL(World::render_failure(moved.failure()));
    CHECK(std::ranges::count(*moved, kOfficial + ": " + digest + " pinned") == 1);
    CHECK(debian.locked().references.at(kOfficial).digest == digest);
    CHECK(debian.dockerfile().find("@" + digest + " AS base\n") != std::string::npos);

    // It is a registry's now: gone is a finding, as with every base of one.
    fs::remove(debian.registry.root() / kTag);
    const auto gone = debian.world.lock();
    CHECK(refusal(gone, ExitCode::findings).find(kOfficial + " has vanished") == 0);
    CHECK(debian.locked().references.at(kOfficial).digest == digest);
    CHECK(debian.dockerfile().find("@" + digest + " AS base\n") != std::string::npos);
}

TEST_CASE("base_from auto: run decides what no lock has decided") {
    Debian debian;
    const auto digest = debian.put();
    debian.world.fake.script("mmdebstrap", "exit 1");
    CHECK(debian.dockerfile().find("@" + digest + " AS base\n") != std::string::npos);
    CHECK(debian.locked().references.at(kOfficial).digest == digest);
}

TEST_CASE("base_from auto: without a lock, render asks nobody and writes the bootstrapped base") {
    Debian debian;
    debian.put();
    REQUIRE(debian.world.render().ok());
    CHECK(content_of(debian.world.settings.out / "images/debian12-cu11.8.0/Dockerfile")
              .find("\nADD bootstrap-bookworm.tar /\n") != std::string::npos);
    CHECK_FALSE(debian.asked());
}

TEST_CASE("base_from registry: what cannot be had is no reason to bootstrap") {
    for (const std::string behaviour : {"plain", "deny"}) {
        CAPTURE(behaviour);
        Debian debian("registry", behaviour);
        const auto refused = debian.world.lock();
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == (behaviour == "deny" ? ExitCode::environment : ExitCode::findings));
        CHECK(only_message(refused.failure()).find("debian") != std::string::npos);
        CHECK_FALSE(fs::exists(debian.world.settings.out / "bootstrap"));
        CHECK(debian.world.progress.find("bootstrap") == std::string::npos);
    }
    Debian there("registry");
    const auto digest = there.put();
    REQUIRE(there.world.lock().ok());
    CHECK(there.locked().references.at(kOfficial).digest == digest);
}

TEST_CASE("base_from bootstrap: no registry is asked, whatever the lock holds") {
    Debian debian("bootstrap");
    debian.put();
    REQUIRE(debian.world.lock().ok());
    CHECK_FALSE(debian.asked());
    CHECK(debian.locked().bases.contains("bookworm"));
    CHECK(debian.locked().references.empty());
    CHECK(debian.world.lock(true).ok());
    CHECK_FALSE(debian.asked());
}
