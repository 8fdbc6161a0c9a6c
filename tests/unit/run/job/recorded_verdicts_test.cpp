#include <doctest/doctest.h>

#include "fakes/http_server.hpp"
#include "render/lock/lock_file.hpp"
#include "unit/run/job/registry_images.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

TEST_CASE("session: lock records verdicts, and anew where they moved; run accepts none that moved") {
    World world;
    REQUIRE(world.lock().ok());
    const auto first = read_lock(world.lock_file());
    REQUIRE(first.ok());
    REQUIRE((*first)->verdicts);
    CHECK((*first)->verdicts->size() == 2);

    auto other = **first;
    other.verdicts->begin()->second = {"rejected", {"a-rule"}};
    REQUIRE(write_lock(world.lock_file(), other).ok());
    REQUIRE(world.run().ok());
    CHECK(**read_lock(world.lock_file()) == other);
    const auto again = world.lock();
    REQUIRE(again.ok());
    CHECK(*again == std::vector<std::string>{"verdicts: 1 cell moved"});
    CHECK(**read_lock(world.lock_file()) == **first);

    other.verdicts.reset();  // of before
    REQUIRE(write_lock(world.lock_file(), other).ok());
    CHECK(*world.lock() == std::vector<std::string>{"verdicts: 2 cells recorded"});
}

namespace {

const std::string kApp = "registry.example.org/team/app:1";

// Cells that name an image of a registry on the loopback, on which no image is built.
struct NamedWorld {
    explicit NamedWorld(const std::string& image = kApp)
        : world(fmt::format("version: 1\nname: named\nmirrors: {{registry.example.org: \"{}/plain\"}}\n"
                            "axes: {{driver: [\"535.183.01\", \"550.54.15\"]}}\n"
                            "set: {{gpu: RTX 4090, image: \"{}\"}}\n",
                            registry.host(), image)) {}
    void put(std::string_view condition) {
        digest = test::put_image(registry, "team/app", "1",
                                 fmt::format(R"("CUDA_VERSION=12.4.1","NVIDIA_REQUIRE_CUDA={}")", condition));
    }
    [[nodiscard]] Lock lock() const {
        auto lock = read_lock(world.lock_file());
        REQUIRE(lock.ok());
        return (*lock).value_or(Lock{});
    }
    // Of both drivers.
    [[nodiscard]] std::string recorded() const {
        std::string out;
        const auto now = lock();
        REQUIRE(now.verdicts);
        for (const auto& [cell, verdict] : *now.verdicts)
            out += (out.empty() ? "" : ", ") + verdict.verdict;
        return out;
    }
    std::string judged() {
        return world.with_input([](const RunInput& input, const RunSettings&) {
            std::string out;
            for (const auto& cell : input.judgement.cells)
                out += (out.empty() ? "" : ", ") + std::string(to_string(cell.verdict));
            return out;
        });
    }

    fakes::HttpServer registry{"registry_server.py"};
    World world;
    std::string digest;
};

}  // namespace

TEST_CASE(
    "session: lock records what an image that cells name requires, and by that the cells are judged offline") {
    NamedWorld named;
    named.put("cuda>=12.4");
    CHECK(named.judged() == "unknown, unknown");
    const auto first = named.world.lock();
    REQUIRE(first.ok());
    CHECK(*first == std::vector<std::string>{kApp + ": configuration of " + named.digest + " recorded",
                                             "verdicts: 2 cells recorded"});
    CHECK(named.lock().references.empty());
    CHECK(named.lock().configurations.at(kApp) ==
          ImageConfiguration{named.digest, "2026-11-21", {"x86_64"}, "12.4.1", "cuda>=12.4"});
    CHECK(named.recorded() == "rejected, accepted");
    const auto asked = named.registry.requests().size();
    CHECK(named.judged() == "rejected, accepted");
    CHECK(named.registry.requests().size() == asked);
    CHECK(*named.world.lock() == std::vector<std::string>{"1 image: already pinned"});
    CHECK(named.registry.requests().size() == asked + 1);  // HEAD
}

TEST_CASE("session: a tag that cells name and that moved is a finding; --update takes it as it is") {
    NamedWorld named;
    named.put("cuda>=12.4");
    REQUIRE(named.world.lock().ok());
    const auto before = named.digest;
    const auto lock = named.lock();
    named.put("cuda>=12.2");
    CHECK(refusal(named.world.lock(), ExitCode::findings) ==
          fmt::format("{} has moved: cudamatrix.lock pins {}, the registry {} now gives {}", kApp, before,
                      named.registry.host(), named.digest));
    CHECK(named.lock() == lock);
    CHECK(named.judged() == "rejected, accepted");
    const auto moved = named.world.lock(true, {kApp});
    REQUIRE(moved.ok());
    CHECK(*moved == std::vector<std::string>{kApp + ": digest " + before + " -> " + named.digest,
                                             kApp + ": requirement cuda>=12.4 -> cuda>=12.2",
                                             "verdicts: 1 cell moved"});
    CHECK(named.recorded() == "accepted, accepted");
    fs::remove(named.registry.root() / "team/app/manifests/1");
    CHECK(refusal(named.world.lock(), ExitCode::findings).find(kApp + " has vanished: ") == 0);
    CHECK(refusal(named.world.lock(true), ExitCode::findings).find("no such tag now: cudamatrix.lock pins") !=
          std::string::npos);
    CHECK(named.recorded() == "accepted, accepted");
}

TEST_CASE("session: an image named by its digest is described, and never moves") {
    const fakes::HttpServer elsewhere{"registry_server.py"};
    const auto digest = test::put_image(elsewhere, "team/app", "1", R"("CUDA_VERSION=12.4.1")");
    const auto name = "registry.example.org/team/app@" + digest;
    NamedWorld named("registry.example.org/team/app:old@" + digest);
    CHECK(named.world.lock().failure().code == ExitCode::findings);  // not there
    CHECK(named.lock().configurations.empty());
    CHECK(test::put_image(named.registry, "team/app", "1", R"("CUDA_VERSION=12.4.1")") == digest);
    REQUIRE(named.world.lock().ok());
    CHECK(named.lock().configurations.at(name).condition == "cuda>=12.4");
    CHECK(named.judged() == "rejected, accepted");
    const auto asked = named.registry.requests().size();
    CHECK(*named.world.lock() == std::vector<std::string>{"1 image: already pinned"});
    CHECK(named.registry.requests().size() == asked);
}

TEST_CASE("session: what cells name and no registry gives stays unknown, and that is no failure of a pin") {
    NamedWorld named;
    const std::string only_verdicts =
        "no cell of the matrix is accepted and can be rendered: there is nothing to pin, only the verdicts are "
        "recorded";
    CHECK(refusal(named.world.lock(), ExitCode::findings) == only_verdicts);
    CHECK(named.world.progress.find(kApp + ": the registry " + named.registry.host() +
                                    " has no such tag\n") != std::string::npos);
    CHECK(named.recorded() == "unknown, unknown");
    CHECK(named.lock().configurations.empty());
    const auto text = content_of(named.world.lock_file());
    CHECK(refusal(named.world.lock(), ExitCode::findings) == only_verdicts);
    CHECK(content_of(named.world.lock_file()) == text);
    named.registry.put("team/app/manifests/1", "{}");
    CHECK(refusal(named.world.lock(), ExitCode::findings) == only_verdicts);
    CHECK(named.world.progress.find("what " + kApp + " requires of its host stays unknown: ") !=
          std::string::npos);
    named.put("cuda>=12.4 && x");
    CHECK(refusal(named.world.lock(), ExitCode::findings) == only_verdicts);
    CHECK(named.recorded() == "unknown, unknown");
}

TEST_CASE(
    "session: a matrix whose cells are all rejected has its verdicts recorded, and lock says what it lacks") {
    World world("version: 1\nname: old\nset: {driver: \"470.161.03\", cuda: \"12.4.1\", os: debian12}\n");
    CHECK(refusal(world.lock(), ExitCode::findings).find("there is nothing to pin") != std::string::npos);
    const auto lock = read_lock(world.lock_file());
    REQUIRE(lock.ok());
    REQUIRE((*lock)->verdicts);
    CHECK((*lock)->verdicts->begin()->second.verdict == "rejected");
    CHECK(world.fake.calls("build").empty());
}
