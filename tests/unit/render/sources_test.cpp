// Where packages, wheels and bases come from: archives, snapshots, indexes and mirrors.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/resolve_cell.hpp"
#include "unit/render/planned.hpp"

using namespace cudamatrix;
using test::one;
using test::refusal;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("the base: one command for each suite; mirrors and the CA bundle reach it") {
    auto image = one("set: {cuda: \"11.8.0\"}\n");
    Matrix matrix;
    matrix.build.ca_bundle = "/etc/ssl/site-ca.pem";
    const auto plain = bootstrap_of(image, matrix);
    CHECK(plain.base == "bookworm");
    CHECK(plain.command[2] == "--architectures=amd64");
    CHECK(plain.file == "bootstrap-bookworm.tar");
    CHECK(plain.command.front() == "mmdebstrap");
    CHECK(plain.command[plain.command.size() - 2] == "bookworm");
    CHECK(plain.command.back() == "{output}");
    CHECK(text::join(plain.command, " ").find("CAInfo") == std::string::npos);
    CHECK(plain.environment ==
          std::vector<std::pair<std::string, std::string>>{{"SOURCE_DATE_EPOCH", "1735689600"}});

    const auto foreign = bootstrap_of(one("set: {cuda: \"11.8.0\", arch: aarch64}\n"), matrix);
    CHECK(foreign.base == "bookworm-arm64");
    CHECK(foreign.file == "bootstrap-bookworm-arm64.tar");
    CHECK(foreign.command[2] == "--architectures=arm64");

    image =
        one("set: {cuda: \"11.8.0\"}\nmirrors: {debian: \"https://apt.example.org/debian\", "
            "debian-security: \"http://apt.example.org/security\"}\n");
    const auto mirrored = bootstrap_of(image, matrix);
    CHECK(Texts(mirrored.command.end() - 4, mirrored.command.end()) ==
          Texts{"{output}", "deb https://apt.example.org/debian bookworm main contrib non-free",
                "deb https://apt.example.org/debian bookworm-updates main contrib non-free",
                "deb http://apt.example.org/security bookworm-security main contrib non-free"});
    const auto has = [&](const std::string& word) {
        return std::find(mirrored.command.begin(), mirrored.command.end(), word) != mirrored.command.end();
    };
    CHECK(has("--include=ca-certificates"));
    CHECK(has("--aptopt=Acquire::https::CAInfo \"{ca_bundle}\""));
    CHECK(mirrored.ca_bundle == "/etc/ssl/site-ca.pem");
    CHECK(has("--customize-hook=sed -i /CAInfo/d \"$1/etc/apt/apt.conf.d/99mmdebstrap\""));
    image.sources.archive = "http://apt.example.org/debian";
    CHECK(text::join(bootstrap_of(image, matrix).command, " ").find("CAInfo") == std::string::npos);
}

TEST_CASE("package sources: by name, by prefix, or as they were at a time") {
    const auto sources = [](const std::string& yaml) {
        const auto& found = one("set: {" + yaml).sources;
        return Texts{found.archive, found.security, found.snapshot};
    };
    const std::string debian = "cuda: \"11.8.0\"}\n";
    const std::string ubuntu = "family: nvidia-cuda, cuda: \"12.4.1\", os: ubuntu22.04}\n";
    const std::string rocky = "family: nvidia-cuda, cuda: \"12.4.1\", os: rockylinux9}\n";
    CHECK(sources(debian) == Texts{"", "", ""});
    // Security updates of Debian lie in an archive of their own, which stays where it is.
    const std::string security = "http://security.debian.org/debian-security";
    for (const auto& cell : {debian, std::string("family: cpu, os: debian12, python: \"3.11\"}\n")}) {
        CAPTURE(cell);
        CHECK(sources(cell + "mirrors: {debian: \"http://a.org/d\"}\n") ==
              Texts{"http://a.org/d", security, ""});
        CHECK(
            sources(cell + "mirrors: {debian: \"http://a.org/d\", debian-security: \"http://a.org/s\"}\n") ==
            Texts{"http://a.org/d", "http://a.org/s", ""});
        for (const std::string mirror :
             {"debian-security: \"http://a.org/s\"", "\"http://security.debian.org\": \"http://a.org\""})
            CHECK(refusal("set: {" + cell + "mirrors: {" + mirror + "}\n") ==
                  "mirrors: debian-security is mirrored and debian is not: add debian: URL");
        CHECK(sources(cell + "mirrors: {debian: \"http://a.org/d\", \"http://security.debian.org\": "
                             "\"http://b.org\"}\n") ==
              Texts{"http://a.org/d", "http://b.org/debian-security", ""});
    }
    CHECK(bootstrap_of(one("set: {" + debian + "mirrors: {debian: \"http://a.org/d\"}\n"), Matrix())
              .command.back() == "deb " + security + " bookworm-security main contrib non-free");
    CHECK(sources(ubuntu + "mirrors: {ubuntu: \"http://a.org/u\"}\n") ==
          Texts{"http://a.org/u", "http://a.org/u", ""});
    CHECK(sources(ubuntu + "mirrors: {\"http://archive.ubuntu.com\": \"http://a.org\"}\n") ==
          Texts{"http://a.org/ubuntu", "http://a.org/ubuntu", ""});
    CHECK(sources(rocky + "mirrors: {\"http://dl.rockylinux.org/pub\": \"http://a.org\"}\n").front() ==
          "http://a.org/rocky");
    CHECK(sources(debian + "build: {snapshot: 2026-11-01}\n") ==
          Texts{"http://snapshot.debian.org/archive/debian/20261101T000000Z",
                "http://snapshot.debian.org/archive/debian-security/20261101T000000Z", "20261101T000000Z"});
    // A mirror of the archive has today's state only; one of the service is found by its prefix.
    CHECK(sources(ubuntu + "build: {snapshot: 2026-11-01}\nmirrors: {ubuntu: \"http://a.org/u\", "
                           "\"http://snapshot.ubuntu.com\": \"http://s.org\"}\n") ==
          Texts{"http://s.org/ubuntu/20261101T000000Z", "http://s.org/ubuntu/20261101T000000Z",
                "20261101T000000Z"});
    CHECK(refusal("set: {" + rocky + "build: {snapshot: 2026-11-01}\n") ==
          "build: snapshot: no service is known that has earlier states of rockylinux");
    CHECK(refusal("set: {arch: aarch64, " + ubuntu + "build: {snapshot: 2026-11-01}\n") ==
          "build: snapshot: no service is known that has earlier states of ubuntu-ports");
    CHECK(refusal("set: {" + ubuntu + "build: {snapshot: 2023-02-28}\n") ==
          "build: snapshot 2023-02-28: those of ubuntu begin on 2023-03-01");
    CHECK(sources(ubuntu + "build: {snapshot: 2023-03-01}\n").back() == "20230301T000000Z");

    const auto image = one("set: {" + debian + "build: {snapshot: 2026-11-01}\n");
    const auto command = bootstrap_of(image, Matrix()).command;
    CHECK(Texts(command.end() - 3, command.end()) ==
          Texts{"deb [check-valid-until=no] http://snapshot.debian.org/archive/debian/20261101T000000Z "
                "bookworm main "
                "contrib non-free",
                "deb [check-valid-until=no] http://snapshot.debian.org/archive/debian/20261101T000000Z "
                "bookworm-updates main contrib non-free",
                "deb [check-valid-until=no] "
                "http://snapshot.debian.org/archive/debian-security/20261101T000000Z bookworm-security main "
                "contrib non-free"});
    // Pins of one time are not those of another.
    CHECK(asked_of(image) != asked_of(one("set: {" + debian)));
    CHECK(asked_of(image) != asked_of(one("set: {" + debian + "build: {snapshot: 2026-11-02}\n")));
}

TEST_CASE("snapshot auto: what the lock has taken, where a service has the archive and the base can ask it") {
    const std::string time = "20261121T000000Z";
    const Taken taken{{}, {{"debian", time}, {"ubuntu", time}, {"ubuntu-ports", time}, {"rockylinux", time}}};
    const auto image = [&](const std::string& yaml) {
        const auto got = test::planned("set: {" + yaml);
        auto plan = test::plan_of(got.matrix, Facts::embedded(), taken);
        for (const auto& refusal : plan.refusals)
            MESSAGE(refusal.reason);
        REQUIRE(plan.images.size() == 1);
        return plan.images.front();
    };
    const Texts both{"debian", "debian-security"};
    const std::string debian = "cuda: \"11.8.0\"}\n";
    const std::string cpu = "family: cpu, os: debian12, python: \"3.11\"}\n";
    const std::string cuda = "family: nvidia-cuda, cuda: \"12.4.1\", os: ubuntu22.04}\n";
    for (const auto& cell : {debian, cpu}) {
        const auto& found = image(cell);
        CHECK(found.snapshot_archives == both);
        CHECK(found.sources.archive == "http://snapshot.debian.org/archive/debian/" + time);
        CHECK(found.sources.security == "http://snapshot.debian.org/archive/debian-security/" + time);
        CHECK(asked_of(found) == asked_of(one("set: {" + cell + "build: {snapshot: 2026-11-21}\n")));
        CHECK(asked_of(found) != asked_of(one("set: {" + cell)));
    }
    CHECK(image(cuda).snapshot_archives == Texts{"ubuntu"});
    CHECK(image(cuda).sources.archive == "http://snapshot.ubuntu.com/ubuntu/" + time);
    // What the lock says holds on a site with mirrors of its own, too.
    CHECK(image(debian + "mirrors: {debian: \"http://a.org/d\"}\n").sources.snapshot == time);
    CHECK(image(debian + "mirrors: {\"http://snapshot.debian.org\": \"http://a.org/s\"}\n").sources.archive ==
          "http://a.org/s/archive/debian/" + time);
    // No service has these; and an official image cannot ask one that turns to https, whatever the site has.
    for (const std::string cell :
         {"family: ubuntu, os: ubuntu22.04}\n",
          "family: ubuntu, os: ubuntu22.04}\nbuild: {ca_bundle: a.pem}\n",
          "family: ubuntu, os: ubuntu22.04}\nmirrors: {\"http://snapshot.ubuntu.com\": \"http://a.org/s\"}\n",
          "family: nvidia-cuda, cuda: \"12.4.1\", os: ubuntu22.04, arch: aarch64}\n",
          "family: nvidia-cuda, cuda: \"12.4.1\", os: rockylinux9}\n",
          "family: rockylinux, os: rockylinux9}\n"}) {
        CAPTURE(cell);
        CHECK(image(cell).snapshot_archives.empty());
        CHECK(image(cell).sources.snapshot.empty());
    }
    // What the file says goes before what the lock has.
    for (const auto& cell : {debian, cpu, cuda}) {
        const auto none = image(cell + "build: {snapshot: none}\n");
        CHECK(none.sources.snapshot.empty());
        CHECK(none.snapshot_archives.empty());
        const auto day = image(cell + "build: {snapshot: 2026-11-01}\n");
        CHECK(day.sources.snapshot == "20261101T000000Z");
        CHECK(day.snapshot_archives.empty());
    }
}

TEST_CASE("indexes and standalone pythons: by name, by prefix, or where the tools ask by themselves") {
    const auto indexes = [](const std::string& mirrors) {
        const auto& found =
            one("set: {cuda: \"13.0.3\", os: debian13}\nmirrors: {" + mirrors + "}\n").indexes;
        return Texts{found.python, found.nvidia, found.builds};
    };
    CHECK(indexes("") == Texts{"", "", ""});
    CHECK(indexes("pypi: \"https://a.org/simple\"") == Texts{"https://a.org/simple", "", ""});
    for (const std::string prefix : {"https://pypi.nvidia.com", "https://pypi.nvidia.com/"})
        CHECK(indexes('"' + prefix + "\": \"https://a.org/nv\", nvidia-pypi: \"https://b.org/nv\"") ==
              Texts{"", "https://b.org/nv", ""});
    CHECK(indexes("\"https://pypi.nvidia.com\": \"https://a.org/nv\"") == Texts{"", "https://a.org/nv", ""});
    CHECK(indexes("\"https://github.com/astral-sh/python-build-standalone/releases\": \"https://a.org/r\"") ==
          Texts{"", "", "https://a.org/r/download"});
    CHECK(indexes("\"https://github.com\": \"https://a.org/gh\"").back() ==
          "https://a.org/gh/astral-sh/python-build-standalone/releases/download");
    // Neither a part of a name nor what lies below it is a prefix of the address.
    for (const std::string other :
         {"https://pypi.nvidia.co", "https://pypi.nvidia.com/torch", "http://pypi.nvidia.com",
          "https://pypi.nvidia.com.example.org", "https://test.pypi.nvidia.com"})
        CHECK(indexes('"' + other + "\": \"https://a.org\"") == Texts{"", "", ""});
    // pip is told of the index only where the map says so, and of NVIDIA's where its wheels are installed.
    const std::string nvidia = "mirrors: {\"https://pypi.nvidia.com\": \"https://a.org/nv\"}\n";
    CHECK(pip_options(one("set: {cuda: \"13.0.3\", os: debian13}\n")).empty());
    CHECK(pip_options(one("set: {cuda: \"13.0.3\", os: debian13}\n" + nvidia)) ==
          Texts{"--extra-index-url", "https://a.org/nv"});
    CHECK(pip_options(one("set: {cuda: \"11.8.0\"}\n" + nvidia)).empty());
}

TEST_CASE("a base is pulled through the mirror with the longest prefix") {
    const std::string cuda = "docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04";
    CHECK(pulled_reference(cuda, {}) == cuda);
    CHECK(pulled_reference(
              cuda, {{"pypi", "https://wheels.example.org/simple"}, {"nvcr.io", "r.example.org"}}) == cuda);
    CHECK(pulled_reference(cuda, {{"docker.io", "registry.example.org/hub"}}) ==
          "registry.example.org/hub/nvidia/cuda:12.4.1-base-ubuntu22.04");
    CHECK(
        pulled_reference(cuda, {{"docker.io", "a.example.org"}, {"docker.io/nvidia", "localhost:5000/n"}}) ==
        "localhost:5000/n/cuda:12.4.1-base-ubuntu22.04");
    CHECK(pulled_reference(cuda, {{"docker.io/nvidia", "b.example.org"}, {"docker.io", "a.example.org"}}) ==
          "b.example.org/cuda:12.4.1-base-ubuntu22.04");
    CHECK(pulled_reference(cuda, {{"docker.io/nv", "a.example.org"}, {"docker.i", "b.example.org"}}) == cuda);
}
