// Pins: what lock asks, writes and keeps, and what the commands make of it.
#include <doctest/doctest.h>

#include "base/sha256.hpp"
#include "fakes/http_server.hpp"
#include "render/lock/lock_file.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

namespace {

// A cell of a family whose bases a registry on the loopback has, for both architectures.
struct RegistryWorld {
    explicit RegistryWorld(const std::string& arch = "x86_64", const std::string& systems = "[ubuntu22.04]")
        : world(
              fmt::format("version: 1\nname: based\nmirrors: {{docker.io: \"{}/plain\"}}\naxes: {{os: {}}}\n"
                          "set: {{family: nvidia-cuda, cuda: 12.4.1, flavour: runtime, arch: {}}}\n",
                          registry.host(), systems, arch)) {
        put("ubuntu22.04");
        world.fake.script("mmdebstrap", "exit 1");  // no base is made here
        world.answer("base-devel.txt", "apt=2.6.2\nlibc6=2.36-9\n");
    }
    static std::string path(const std::string& flavour, const std::string& os) {
        return "nvidia/cuda/manifests/12.4.1-" + flavour + "-" + os;
    }
    void put(const std::string& os) {
        for (const std::string flavour : {"runtime", "devel"}) {
            const auto index = fmt::format(
                R"({{"schemaVersion":2,"for":"{}-{}","manifests":[{{"digest":"sha256:{}","size":1,"platform":)"
                R"({{"os":"linux","architecture":"amd64"}}}},{{"digest":"sha256:{}","size":1,"platform":)"
                R"({{"os":"linux","architecture":"arm64"}}}}]}})",
                flavour, os, std::string(64, 'a'), std::string(64, 'b'));
            registry.put(path(flavour, os), index);
            digests.push_back("sha256:" + sha256(index));
        }
    }
    void remove(const std::string& os) const {
        for (const std::string flavour : {"runtime", "devel"})
            fs::remove(registry.root() / path(flavour, os));
    }

    fakes::HttpServer registry{"registry_server.py"};
    World world;
    std::vector<std::string> digests;  ///< of runtime and devel
};

Lock written_lock(const World& world) {
    auto lock = read_lock(world.lock_file());
    REQUIRE(lock.ok());
    REQUIRE(lock->has_value());
    return std::move(**lock);
}

}  // namespace

TEST_CASE("session: an image on a registry's base is pinned by digest and built without a tar") {
    RegistryWorld registry;
    auto& world = registry.world;
    const auto report = world.ran();
    REQUIRE(report.images.size() == 1);
    CHECK(report.images[0].error.empty());
    CHECK(report.images[0].built);
    CHECK(report.cells[0].proof >= Proof::built);
    const auto folder = world.settings.out / "images" / report.images[0].id;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto text = content_of(folder / (i == 0 ? "Dockerfile" : "proof.Dockerfile"));
        CHECK(text.find(fmt::format("FROM {}/plain/nvidia/cuda:12.4.1-{}-ubuntu22.04@{} AS ",
                                    registry.registry.host(), i == 0 ? "runtime" : "devel",
                                    registry.digests[i])) != std::string::npos);
    }
    CHECK_FALSE(fs::exists(world.settings.out / "bootstrap"));
    const auto builds = world.fake.calls("build");
    CHECK(builds.size() == 3);  // the lock's question, the target and its proof
    for (const auto& argv : builds)
        CHECK(text::join(argv, " ").find("--platform linux/amd64 ") != std::string::npos);
    CHECK(world.ran().images[0].reused);
    CHECK(world.fake.calls("build").size() == 3);
}

TEST_CASE("session: an image of another architecture is built for it; a machine that cannot says so") {
    RegistryWorld registry("aarch64");
    auto& world = registry.world;
    REQUIRE(world.lock().ok());
    world.fake.faults("build_foreign");
    const auto report = world.ran();
    CHECK(report.exit_code == 1);
    CHECK(text::join(world.fake.calls("build").back(), " ").find("--platform linux/arm64 ") !=
          std::string::npos);
    CHECK(
        report.images[0].error ==
        report.images[0].id +
            ": the build failed: this machine cannot run programs of linux/arm64: build on one that can, or "
            "register an emulator (Debian, Ubuntu: apt-get install qemu-user-static binfmt-support)");
}

TEST_CASE("session: lock writes pins once; --update asks again and says what moved") {
    World world;
    const auto first = world.lock();
    REQUIRE(first.ok());
    CHECK_FALSE(first->empty());
    const auto before = content_of(world.lock_file());
    const auto again = world.lock();
    REQUIRE(again.ok());
    CHECK(*again == std::vector<std::string>{"1 image: already pinned"});

    world.answer("apt-devel.txt", "Inst g++-11 (11.3.0-99 Debian:12.1/stable [amd64])\n");
    const auto updated = world.lock(true);
    REQUIRE(updated.ok());
    REQUIRE(updated->size() == 1);
    CHECK(updated->front().find("11.3.0-12 -> 11.3.0-99") != std::string::npos);
    CHECK(content_of(world.lock_file()) != before);
    const auto unmoved = world.lock(true);
    REQUIRE(unmoved.ok());
    CHECK(*unmoved == std::vector<std::string>{"nothing moved"});
}

TEST_CASE("session: --update moves only the pins that it names") {
    World world;
    REQUIRE(world.lock().ok());
    world.answer("apt-devel.txt", "Inst g++-11 (11.3.0-99 Debian:12.1/stable [amd64])\n");
    const std::vector<std::string> nothing{"nothing moved"};
    CHECK(world.lock(true, {"images"}).value() == nothing);
    CHECK(world.fake.calls("build").size() == 1);
    CHECK(world.lock(true, {"wheels"}).value() == nothing);
    const std::vector<std::string> moved{"debian12-cu11.8.0: g++-11 11.3.0-12 -> 11.3.0-99"};
    CHECK(world.lock(true, {"debian12-cu11.8.0"}).value() == moved);
    world.answer("apt-devel.txt", "Inst g++-11 (11.3.0-100 Debian:12.1/stable [amd64])\n");
    CHECK(world.lock(true, {"wheels", "apt"}).value().size() == 1);
    // The packages of an image are resolved on its base: with it, they move.
    world.answer("apt-devel.txt", "Inst g++-11 (11.3.0-101 Debian:12.1/stable [amd64])\n");
    CHECK(world.lock(true, {"bases"}).value() == nothing);
    world.fake.script("mmdebstrap", "for last; do :; done\nprintf 'a newer distribution' > \"$last\"");
    CHECK(world.lock(true, {"wheels"}).value() == nothing);
    const auto with_base = world.lock(true, {"bases"});
    REQUIRE(with_base.ok());
    REQUIRE(with_base->size() == 2);
    CHECK(with_base->front().starts_with("bookworm: bootstrap tar "));
    CHECK(with_base->back() == "debian12-cu11.8.0: g++-11 11.3.0-100 -> 11.3.0-101");
    const auto refused = world.lock(true, {"debian12-cu11.8.1"});
    CHECK(refusal(refused, ExitCode::bad_input) ==
          "--update debian12-cu11.8.1: it is none of images, bases, apt and wheels, no image of this matrix "
          "and no "
          "base of one");
    CHECK(refused.failure().diagnostics.front().fix == "did you mean debian12-cu11.8.0?");
}

TEST_CASE("session: --locked refuses what the lock does not cover, and starts nothing") {
    World world;
    world.settings.locked = true;
    for (const auto job : {render_images, run_all}) {
        const auto report = world.with_input(job);
        CHECK(refusal(report, ExitCode::bad_input) == "--locked: there is no " + world.lock_file().string());
        CHECK(report.failure().diagnostics.front().fix ==
              "cudamatrix lock " + (world.folder() / "matrix.yaml").string());
    }
    REQUIRE(world.lock().ok());
    CHECK(world.render().ok());
    const auto builds = world.fake.calls("build").size();
    auto lock = content_of(world.lock_file());
    const auto refused = [&](const std::string& from, const std::string& to) {
        std::ofstream(world.lock_file()) << text::replace_all(lock, from, to);
        const auto report = world.render();
        return refusal(report, ExitCode::findings);
    };
    const auto start =
        fmt::format("--locked: {} does not cover debian12-cu11.8.0: it has ", world.lock_file().string());
    CHECK(refused("\"debian12-cu11.8.0\"", "\"other\"") == start + "no packages and wheels of it");
    CHECK(refused("\"asked\": \"", "\"asked\": \"x") ==
          start + "packages and wheels for what it asked for before, which is not what it asks for now");
    CHECK(refused("\"bookworm\": {", "\"trixie\": {") == start + "no bootstrap tar of bookworm");
    CHECK(refused("\"libcudart11.0=11.8.89~11.8.0-5\"", "") ==
          start + "no pin of libcudart11.0 (list runtime)");
    CHECK(refused("\"g++-11=11.3.0-12\"", "\"g++-12=11.3.0-12\"") == start + "no pin of g++-11 (list devel)");
    CHECK(refused("\"libnvvm4=1.0\",", "") == start + "no pin of libnvvm4 (list toolkit)");
    // What the image does not ask for by name: a dependency, another version, a hash.
    const auto edited =
        fmt::format("--locked: {}: the pins of debian12-cu11.8.0 are not those that lock wrote",
                    world.lock_file().string());
    CHECK(refused("\"libcudart11.0=", "\"libc-bin=2.36-9\", \"libcudart11.0=") == edited);
    CHECK(refused("11.8.89~11.8.0-5", "11.8.89~11.8.0-6") == edited);
    std::ofstream(world.lock_file()) << lock;
    CHECK(world.render().ok());
    CHECK(world.fake.calls("build").size() == builds);
}

TEST_CASE(
    "session: a pin that is gone from the lock is refused by build, and resolved anew by lock and run") {
    World world;
    REQUIRE(world.lock().ok());
    const auto whole = content_of(world.lock_file());
    const std::string pin = "\"libcudart11.0=11.8.89~11.8.0-5\"";
    REQUIRE(whole.find(pin) != std::string::npos);
    std::ofstream(world.lock_file()) << text::replace_all(whole, pin, "");
    const auto builds = world.fake.calls("build").size();
    const auto built = world.build();
    CHECK(refusal(built, ExitCode::bad_input) ==
          world.lock_file().string() + " does not cover debian12-cu11.8.0");
    const auto& problem = built.failure().diagnostics.front();
    CHECK(problem.notes ==
          std::vector<std::string>{"debian12-cu11.8.0: it has no pin of libcudart11.0 (list runtime)"});
    CHECK(problem.fix == "cudamatrix lock " + (world.folder() / "matrix.yaml").string());
    CHECK(world.fake.calls("build").size() == builds);
    // Only the list that lacks it is resolved anew: the compiler has moved on since.
    world.answer("apt-devel.txt", "Inst g++-11 (11.3.0-99 Debian:12.1/stable [amd64])\n");
    SUBCASE("by lock") {
        CHECK(world.lock().value() ==
              std::vector<std::string>{"debian12-cu11.8.0: libcudart11.0 1.0 -> 11.8.89~11.8.0-5"});
    }
    SUBCASE("by run") {
        CHECK(world.ran().exit_code == 4);
    }
    CHECK(content_of(world.lock_file()) == whole);
}

TEST_CASE(
    "session: what a registry's base holds needs no pin, and an old lock that does not say so is completed") {
    RegistryWorld registry;
    auto& world = registry.world;
    world.answer("apt-devel.txt", "");
    world.answer("base-devel.txt", "apt=2.6.2\ng++-11=11.2.0-1\n");
    const auto locked = world.lock();
    REQUIRE_MESSAGE(locked.ok(), World::render_failure(locked.failure()));
    const auto whole = content_of(world.lock_file());
    auto lock = written_lock(world);
    auto& pins = lock.images.begin()->second;
    CHECK(pins.devel.empty());
    CHECK(pins.held == decltype(pins.held){{"devel", {"g++-11"}}});
    world.settings.locked = true;
    CHECK(world.render().ok());
    pins.held.clear();
    REQUIRE(write_lock(world.lock_file(), lock).ok());
    CHECK(refusal(world.render(), ExitCode::findings).ends_with("it has no pin of g++-11 (list devel)"));
    // Nothing moves, although the archive has more now.
    world.answer("apt-devel.txt", "Inst make (1.0 Ubuntu:22.04/x [amd64])\n");
    CHECK(world.lock().value() == std::vector<std::string>{"nothing moved"});
    CHECK(content_of(world.lock_file()) == whole);
}

TEST_CASE("session: an answer from the base that is no answer leaves the old lock as it was") {
    World world;
    REQUIRE(world.lock().ok());
    const auto before = content_of(world.lock_file());
    for (const auto* bad : {"", "Inst g++-11 (1.0;rm)\n", "Inst $(x) (1.0 x)\n", "\xff\xfe"}) {
        world.answer("apt-devel.txt", bad);
        const auto updated = world.lock(true);
        INFO(bad);
        CHECK_FALSE(updated.ok());
        CHECK(content_of(world.lock_file()) == before);
    }
}

TEST_CASE("session: a base that has moved on since the lock is drift") {
    World world;
    REQUIRE(world.lock().ok());
    fs::remove_all(world.settings.out / "bootstrap");
    world.fake.script("mmdebstrap", "for last; do :; done\nprintf 'a newer distribution' > \"$last\"");
    const auto report = world.build();
    CHECK(refusal(report, ExitCode::findings) ==
          fmt::format("the base of bookworm is not the one in cudamatrix.lock: sha256 {} is locked, "
                      "bootstrapping gives {}: its archive has moved on",
                      sha256("a distribution"), sha256("a newer distribution")));
    CHECK(report.failure().diagnostics.front().fix ==
          "cudamatrix lock --update=bases " + (world.folder() / "matrix.yaml").string());
    CHECK(world.lock(true).ok());
    CHECK(world.build().ok());
}

TEST_CASE("session: a suite that cannot be bootstrapped keeps back its own images only, and is exit 3") {
    World world(R"(version: 1
name: suites
axes: {cuda: ["11.8.0", "12.4.1"], os: [debian12, debian13]}
zip: [[cuda, os]]
set: {driver: "550.54.15", gpu: T4}
)");
    const std::string works = "for last; do :; done\nprintf 'a distribution' > \"$last\"";
    world.fake.script("mmdebstrap",
                      "case \"$*\" in *trixie*) echo 'E: 404 Not Found' >&2; exit 25;; esac\n" + works);
    const auto why = "the base of trixie cannot be bootstrapped: mmdebstrap: exit code 25: E: 404 Not Found";
    const auto locked = world.lock();
    CHECK(refusal(locked, ExitCode::environment) == why);
    CHECK(
        locked.failure().diagnostics.front().fix ==
        "its archive no longer has trixie: build: {snapshot: DATE} in the matrix file takes it as it was on "
        "that day");
    const auto lock = read_lock(world.lock_file());
    REQUIRE(lock.ok());
    REQUIRE(lock->has_value());
    CHECK((*lock)->bases.contains("bookworm"));
    CHECK_FALSE((*lock)->bases.contains("trixie"));
    CHECK((*lock)->images.size() == 1);
    for (const bool whole : {false, true}) {
        const auto report = whole ? world.run() : world.build();
        REQUIRE(report.ok());
        CHECK(report->exit_code == 3);
        REQUIRE(report->cells.size() == 2);
        CHECK(report->cells[0].outcome == (whole ? CellOutcome::passed_without_gpu : CellOutcome::planned));
        CHECK(report->cells[0].proof >= Proof::built);
        CHECK(report->cells[1].outcome == CellOutcome::errored);
        CHECK(report->cells[1].reason == std::string("not run: ") + why);
        CHECK(report->cells[1].proof == Proof::none);
    }
    CHECK(torn_files(world.folder()) == 0);
    world.fake.script("mmdebstrap", works);
    const auto incomplete = world.build();
    REQUIRE_FALSE(incomplete.ok());
    CHECK(incomplete.failure().code == ExitCode::bad_input);
}

namespace {

std::string compiler_of(const World& world, const std::string& id) {
    return written_lock(world).images.at(id).devel.front().version;
}

// Two images on one base, of which the second cannot be resolved any more.
void check_what_keeps_its_pins(const std::string& arch, const std::string& ending, const std::string& base) {
    INFO(arch);
    World world(
        "version: 1\nname: two\naxes: {flavour: [base, devel]}\n"
        "set: {cuda: \"11.8.0\", os: debian12, driver: \"550.54.15\", gpu: T4, arch: " +
        arch + "}\n");
    const auto good = "debian12-cu11.8.0" + ending, bad = "debian12-cu11.8.0-devel" + ending;
    const auto tar = world.settings.out / "bootstrap" / ("bootstrap-" + base + ".tar");
    const auto answer = [&](const std::string& version) {
        world.answer("apt-devel.txt",
                     text::replace_all("Inst g++-11 (V Debian:12.1/stable [amd64])\n"
                                       "Inst nvidia-cuda-toolkit (V Debian:12.1/stable [amd64])\n",
                                       "V", version));
    };
    answer("1.0");
    world.fake.faults("lock_fails:" + bad);
    const auto why =
        bad +
        ": the build failed: #6 ERROR: executor failed running [/bin/sh -c apt-get update]: exit code: 100";
    const auto refused = [&](Result<std::vector<std::string>> locked) {
        CHECK(refusal(locked, ExitCode::findings) == why);
    };
    refused(world.lock());
    CHECK(written_lock(world).images.size() == 1);
    CHECK(written_lock(world).images.contains(good));
    const auto report = world.ran();
    CHECK(report.exit_code == 1);
    REQUIRE(report.cells.size() == 2);
    CHECK(report.cells[0].outcome == CellOutcome::passed_without_gpu);
    CHECK(report.cells[1].outcome == CellOutcome::errored);
    CHECK(report.cells[1].reason == "not run: " + why);

    world.fake.faults("");
    const auto whole = world.lock();
    REQUIRE_MESSAGE(whole.ok(), World::render_failure(whole.failure()));
    CHECK(compiler_of(world, bad) == "1.0");
    world.fake.faults("lock_fails:" + bad);
    answer("2.0");
    const auto before = content_of(world.lock_file());
    // Both were resolved on one base: it moves under both of them or under none.
    world.fake.script("mmdebstrap", "for last; do :; done\nprintf 'a newer distribution' > \"$last\"");
    refused(world.lock(true, {"bases"}));
    CHECK(content_of(world.lock_file()) == before);
    CHECK(content_of(tar) == "a distribution");
    refused(world.lock(true, {"apt"}));
    CHECK(compiler_of(world, good) == "2.0");
    CHECK(compiler_of(world, bad) == "1.0");
    world.fake.faults("");
    CHECK(world.lock(true, {"bases"}).ok());
    CHECK(content_of(tar) == "a newer distribution");
    CHECK_FALSE(fs::exists(tar.parent_path() / ("before-" + tar.filename().string())));
    CHECK(torn_files(world.folder()) == 0);
}

}  // namespace

TEST_CASE("session: what cannot be resolved keeps its pins, and the base under them; the others move") {
    check_what_keeps_its_pins("x86_64", "", "bookworm");
    check_what_keeps_its_pins("aarch64", "-aarch64", "bookworm-arm64");
}

TEST_CASE("session: a tag that there is not, or not any more, keeps back the images on it alone") {
    RegistryWorld registry("x86_64", "[ubuntu22.04, ubuntu20.04]");
    auto& world = registry.world;
    const std::string good = "nvidia-cuda-ubuntu22.04-cu12.4.1", bad = "nvidia-cuda-ubuntu20.04-cu12.4.1";
    const auto findings = [&](Result<std::vector<std::string>> locked) {
        REQUIRE_FALSE(locked.ok());
        CHECK(locked.failure().code == ExitCode::findings);
        std::string out;
        for (const auto& finding : locked.failure().diagnostics)
            out += finding.message + "\n";
        return text::replace_all(out, registry.registry.host(), "HOST");
    };
    const auto answer = [&](const std::string& version) {
        world.answer("apt-devel.txt", text::replace_all("Inst g++-11 (V Ubuntu:22.04/jammy [amd64])\n"
                                                        "Inst g++-9 (V Ubuntu:20.04/focal [amd64])\n",
                                                        "V", version));
    };
    answer("1.0");
    CHECK(findings(world.lock()) ==
          "docker.io/nvidia/cuda:12.4.1-devel-ubuntu20.04: the registry HOST has no such tag\n"
          "docker.io/nvidia/cuda:12.4.1-runtime-ubuntu20.04: the registry HOST has no such tag\n");
    CHECK(written_lock(world).images.size() == 1);
    CHECK(written_lock(world).images.contains(good));
    CHECK(written_lock(world).references.size() == 2);

    registry.put("ubuntu20.04");
    const auto whole = world.lock();
    REQUIRE_MESSAGE(whole.ok(), World::render_failure(whole.failure()));
    CHECK(written_lock(world).images.size() == 2);
    const auto before = content_of(world.lock_file());
    registry.remove("ubuntu20.04");
    const auto pinned = [&](const char* flavour) {
        return written_lock(world)
            .references.at(fmt::format("docker.io/nvidia/cuda:12.4.1-{}-ubuntu20.04", flavour))
            .digest;
    };
    CHECK(
        findings(world.lock()) ==
        fmt::format("docker.io/nvidia/cuda:12.4.1-devel-ubuntu20.04 has vanished: cudamatrix.lock pins {}, "
                    "the registry HOST has no such tag now\n"
                    "docker.io/nvidia/cuda:12.4.1-runtime-ubuntu20.04 has vanished: cudamatrix.lock pins {}, "
                    "the registry HOST has no such tag now\n",
                    pinned("devel"), pinned("runtime")));
    CHECK(content_of(world.lock_file()) == before);
    answer("2.0");
    CHECK(findings(world.lock(true)) ==
          fmt::format(
              "docker.io/nvidia/cuda:12.4.1-devel-ubuntu20.04: the registry HOST has no such tag now: "
              "cudamatrix.lock pins {}\n"
              "docker.io/nvidia/cuda:12.4.1-runtime-ubuntu20.04: the registry HOST has no such tag now: "
              "cudamatrix.lock pins {}\n",
              pinned("devel"), pinned("runtime")));
    CHECK(compiler_of(world, good) == "2.0");
    CHECK(compiler_of(world, bad) == "1.0");
}

TEST_CASE("session: a registry that cannot be asked keeps back its own images only, and is exit 3") {
    World world(R"(version: 1
name: reach
mirrors: {docker.io: "127.0.0.1:9/none"}
axes: {os: [debian12, ubuntu22.04], family: [debian, nvidia-cuda], cuda: ["11.8.0", "12.4.1"]}
zip: [[os, family, cuda]]
set: {driver: "550.54.15", gpu: T4}
)");
    const auto refused = [&] {
        const auto locked = world.lock();
        REQUIRE_FALSE(locked.ok());
        CHECK(locked.failure().code == ExitCode::environment);
        for (const auto& why : locked.failure().diagnostics)
            CHECK(why.message.find("127.0.0.1:9") != std::string::npos);
        CHECK(written_lock(world).images.size() == 1);
        CHECK(written_lock(world).images.contains("debian12-cu11.8.0"));
        CHECK(written_lock(world).references.empty());
    };
    refused();
    const auto before = content_of(world.lock_file());
    refused();  // what is pinned stays
    CHECK(content_of(world.lock_file()) == before);
    const auto report = world.ran();
    CHECK(report.exit_code == 3);
    REQUIRE(report.cells.size() == 2);
    CHECK(report.cells[0].outcome == CellOutcome::passed_without_gpu);
    CHECK(report.cells[1].outcome == CellOutcome::errored);
    CHECK(report.cells[1].reason.starts_with("not run: "));
}
