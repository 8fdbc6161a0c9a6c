#include "run/job/lock.hpp"

#include <doctest/doctest.h>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "fakes/http_server.hpp"
#include "unit/run/job/registry_images.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;
using fakes::HttpServer;

namespace {

const std::string kRuntime = "docker.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04";
const std::string kDevel = "docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04";

constexpr const char* kEnv = R"("CUDA_VERSION=12.4.1","NVIDIA_REQUIRE_CUDA=cuda>=12.4","TOKEN=env-secret")";

std::string index_of(std::string_view architecture, int build = 0) {
    return test::index_of(architecture, kEnv, build);
}
using test::digest_of;

/// A registry behind the mirror map, and one image with two bases of it.
struct BasesWorld {
    BasesWorld() {
        matrix.path = "here/m.yaml";
        matrix.mirrors = {{"docker.io", server.host() + "/plain"}};
        settings.environment = {{"HOME", server.root().string()}};
        settings.today = "2026-11-21";
        settings.screen.line = [this](std::string_view line) { progress += std::string(line) + "\n"; };
        Image image;
        image.id = "train";
        image.arch = "x86_64";
        image.base_reference = kRuntime;
        image.devel_reference = kDevel;
        images.push_back(image);
        for (const auto* architecture : {"amd64", "arm64"})
            test::put_parts(server, "nvidia/cuda", architecture, kEnv);
        put("runtime", index_of("amd64"));
        put("devel", index_of("amd64", 1));
    }
    void put(const std::string& flavour, std::string_view content) const {
        server.put("nvidia/cuda/manifests/12.4.1-" + flavour + "-ubuntu22.04", content);
    }
    void remove(const std::string& flavour) const {
        std::filesystem::remove(server.root() / "nvidia/cuda/manifests" /
                                ("12.4.1-" + flavour + "-ubuntu22.04"));
    }
    /// The findings as people see them, "HOST" for the registry's; the digests go into `lock` where there are
    /// none.
    std::string resolve(const LockScope& scope, bool check) {
        const RunInput input{matrix, facts, judgement, none};
        Job job(input, settings);
        job.plan.images = images;
        job.plan.lock = lock;
        const auto answer = resolve_bases(job, scope, check);
        if (!answer.ok()) return "failure: " + answer.failure().diagnostics.front().message;
        std::string out;
        found = answer->configurations;
        unreached.clear();
        for (const auto& [reference, why] : answer->unreached) {
            CHECK(why.code == ExitCode::environment);
            unreached.push_back(reference +
                                (answer->out_of_reach.contains(reference) ? " out of reach" : ""));
        }
        for (const auto& finding : answer->findings)
            out += render(finding, "");
        if (out.empty()) {
            for (const auto& [reference, base] : answer->references)
                lock.references[reference] = base;
            for (const auto& reference : answer->outdated)
                lock.configurations.erase(reference);
            for (const auto& [reference, configuration] : answer->configurations)
                lock.configurations[reference] = configuration;
        }
        return text::replace_all(text::replace_all(out, server.host(), "HOST"), "cudamatrix: error: ", "");
    }
    std::size_t asked() { return server.requests().size(); }

    HttpServer server{"registry_server.py"};
    Matrix matrix;
    Facts facts = Facts::embedded();
    Judgement judgement;
    RunSettings settings;
    std::vector<Image> images;
    const std::optional<Lock> none;
    Lock lock;
    std::vector<std::string> unreached;                            ///< of the last answer
    std::map<std::string, ImageConfiguration, std::less<>> found;  ///< of the last answer
    std::string progress;
};

}  // namespace

TEST_CASE("Bases of registries get the digests that their tags have; what is pinned is not asked for again") {
    BasesWorld world;
    CHECK(world.resolve(LockScope::missing(), false).empty());
    CHECK(world.lock.references.size() == 2);
    CHECK(world.lock.references[kRuntime].digest == digest_of(index_of("amd64")));
    CHECK(world.lock.references[kDevel].digest == digest_of(index_of("amd64", 1)));
    const auto before = world.asked();
    CHECK(world.resolve(LockScope::missing(), false).empty());
    CHECK(world.asked() == before);
    CHECK(world.resolve(LockScope::missing(), true).empty());
    CHECK(world.asked() == before + 2);  // one HEAD for each
}

TEST_CASE("A tag that moved or vanished is a finding that names the digests; --update takes it as it is") {
    BasesWorld world;
    REQUIRE(world.resolve(LockScope::missing(), false).empty());
    const auto old = digest_of(index_of("amd64"));
    const auto now = digest_of(index_of("amd64", 2));
    world.put("runtime", index_of("amd64", 2));
    const auto moved = fmt::format(
        "{0} has moved: cudamatrix.lock pins {1}, the registry HOST now gives {2}\n"
        "  note: what is pinned cannot be pulled any longer\n"
        "  fix: cudamatrix lock --update={0} here/m.yaml\n",
        kRuntime, old, now);
    CHECK(world.resolve(LockScope::missing(), true) == moved);
    world.server.put("nvidia/cuda/manifests/kept", index_of("amd64"));
    CHECK(world.resolve(LockScope::missing(), true) ==
          text::replace_all(moved, "cannot be pulled any longer", "can still be pulled by its digest"));
    CHECK(world.resolve(LockScope::missing(), false).empty());
    CHECK(world.lock.references[kRuntime].digest == old);

    world.remove("devel");
    CHECK(world.resolve(*LockScope::of({"nvidia/cuda:12.4.1-runtime-ubuntu22.04"}, world.images), false)
              .empty());
    CHECK(world.lock.references[kRuntime].digest == now);
    const auto devel = digest_of(index_of("amd64", 1));
    CHECK(world.resolve(LockScope::missing(), true) ==
          fmt::format("{} has vanished: cudamatrix.lock pins {}, the registry HOST has no such tag now\n"
                      "  note: what is pinned cannot be pulled any longer\n"
                      "  fix: choose a tag that there is, or a mirror that keeps it: mirrors: {{docker.io: "
                      "HOST/PATH}}\n",
                      kDevel, devel));
    CHECK(
        world.resolve(LockScope::everything(), true) ==
        fmt::format(
            "{}: the registry HOST has no such tag now: cudamatrix.lock pins {}\n"
            "  fix: choose a tag that there is, or a mirror that has it: mirrors: {{docker.io: HOST/PATH}}\n",
            kDevel, devel));
}

TEST_CASE("A base that never was, one for another architecture, and a registry that is not there") {
    BasesWorld world;
    world.remove("runtime");
    world.put("devel", index_of("arm64"));
    CHECK(
        world.resolve(LockScope::missing(), false) ==
        fmt::format(
            "{}: there is no image for linux/amd64: it has linux/arm64\n"
            "  fix: choose a tag that has it, or an architecture that this one has\n"
            "{}: the registry HOST has no such tag\n"
            "  fix: choose a tag that there is, or a mirror that has it: mirrors: {{docker.io: HOST/PATH}}\n",
            kDevel, kRuntime));
    CHECK(world.lock.references.empty());
    world.matrix.mirrors = {{"docker.io", world.server.host() + "/deny"}};
    CHECK(world.resolve(LockScope::missing(), false).empty());
    CHECK(world.unreached == std::vector<std::string>{kDevel + " out of reach", kRuntime + " out of reach"});
    // What is pinned stays, and the images on it can be resolved.
    world.lock.references[kDevel].digest = digest_of(index_of("amd64", 1));
    CHECK(world.resolve(LockScope::missing(), true).empty());
    CHECK(world.unreached == std::vector<std::string>{kDevel, kRuntime + " out of reach"});
    CHECK(world.lock.references.size() == 1);
}

TEST_CASE("What the configuration of a base says is read once for its digest, and nothing else of it") {
    BasesWorld world;
    REQUIRE(world.resolve(LockScope::missing(), false).empty());
    const ImageConfiguration expected{
        digest_of(index_of("amd64")), "2026-11-21", {"x86_64"}, "12.4.1", "cuda>=12.4"};
    REQUIRE(world.lock.configuration(kRuntime) != nullptr);
    CHECK(*world.lock.configuration(kRuntime) == expected);
    CHECK(world.lock.configurations.size() == 2);
    CHECK(lock_text(world.lock).find("secret") == std::string::npos);
    world.settings.today = "2027-01-01";
    const auto before = world.asked();
    REQUIRE(world.resolve(LockScope::everything(), true).empty());
    CHECK(*world.lock.configuration(kRuntime) == expected);
    CHECK(world.asked() == before + 4);  // HEAD and GET of each index
    // Of another build the same is read anew.
    world.put("runtime", index_of("amd64", 2));
    REQUIRE(world.resolve(LockScope::everything(), true).empty());
    CHECK(world.lock.configuration(kRuntime)->digest == digest_of(index_of("amd64", 2)));
    CHECK(world.lock.configuration(kRuntime)->as_of == "2027-01-01");
    CHECK(world.lock.configuration(kDevel)->as_of == "2026-11-21");
}

TEST_CASE("A lock of before gets the configurations of what it pins from `lock`, and not from `run`") {
    BasesWorld world;
    REQUIRE(world.resolve(LockScope::missing(), false).empty());
    const auto all = world.lock;
    world.lock.configurations.clear();
    REQUIRE(world.resolve(LockScope::missing(), false).empty());
    CHECK(world.lock.configurations.empty());
    REQUIRE(world.resolve(LockScope::missing(), true).empty());
    CHECK(world.lock == all);
    // That of another digest is none.
    world.lock.configurations[kDevel].digest = digest_of("x");
    REQUIRE(world.resolve(LockScope::missing(), true).empty());
    CHECK(world.lock == all);
    // Of a tag that moved, the one of what is pinned.
    world.lock.configurations.clear();
    world.put("kept", index_of("amd64"));
    world.put("runtime", index_of("amd64", 2));
    CHECK(world.resolve(LockScope::missing(), true).find("has moved") != std::string::npos);
    CHECK(world.found.at(kRuntime) == *all.configuration(kRuntime));
}

TEST_CASE("A base whose configuration cannot be read is pinned all the same, and what was known of it goes") {
    BasesWorld world;
    REQUIRE(world.resolve(LockScope::missing(), false).empty());
    const auto odd = [&](std::string_view env, const std::string& says) {
        test::put_parts(world.server, "nvidia/cuda", "amd64", env);
        world.put("runtime", test::index_of("amd64", env));
        world.progress.clear();
        REQUIRE(world.resolve(LockScope::everything(), true).empty());
        CHECK(world.lock.references[kRuntime].digest == digest_of(test::index_of("amd64", env)));
        CHECK(world.lock.configuration(kRuntime) == nullptr);
        CHECK(world.lock.configuration(kDevel) != nullptr);
        CHECK_MESSAGE(
            world.progress.find("what " + kRuntime + " requires of its host stays unknown: " + says) !=
                std::string::npos,
            world.progress);
    };
    odd(R"-("NVIDIA_REQUIRE_CUDA=cuda>=12.4 && $(x)")-",
        kRuntime + ": no row can hold its NVIDIA_REQUIRE_CUDA 'cuda>=12.4 && $(x)'");
    odd(R"("NVIDIA_REQUIRE_CUDA=\u001b[31m")", kRuntime + ": no row can hold");
    world.put("runtime", test::index_of("amd64", "\"not=there\""));
    REQUIRE(world.resolve(LockScope::everything(), true).empty());
    CHECK(world.lock.configuration(kRuntime) == nullptr);
    const auto index = index_of("amd64", 3);
    world.put("runtime", index);
    REQUIRE(world.resolve(LockScope::everything(), true).empty());
    CHECK(world.lock.configuration(kRuntime)->digest == digest_of(index));
}

TEST_CASE("What --update may name") {
    BasesWorld world;
    for (const auto* good :
         {"images", "bases", "apt", "wheels", "train", "nvidia/cuda:12.4.1-devel-ubuntu22.04"})
        CHECK_MESSAGE(LockScope::of({good}, world.images).ok(), good);
    const auto scope = LockScope::of({"wheels", kDevel}, world.images);
    REQUIRE(scope.ok());
    CHECK(scope->reference(kDevel));
    CHECK_FALSE(scope->reference(kRuntime));
    CHECK(scope->wheels("train"));
    CHECK_FALSE(scope->apt("train"));
    CHECK_FALSE(scope->bases());
    const std::string app = "registry.example.org/team/app:1";
    CHECK_FALSE(LockScope::of({app}, world.images).ok());
    const auto named = LockScope::of({app}, world.images, {app});
    REQUIRE(named.ok());
    CHECK(named->reference(app));
    CHECK_FALSE(named->reference(kDevel));
    for (const auto* bad :
         {"", "image", "Train", "all", "nvidia/cuda", "nvidia/cuda:12.4.1", "train\n", "apt wheels"}) {
        const auto refused = LockScope::of({"apt", bad}, world.images);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == ExitCode::bad_input);
        CHECK(refused.failure().diagnostics.front().message ==
              fmt::format(
                  "--update {}: it is none of images, bases, apt and wheels, no image of this matrix and no "
                  "base of one",
                  text::printable(bad)));
    }
}
