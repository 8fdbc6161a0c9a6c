#include "run/job/clean.hpp"

#include "report/formats.hpp"
#include "run/job/folder.hpp"
#include "session_world.hpp"

using namespace cudamatrix;
using session_world::World;

namespace {

constexpr const char* kImages = R"({
  "cudamatrix/two:a": {"Id": "sha256:a1", "Config": {"Labels": {"io.cudamatrix.inputs": "x"}}},
  "cudamatrix/two:a-proof": {"Id": "sha256:a2", "Config": {"Labels": {"io.cudamatrix.inputs": "x"}}},
  "my/app:1": {"Id": "sha256:a3", "Config": {"Labels": {"io.cudamatrix.inputs": "x"}}},
  "cudamatrix/two:theirs": {"Id": "sha256:a4", "Config": {"Labels": {}}},
  "debian:12": {"Id": "sha256:a5", "Config": {"Labels": {"other": "x"}}},
  "sha256:a6": {"Id": "sha256:a6", "Config": {"Labels": {"io.cudamatrix.inputs": "old"}}}
})";

// An engine that holds containers and images of ours and of others.
struct Store {
    Store() {
        std::filesystem::create_directories(fake.state() / "containers");
        for (const auto& [name, label] :
             {std::pair{"mine", "io.cudamatrix.run=r1"}, std::pair{"older", "io.cudamatrix.run=r0"},
              std::pair{"theirs", "com.example.run=1"}})
            std::ofstream(fake.state() / "containers" / name) << label;
        std::ofstream(fake.state() / "images.json") << kImages;
        settings.engine.name = "docker";
        settings.environment = fake.environment;
    }

    std::string cleaned(std::string_view format = "text") {
        settings.environment = fake.environment;
        const auto report = job::clean(settings);
        REQUIRE(report.ok());
        return report::format_named(report::clean_formats(), format)->write(*report);
    }
    std::string images() const { return session_world::content_of(fake.state() / "images.json"); }

    fakes::FakeDocker fake;
    job::CleanSettings settings;
};

}  // namespace

TEST_CASE("clean: containers with our label go, images only where it is said, and nothing else") {
    Store store;
    CHECK(store.cleaned() ==
          "removed container mine\nremoved container older\nengine docker: 2 containers removed\n");
    CHECK(store.fake.containers() == std::vector<std::string>{"theirs"});
    CHECK(store.images() == kImages);
    CHECK(store.cleaned() == "engine docker: nothing to remove\n");

    store.settings.images = true;
    CHECK(
        store.cleaned() ==
        "removed image cudamatrix/two:a-proof\nremoved image cudamatrix/two:a\nkept image my/app:1: its name is "
        "not one of ours\nremoved image sha256:a6\nengine docker: 3 images removed, 1 image kept\n");
    for (const auto* kept : {"my/app:1", "cudamatrix/two:theirs", "debian:12"})
        CHECK(store.images().find(kept) != std::string::npos);
    CHECK(store.images().find("a6") == std::string::npos);
}

TEST_CASE("clean: a dry run touches nothing and says the same") {
    Store store;
    store.settings.images = store.settings.dry_run = true;
    CHECK(
        store.cleaned() ==
        "would remove container mine\nwould remove container older\nwould remove image "
        "cudamatrix/two:a-proof\nwould remove image cudamatrix/two:a\nkept image my/app:1: its name is not one of "
        "ours\nwould remove image sha256:a6\nengine docker: 2 containers and 3 images would be removed, 1 image "
        "kept\n");
    CHECK(store.fake.containers().size() == 3);
    CHECK(store.images() == kImages);
    CHECK(store.fake.calls("rm").empty());
}

TEST_CASE("clean: what the engine holds on to is said with the engine's reason") {
    Store store;
    store.settings.images = true;
    store.fake.faults("image_in_use:cudamatrix/two:a,image_in_use:sha256:a6");
    const auto said = store.cleaned("json");
    const auto json = parse_json(said, "clean");
    REQUIRE(json.ok());
    CHECK((*json)["schema_version"] == 1);
    CHECK((*json)["engine"] == "docker");
    CHECK((*json)["dry_run"] == false);
    CHECK((*json)["containers"][0] == Json{{"id", "mine"}, {"name", "mine"}, {"outcome", "removed"}});
    CHECK((*json)["images"][1] ==
          Json{{"id", "sha256:a1"},
               {"name", "cudamatrix/two:a"},
               {"outcome", "failed"},
               {"reason", "Error: image is in use by a container: cudamatrix/two:a"}});
    CHECK((*json)["images"][3]["name"] == "");
    CHECK((*json)["images"][3]["outcome"] == "failed");
    CHECK(store.cleaned().find("could not remove image cudamatrix/two:a: Error: image is in use") !=
          std::string::npos);
    CHECK(store.cleaned().ends_with("engine docker: 1 image kept, 2 images still there\n"));
}

TEST_CASE("clean: podman's own form of the names is ours, too") {
    Store store;
    store.fake.install("podman");
    store.settings.engine.name = "podman";
    store.settings.images = true;
    std::ofstream(store.fake.state() / "images.json")
        << R"({"localhost/cudamatrix/two:a": {"Id": "sha256:a1", "Config": {"Labels": {"io.cudamatrix.inputs": "x"}}},
               "localhost/cudamatrix-like/app:1": {"Id": "sha256:a2", "Config": {"Labels": {"io.cudamatrix.inputs": "x"}}}})";
    const auto said = store.cleaned();
    CHECK(said.find("removed image localhost/cudamatrix/two:a\n") != std::string::npos);
    CHECK(said.find("kept image localhost/cudamatrix-like/app:1: its name is not one of ours\n") !=
          std::string::npos);
}

TEST_CASE("clean: --out removes only what was made for that folder") {
    World world;
    const auto report = world.ran();
    REQUIRE(report.exit_code == 4);
    const auto runs = world.fake.calls("run");
    REQUIRE_FALSE(runs.empty());
    const auto mark = "io.cudamatrix.folder=" + job::folder_mark(world.settings.out);
    CHECK(std::count(runs[0].begin(), runs[0].end(), mark) == 1);
    CHECK(job::folder_mark(world.settings.out / "") == job::folder_mark(world.settings.out));
    CHECK(job::folder_mark(world.settings.out / "x") != job::folder_mark(world.settings.out));

    job::CleanSettings settings;
    settings.engine.name = "docker";
    settings.environment = world.fake.environment;
    settings.images = true;
    settings.out = world.settings.out;
    std::filesystem::create_directories(world.fake.state() / "containers");
    std::ofstream(world.fake.state() / "containers" / "here") << mark;
    std::ofstream(world.fake.state() / "containers" / "elsewhere") << "io.cudamatrix.folder=0000000000000000";
    auto images = *parse_json(session_world::content_of(world.fake.state() / "images.json"), "images");
    for (const auto* other : {"cudamatrix/other:a", "sha256:a6"})
        images[other] = images.front();
    std::ofstream(world.fake.state() / "images.json") << to_text(images);

    const auto cleaned = job::clean(settings);
    REQUIRE(cleaned.ok());
    CHECK(report::clean_text(*cleaned) ==
          "removed container here\nremoved image cudamatrix/two:debian12-cu11.8.0-proof\nremoved image "
          "cudamatrix/two:debian12-cu11.8.0\nengine docker: 1 container and 2 images removed\n");
    CHECK(world.fake.containers() == std::vector<std::string>{"elsewhere"});

    settings.out = world.folder();
    const auto refused = job::clean(settings);
    CHECK(session_world::refusal(refused, ExitCode::bad_input) ==
          world.folder().string() + " is no output folder: it has no index.json that can be read");
}

TEST_CASE("clean: an engine without containers, one that does not answer, and a folder at work are refused") {
    Store store;
    SUBCASE("host") {
        store.fake.script("nvcc", "echo 'Cuda compilation tools, release 12.4, V12.4.131'");
        store.settings.engine.name = "host";
        store.settings.environment = store.fake.environment;
        CHECK(session_world::refusal(job::clean(store.settings), ExitCode::bad_input) ==
              "engine host has neither containers nor images");
    }
    SUBCASE("an engine that dies") {
        store.fake.faults("daemon_dies");
        store.settings.environment = store.fake.environment;
        CHECK(session_world::refusal(job::clean(store.settings), ExitCode::environment)
                  .find("engine docker does not list its containers: Cannot connect to the Docker daemon") ==
              0);
    }
    SUBCASE("a folder at work") {
        const auto out = store.fake.root() / "out";
        std::filesystem::create_directories(out);
        std::ofstream(out / "index.json") << R"({"images": []})";
        const auto held = job::FolderLock::take(out);
        REQUIRE(held.ok());
        store.settings.out = out;
        CHECK(session_world::refusal(job::clean(store.settings), ExitCode::environment) ==
              "another cudamatrix is at work in " + out.string());
    }
    CHECK(store.fake.containers().size() == 3);
}
