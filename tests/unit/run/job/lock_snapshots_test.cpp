// build: {snapshot: ..}: whether lock takes the state of the archive at the start of today, and that it
// stays.
#include <doctest/doctest.h>

#include <algorithm>

#include "fakes/http_server.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

namespace {

using Texts = std::vector<std::string>;

const std::string kTime = "20261121T000000Z";  // the start of the world's today
const std::string kRelease = "-----BEGIN PGP SIGNED MESSAGE-----\nSuite: x\n";
const std::string kPinned = "1 image: already pinned";

std::string debian_cells(const std::string& systems = "[debian12]") {
    return "axes: {os: " + systems + "}\nset: {cuda: \"11.8.0\", gpu: T4, driver: \"550.54.15\"}\n";
}

// A service on the loopback that may have states of Debian's archives, and a matrix on Debian 12.
struct Dated {
    explicit Dated(const std::string& behaviour = "plain", const std::string& rest = debian_cells())
        : world("version: 1\nname: dated\nmirrors: {\"http://snapshot.debian.org/archive\": \"" +
                server.url(behaviour) + "\"}\n" + rest) {
        world.snapshot.clear();
        // The tar is not its last word here, and holds what the archives have.
        world.fake.script("mmdebstrap",
                          "for word; do case $word in *.tar) tar=$word;; *) all=\"$all $word\";; esac; "
                          "done\nprintf '%s' \"$all\" > \"$tar\"");
    }
    void put(const std::string& archive, const std::string& time = kTime,
             const std::string& content = kRelease) const {
        const std::string pocket = archive == "debian" ? "" : "-security";
        for (const std::string suite : {"bookworm", "trixie"})
            server.put(fmt::format("{}/{}/dists/{}{}/InRelease", archive, time, suite, pocket), content);
    }
    void put_both(const std::string& time = kTime) const {
        put("debian", time);
        put("debian-security", time);
    }
    Lock locked() const {
        auto lock = read_lock(world.lock_file());
        REQUIRE(lock.ok());
        REQUIRE(lock->has_value());
        return std::move(**lock);
    }
    std::size_t asked() { return server.requests().size(); }
    Texts done(Result<Texts> locked) const {
        if (!locked.ok()) FAIL(World::render_failure(locked.failure()));
        return std::move(*locked);
    }
    // The lines that tell of snapshots, without their time.
    Texts said() const {
        Texts out;
        for (const auto& line : text::split(world.progress, '\n')) {
            const auto at = std::min(line.find("] "), line.size());
            if (line.find("snapshot of ") != line.npos || line.find(" stay as of ") != line.npos)
                out.emplace_back(line.substr(std::min(at + 2, line.size())));
        }
        return out;
    }
    // What the base is bootstrapped from, where that is said.
    bool is_dated(const std::string& time = kTime) const {
        const auto command = text::join(locked().bases.at("bookworm").command, " ");
        return command.find("deb [check-valid-until=no] " + server.url("plain") + "/debian/" + time +
                            " bookworm ") != std::string::npos;
    }

    fakes::HttpServer server;
    World world;
};

std::string live_line(const std::string& service, const std::string& why) {
    return fmt::format(
        "{} gives no snapshot of {}: {}; packages of debian are pinned in the live archive, whose next point "
        "release removes them (build: {{snapshot: none}} accepts that; mirrors: can name a mirror of the "
        "service)",
        service, kTime, why);
}

}  // namespace

TEST_CASE("snapshot auto: what the service has is taken, pinned by its time, and asked for once") {
    Dated service;
    service.put_both();
    const auto changes = service.done(service.world.lock());
    CHECK(std::ranges::count(changes, "debian: snapshot " + kTime + " pinned") == 1);
    CHECK(service.locked().snapshots == TakenSnapshots{{"debian", kTime}});
    CHECK(service.is_dated());
    CHECK(service.said().empty());
    CHECK(service.server.requests() ==
          Texts{"GET /plain/debian/" + kTime + "/dists/bookworm/InRelease - -",
                "GET /plain/debian-security/" + kTime + "/dists/bookworm-security/InRelease - -"});
    CHECK(service.done(service.world.lock()) == Texts{kPinned});
    service.world.settings.locked = true;
    CHECK(service.world.render().ok());
    CHECK(content_of(service.world.settings.out / "images/debian12-cu11.8.0/Dockerfile")
              .find("as its archive was at " + kTime) != std::string::npos);
    CHECK(service.world.ran().images.front().built);
    CHECK(service.asked() == 2);
}

TEST_CASE("snapshot auto: what cannot be had of the service leaves the live archive, and one line") {
    const std::pair<std::string, std::string> cases[] = {{"status-404", "there is no such page (404)"},
                                                         {"status-403", "it is forbidden (403)"},
                                                         {"status-503", "the server answered 503"},
                                                         {"status-204", "the server answered 204"}};
    for (const auto& one : cases) {
        const auto& behaviour = one.first;
        CAPTURE(behaviour);
        Dated service(behaviour);
        service.put_both();
        service.done(service.world.lock());
        CHECK(service.said() == Texts{live_line(service.server.url(behaviour) + "/debian", one.second)});
        CHECK(service.locked().snapshots.empty());
        CHECK_FALSE(service.is_dated());
        CHECK(service.asked() == 1);
        // It is decided: nobody is asked again.
        CHECK(service.done(service.world.lock()) == Texts{kPinned});
        CHECK(service.asked() == 1);
    }
}

TEST_CASE("snapshot auto: another time, no release file, or no state of security updates is not enough") {
    Dated service;
    const auto refused = [&](const std::string& archive, const std::string& why, std::size_t questions) {
        const auto before = service.asked();
        service.world.progress.clear();
        fs::remove(service.world.lock_file());
        fs::remove_all(service.world.settings.out);
        service.done(service.world.lock());
        CHECK(service.said() == Texts{live_line(service.server.url("plain/" + archive), why)});
        CHECK(service.locked().snapshots.empty());
        CHECK(service.asked() == before + questions);
    };
    service.put_both("20261120T000000Z");
    refused("debian", "there is no such page (404)", 1);
    service.put("debian", kTime, "<html>Log in first.</html>");
    refused("debian", "it answers with something else", 1);
    service.put("debian", kTime, "");
    refused("debian", "it answers with something else", 1);
    service.put("debian");
    refused("debian-security", "there is no such page (404)", 2);
    service.put("debian-security", kTime, "<html>Log in first.</html>");
    refused("debian-security", "it answers with something else", 2);
}

TEST_CASE("snapshot auto: a service that nobody reaches is asked once for all images, and keeps back none") {
    Dated service("plain", debian_cells("[debian12, debian13]"));
    const auto matrix = content_of(service.world.folder() / "matrix.yaml");
    std::ofstream(service.world.folder() / "matrix.yaml")
        << text::replace_all(text::replace_all(matrix, service.server.host(), "127.0.0.1:9"),
                             "cuda: \"11.8.0\"", "python: \"3.12\"");
    service.world.answer("apt-devel.txt",
                         "Inst g++-12 (12.2 Debian:12/x [amd64])\nInst g++-14 (14.2 "
                         "Debian:13/x [amd64])\n");
    static_cast<void>(service.world.lock());
    const auto said = service.said();
    REQUIRE(said.size() == 1);
    CHECK(said.front().starts_with("http://127.0.0.1:9/plain/debian gives no snapshot of " + kTime + ": "));
    CHECK(said.front().find("attempt") == std::string::npos);
    CHECK(said.front().find("InRelease") == std::string::npos);
}

TEST_CASE("snapshot none, and a day that is written: the service is not asked, and nothing is said") {
    for (const std::string snapshot : {"none", "2026-11-01"}) {
        CAPTURE(snapshot);
        Dated service("plain", "build: {snapshot: " + snapshot + "}\n" + debian_cells());
        service.put_both();
        service.done(service.world.lock());
        CHECK(service.locked().snapshots.empty());
        CHECK_FALSE(service.is_dated());
        CHECK(service.is_dated("20261101T000000Z") == (snapshot != "none"));
        CHECK(service.done(service.world.lock(true)) == Texts{"nothing moved"});
        CHECK(service.asked() == 0);
        CHECK(service.said().empty());
    }
}

TEST_CASE("snapshot auto: a mirror of the archive alone is the archive") {
    Dated service;
    service.put_both();
    std::ofstream(service.world.folder() / "matrix.yaml")
        << "version: 1\nname: mirrored\nmirrors: {debian: \"http://apt.example.org/debian\"}\n" +
               debian_cells();
    service.done(service.world.lock());
    CHECK(service.locked().snapshots.empty());
    CHECK(service.said().empty());
    CHECK(text::join(service.locked().bases.at("bookworm").command, " ")
              .find("deb http://apt.example.org/debian bookworm ") != std::string::npos);
}

TEST_CASE("snapshot auto: the time stays until lock --update, which moves it both ways") {
    const std::string next = "20261122T000000Z";
    Dated service;
    service.put_both();
    service.put_both(next);
    service.done(service.world.lock());
    service.world.settings.today = "2026-11-22";
    CHECK(service.done(service.world.lock()) == Texts{kPinned});
    for (const std::string words : {"wheels", "images", "bases"})
        CHECK(service.done(service.world.lock(true, {words})) == Texts{"nothing moved"});
    CHECK(service.said().empty());
    CHECK(service.done(service.world.lock(true, {"apt"})) == Texts{"nothing moved"});
    CHECK(service.said() == Texts{"packages of debian stay as of " + kTime +
                                  ": only `cudamatrix lock --update` without words moves it"});
    CHECK(service.asked() == 2);
    CHECK(service.done(service.world.lock(true)).back() == "debian: snapshot " + kTime + " -> " + next);
    CHECK(service.is_dated(next));
    CHECK(service.asked() == 4);

    fs::remove_all(service.server.root() / "debian" / next);
    CHECK(service.done(service.world.lock()) == Texts{kPinned});
    CHECK(service.done(service.world.lock(true)).back() ==
          "debian: snapshot " + next + " is gone: the live archive");
    CHECK_FALSE(service.is_dated(next));
    service.put_both(next);
    CHECK(service.done(service.world.lock()) == Texts{kPinned});
    CHECK(service.done(service.world.lock(true)).back() == "debian: snapshot " + next + " pinned");
}

TEST_CASE("snapshot auto: a lock without the entry means the live archive, for what is new as well") {
    Dated service;
    service.world.snapshot = "none";
    service.done(service.world.lock());
    service.world.snapshot.clear();
    service.put_both();
    const auto before = content_of(service.world.lock_file());
    CHECK(service.done(service.world.lock()) == Texts{kPinned});
    CHECK(content_of(service.world.lock_file()) == before);
    service.world.settings.locked = true;
    CHECK(service.world.ran().images.front().built);
    service.world.settings.locked = false;
    const auto matrix = content_of(service.world.folder() / "matrix.yaml");
    std::ofstream(service.world.folder() / "matrix.yaml")
        << text::replace_all(matrix, "gpu: T4", "gpu: T4, env: {MODE: test}");
    service.done(service.world.lock());
    CHECK(service.locked().images.size() == 2);
    CHECK(service.locked().snapshots.empty());
    CHECK(service.asked() == 0);
    CHECK(service.done(service.world.lock(true)).back() == "debian: snapshot " + kTime + " pinned");
}

TEST_CASE("snapshot auto: without a lock, run decides; render and --locked ask nobody") {
    Dated service;
    service.put_both();
    REQUIRE(service.world.render().ok());
    CHECK(content_of(service.world.settings.out / "images/debian12-cu11.8.0/Dockerfile").find(kTime) ==
          std::string::npos);
    service.world.settings.locked = true;
    CHECK_FALSE(service.world.run().ok());
    CHECK_FALSE(service.world.build().ok());
    CHECK(service.asked() == 0);
    service.world.settings.locked = false;
    CHECK(service.world.ran().images.front().built);
    CHECK(service.locked().snapshots == TakenSnapshots{{"debian", kTime}});
    CHECK(service.is_dated());
}

TEST_CASE("snapshot auto: a time that is edited or gone is not what was pinned") {
    Dated service;
    service.put_both();
    service.done(service.world.lock());
    const auto whole = content_of(service.world.lock_file());
    service.world.settings.locked = true;
    const auto entry = "\"debian\": \"" + kTime + "\"";
    REQUIRE(whole.find(entry) != std::string::npos);
    for (const std::string to :
         {"\"debian\": \"20261120T000000Z\"", "", "\"ubuntu\": \"20261121T000000Z\""}) {
        CAPTURE(to);
        std::ofstream(service.world.lock_file()) << text::replace_all(whole, entry, to);
        const auto refused = service.world.render();
        CHECK(refusal(refused, ExitCode::findings) ==
              fmt::format(
                  "--locked: {} does not cover debian12-cu11.8.0: it has packages and wheels for what it "
                  "asked for before, which is not what it asks for now",
                  service.world.lock_file().string()));
    }
    CHECK(service.asked() == 2);
}

TEST_CASE("snapshot auto: under images that are not chosen the state does not move") {
    Dated service("plain",
                  "include:\n  - {os: debian12}\n  - {os: debian13}\n"
                  "set: {gpu: T4, driver: \"550.54.15\"}\n");
    service.world.answer("apt-devel.txt",
                         "Inst g++-12 (12.2 Debian:12/x [amd64])\nInst g++-14 (14.2 Debian:13/x [amd64])\n");
    service.put_both();
    service.put_both("20261122T000000Z");
    const auto first = service.world.lock();
    if (!first.ok()) MESSAGE(World::render_failure(first.failure()));
    REQUIRE(first.ok());
    const auto before = service.locked();
    REQUIRE(before.images.size() == 2);
    service.world.settings.today = "2026-11-22";
    service.world.settings.choice.images = {before.images.begin()->first};
    CHECK(service.done(service.world.lock(true)) == Texts{"nothing moved"});
    CHECK(service.said() == Texts{fmt::format("packages of debian stay as of {}: {}, which is not chosen, is "
                                              "pinned in it",
                                              kTime, before.images.rbegin()->first)});
    CHECK(service.locked().snapshots == before.snapshots);
    CHECK(service.asked() == 2);
}

TEST_CASE("snapshot auto: the state goes back with what cannot be resolved in it") {
    Dated service("plain",
                  "axes: {flavour: [base, devel]}\nset: {cuda: \"11.8.0\", os: debian12, driver: "
                  "\"550.54.15\", gpu: T4}\n");
    service.world.answer("apt-devel.txt",
                         "Inst g++-11 (1.0 Debian:12.1/stable [amd64])\n"
                         "Inst nvidia-cuda-toolkit (1.0 Debian:12.1/stable [amd64])\n");
    service.put_both();
    service.put_both("20261122T000000Z");
    service.world.fake.faults("lock_fails:debian12-cu11.8.0-devel");
    CHECK_FALSE(service.world.lock().ok());
    // What was never pinned holds nothing back.
    CHECK(service.locked().images.size() == 1);
    CHECK(service.locked().snapshots == TakenSnapshots{{"debian", kTime}});
    service.world.fake.faults("");
    service.done(service.world.lock());
    CHECK(service.locked().images.size() == 2);
    const auto before = content_of(service.world.lock_file());
    service.world.settings.today = "2026-11-22";
    service.world.fake.faults("lock_fails:debian12-cu11.8.0-devel");
    CHECK_FALSE(service.world.lock(true).ok());
    CHECK(content_of(service.world.lock_file()) == before);
    service.world.fake.faults("");
    service.world.settings.locked = true;
    CHECK(service.world.render().ok());
    CHECK(service.done(service.world.lock(true)).back() ==
          "debian: snapshot " + kTime + " -> 20261122T000000Z");
}

TEST_CASE("snapshot auto: where nothing can be resolved, nothing is decided") {
    Dated service;
    service.put_both();
    service.world.fake.faults("lock_fails:debian12-cu11.8.0");
    CHECK_FALSE(service.world.lock().ok());
    const auto lock = read_lock(service.world.lock_file());
    REQUIRE(lock.ok());
    CHECK((!lock->has_value() || (*lock)->snapshots.empty()));
}
