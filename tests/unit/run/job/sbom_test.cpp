// Bills of materials of images that a fake engine holds.
#include "report/sbom.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "run/engine/dialect.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

namespace {

constexpr const char* kHeld =
    "base-files\t12.4+deb12u12\tamd64\n"
    "libcudart11.0\t11.8.89~11.8.0-5\tamd64\n";

report::SbomReport sboms(World& world) {
    auto report = world.with_input(make_sboms);
    if (!report.ok()) FAIL(World::render_failure(report.failure()));
    return std::move(*report);
}

void hold(const World& world, const std::string& text) {
    std::ofstream(world.fake.state() / "holds-dpkg-query.txt", std::ios::binary) << text;
}

std::string problem(World& world) {
    const auto report = sboms(world);
    REQUIRE(report.images.size() == 1);
    REQUIRE(report.images[0].problems.size() == 1);
    return report.images[0].problems[0];
}

}  // namespace

TEST_CASE("sbom: what an image says that it holds, beside what the lock pins") {
    World world;
    hold(world, kHeld);
    CHECK(problem(world) == "it is not built: cudamatrix build makes it");
    REQUIRE(world.lock().ok());
    REQUIRE(world.build().ok());
    const auto report = sboms(world);
    REQUIRE(report.images.size() == 1);
    CHECK(report.images[0].problems.empty());
    CHECK(report.images[0].components == 2);
    CHECK(report.images[0].files ==
          std::vector<std::string>{"sbom/debian12-cu11.8.0.spdx.json", "sbom/debian12-cu11.8.0.cdx.json"});
    const auto spdx = content_of(world.settings.out / report.images[0].files[0]);
    CHECK(spdx.find("pkg:deb/debian/libcudart11.0@11.8.89~11.8.0-5?arch=amd64&distro=debian-12") !=
          std::string::npos);
    CHECK(spdx.find("\"created\": \"2026-11-21T00:00:00Z\"") != std::string::npos);
    CHECK(world.fake.containers().empty());
    for (const auto& call : world.fake.calls("run")) {
        CHECK_FALSE(engine::forbidden_argument(call).has_value());
        const auto network = std::ranges::find(call, "--network");
        REQUIRE(network != call.end());
        CHECK(*(network + 1) == "none");
    }
}

TEST_CASE("sbom: an image that holds something else than the lock pins, or answers with something else") {
    World world;
    REQUIRE(world.lock().ok());
    REQUIRE(world.build().ok());
    SUBCASE("another version") {
        hold(world, "libcudart11.0\t11.8.90\tamd64\n");
        CHECK(problem(world) == "the lock pins libcudart11.0 11.8.89~11.8.0-5, and the image holds 11.8.90");
    }
    SUBCASE("not there") {
        hold(world, "base-files\t12\tamd64\n");
        CHECK(problem(world) ==
              "the lock pins libcudart11.0 11.8.89~11.8.0-5, and the image does not hold it");
    }
    const std::string begin = "debian12-cu11.8.0: dpkg-query says \"";
    const std::string end = "\": expected a name, a version and an architecture";
    for (const auto& [line, shown] :
         std::vector<std::pair<std::string, std::string>>{{"one", "one"},
                                                          {"a\tb\tc\td", "a b c d"},
                                                          {"a\t\tc", "a  c"},
                                                          {"a b\t1\tamd64", "a b 1 amd64"},
                                                          {"a\"\t1\tamd64", "a\" 1 amd64"},
                                                          {"a\x1b[2J\t1\tamd64", "a?[2J 1 amd64"}}) {
        SUBCASE(shown.c_str()) {
            hold(world, line + "\n");
            CHECK(problem(world) == begin + shown + end);
        }
    }
    SUBCASE("a word without end") {
        hold(world, std::string(300, 'a') + "\t1\tamd64\n");
        CHECK(problem(world) == begin + std::string(100, 'a') + end);
    }
    SUBCASE("it fails") {
        hold(world, "FAIL");
        CHECK(problem(world) == "debian12-cu11.8.0: dpkg-query does not tell what it holds: no database");
    }
    for (const auto& entry : fs::recursive_directory_iterator(world.settings.out)) {
        if (entry.path().extension() != ".json") continue;
        CHECK(content_of(entry.path()).find('\x1b') == std::string::npos);
    }
}

TEST_CASE("sbom: of a toolkit's wheels those whose files the image keeps") {
    const std::vector<std::pair<std::string, std::string>> wheels{
        {"nvidia-cuda-nvcc", "13.4.92"},    {"nvidia-nvvm", "13.4.92"},
        {"nvidia-cuda-crt", "13.4.92"},     {"nvidia-cuda-runtime", "13.4.92"},
        {"nvidia-cuda-cccl", "13.3.4.3.1"}, {"nvidia-cublas", "13.8.0.4"},
        {"nvidia-cufft", "12.4.0.43"},      {"nvidia-curand", "10.4.4.72"},
        {"nvidia-cusolver", "12.3.5.3"},    {"nvidia-cusparse", "12.8.6.72"},
        {"nvidia-npp", "13.2.0.58"},        {"nvidia-nvjpeg", "13.2.3.58"},
        {"nvidia-cuda-nvrtc", "13.4.92"},   {"nvidia-nvjitlink", "13.4.92"},
        {"nvidia-nccl-cu13", "2.32.3"}};
    std::string items;
    for (const auto& [name, version] : wheels)
        items += fmt::format(R"({}{{"metadata": {{"name": "{}", "version": "{}"}}, "download_info": )"
                             R"({{"url": "", "archive_info": {{"hashes": {{"sha256": "{}"}}}}}}}})",
                             items.empty() ? "" : ", ", name, version, std::string(64, 'a'));
    const auto kept = [&](const std::string& flavour) {
        World world(
            "version: 1\nname: one\nset: {driver: \"580.65.06\", gpu: T4, cuda: \"13.4.3\", "
            "os: debian12, flavour: " +
            flavour + "}\n");
        world.answer("apt-devel.txt", "Inst g++-12 (12.2.0-14 Debian:12.1/stable [amd64])\n");
        world.answer("apt-python.txt", "Inst python3-venv (3.11.2-1 Debian:12.1/stable [amd64])\n");
        world.answer("pip-cuda.json", R"({"version": "1", "install": [)" + items + "]}");
        hold(world, "base-files\t12.4+deb12u12\tamd64\n");
        REQUIRE(world.lock().ok());
        REQUIRE(world.build().ok());
        const auto report = sboms(world);
        REQUIRE(report.images.size() == 1);
        REQUIRE(report.images[0].problems.empty());
        const auto spdx = content_of(world.settings.out / report.images[0].files[0]);
        std::string names;
        for (const auto& [name, version] : wheels) {
            if (spdx.find(fmt::format("pkg:pypi/{}@{}", name, version)) != std::string::npos)
                names += (names.empty() ? "" : " ") + name.substr(7);
        }
        return names;
    };
    CHECK(kept("base") == "cuda-runtime");
    CHECK(kept("runtime") ==
          "cuda-runtime cublas cufft curand cusolver cusparse npp nvjpeg cuda-nvrtc nvjitlink nccl-cu13");
}

TEST_CASE("sbom: no image is chosen, or the engine has none") {
    World world;
    REQUIRE(world.lock().ok());
    world.settings.engine = "host";
    world.fake.script("nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'");
    const auto report = world.with_input(make_sboms);
    CHECK(refusal(report, ExitCode::bad_input) == "engine host has no images");
}
