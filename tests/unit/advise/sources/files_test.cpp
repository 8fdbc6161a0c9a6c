#include <doctest/doctest.h>

#include "steps.hpp"

namespace cudamatrix {
namespace {

using sources::Kind;

std::string read(Kind kind, std::string_view text) {
    return tests::show(sources::read(kind, "file", std::string(text), {}));
}

TEST_CASE("requirements: options, hashes, comments, continuations, what is no requirement") {
    CHECK(
        read(
            Kind::requirements,
            "# torch==1.0\n--index-url https://a.example.org\n--extra-index-url=b\n-f c # links\n-r other.txt\n-c constraints.txt\ntorch == 2.1.0 ; sys_platform == 'linux'  # why\n"
            "numpy==1.26.4 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\nX_y[a]>=1,<2\ngit+https://example.org/x\n./here\ntorch @ https://example.org/torch-2.0.0-cp310-cp310-linux_x86_64.whl\n") ==
        "nothing\n  pip: torch==2.1.0 if sys_platform == 'linux'@7:1 numpy==1.26.4@8:1 x-y>=1,<2@11:1 "
        "torch=https://example.org/torch-2.0.0-cp310-cp310-linux_x86_64.whl@14:1 index https://a.example.org@2:13 extra b@3:19 links c@4:4 -r other.txt@5:4\n"
        "skipped 12:1: git+https://example.org/x: no requirement by name\nskipped 13:1: ./here: no requirement by name\n");
    CHECK(read(Kind::requirements, "") == "nothing\n  pip:\n");
    CHECK(
        read(Kind::requirements, "torch 2.1\nto rch\n==2\n") ==
        "nothing\n  pip:\nskipped 1:1: torch 2.1: no requirement by name\nskipped 2:1: to rch: no requirement by name\nskipped 3:1: ==2: no requirement by name\n");
}

TEST_CASE("conda's environments") {
    CHECK(
        read(
            Kind::conda_environment,
            "name: x\nchannels: [pytorch, nvidia]\ndependencies:\n  - python=3.10\n  - pytorch::pytorch=2.1.0\n  - pip:\n    - --extra-index-url https://a.example.org\n    - -r r.txt\n    - torch==2.1.0\n") ==
        "nothing\n  conda: python=3.10@4:5 pytorch::pytorch=2.1.0@5:5 from pytorch nvidia\n  pip: torch==2.1.0@9:7 extra https://a.example.org@7:7 -r r.txt@8:7\n");
    CHECK(read(Kind::conda_environment, "dependencies: [&a x, *a]\n")
              .starts_with("skipped 1:16: the file: an anchor"));
    CHECK(read(Kind::conda_environment, "name: x\n") == "");
}

TEST_CASE("compose files: images, builds, arguments in both forms, defaults of variables") {
    CHECK(
        read(
            Kind::compose,
            "services:\n  a: {image: \"nvidia/cuda:${TAG:-12.4.1-base-ubuntu22.04}\", platform: linux/arm64, environment: {NVIDIA_VISIBLE_DEVICES: all, COST: $$5}}\n"
            "  b: {build: ./b}\n  c:\n    build: {context: ., dockerfile: d/Dockerfile, target: Run, args: [V=1, OPEN=$X, W=2]}\n  d: {image: $NONE}\n  e: {command: x}\n  f: {build: {dockerfile_inline: FROM a}}\n") ==
        "nvidia/cuda:12.4.1-base-ubuntu22.04 as a for aarch64\n  NVIDIA_VISIBLE_DEVICES=all\n  COST=$5\n? as d\nbuild Dockerfile of ./b\nbuild d/Dockerfile of ., target run V=1 W=2\n"
        "skipped 6:14: the image: a variable in it has no value here\nskipped 8:14: dockerfile_inline: a Dockerfile inside a compose file is not read\n");
    CHECK(read(Kind::compose, "volumes: {}\n") == "");
    CHECK(read(Kind::compose, "services: [\n").starts_with("skipped "));
}

TEST_CASE("locks: what the project needs at any depth, without extras, and nothing that is there twice") {
    CHECK(
        read(
            Kind::uv_lock,
            "[[package]]\nname='app'\nsource={editable='.'}\ndependencies=[{name='a'}]\noptional-dependencies={x=[{name='b'}]}\n[[package]]\nname='a'\nversion='1'\nsource={registry='r'}\n"
            "dependencies=[{name='c_d'},{name='t'}]\n[[package]]\nname='b'\nversion='2'\nsource={registry='r'}\n[[package]]\nname='c-d'\nversion='3'\nsource={url='u'}\n"
            "[[package]]\nname='t'\nversion='1'\nsource={registry='r'}\nresolution-markers=[\"a == 'b'\", \"c == 'd'\"]\n[[package]]\nname='t'\nversion='2'\nsource={registry='r'}\n") ==
        "nothing\n  uv, locked: a==1@8:9 c-d==3@17:9\nskipped 21:9: t: the lock holds several releases of it, for several machines or extras\n");
    CHECK(
        read(
            Kind::poetry_lock,
            "[[package]]\nname = \"Torch\"\nversion = \"2.1.0+cu118\"\nmarkers = \"python_version > '3'\"\n[[package]]\nname='x'\nversion='1'\noptional=true\n") ==
        "nothing\n  poetry, locked: torch==2.1.0+cu118 if (python_version > '3')@3:11\n");
    CHECK(read(Kind::uv_lock, "[[package\n").starts_with("skipped 1:"));
    CHECK(read(Kind::uv_lock, "a = 1\n") == "");
    CHECK(read(Kind::uv_lock, "\xC2\xA1 = 1\n").starts_with("skipped 1:1: the file: "));
    CHECK(read(Kind::poetry_lock,
               "\xEF\xBB\xBF# \xC3\xA9\n[[package]]\nx = '\xE2\x82\xAC'; \nname='a'\nversion='1'\n")
              .starts_with("skipped 3:"));
    CHECK(read(Kind::poetry_lock,
               "\xEF\xBB\xBF# \xC3\xA9\n[[package]]\nx = '\xE2\x82\xAC'\nname='a'\nversion='1'\n") ==
          "nothing\n  poetry, locked: a==1@5:9\n");
}

TEST_CASE("pyproject.toml: of uv, of poetry, without extras and groups") {
    CHECK(
        read(
            Kind::pyproject,
            "[project]\ndependencies = ['torch==2.1.0', 'numpy>=1']\noptional-dependencies.x = ['y==1']\n[tool.uv.sources]\ntorch = {index = 'p'}\n"
            "[[tool.uv.index]]\nname = 'p'\nurl = 'https://a.example.org/cu121'\nexplicit = true\n[[tool.uv.index]]\nurl = 'https://b.example.org'\n") ==
        "nothing\n  uv: torch==2.1.0@2:17 index https://a.example.org/cu121@8:7\n  uv: numpy>=1@2:33 extra https://b.example.org@11:7\n");
    CHECK(
        read(
            Kind::pyproject,
            "[tool.poetry.dependencies]\npython='^3.10'\na='^1.2'\nb='~2.3'\nc='3'\nd={version='>=4,<5', markers=\"x == 'y'\"}\ne='*'\nf={path='.'}\n") ==
        "nothing\n  uv: a>=1.2,<2@3:3 b>=2.3,==2.3.*@4:3 c==3@5:3 d>=4,<5 if x == 'y'@6:3 e@7:3\n");
    CHECK(read(Kind::pyproject,
               "[project]\ndependencies=['torch']\n[tool.uv.sources]\ntorch=[{index='a'},{index='b'}]\n") ==
          "skipped 2:15: torch: which of its indexes serves it depends on extras or the system\n");
    CHECK(read(Kind::pyproject, "[build-system]\nrequires=['torch']\n") == "");
}

TEST_CASE("the kind of a file by its name, then by its text") {
    const auto kind = [](std::string_view path, std::string_view text = {}) {
        const auto out = sources::kind_of(path, text);
        return out ? std::string(sources::to_string(*out)) : std::string("none");
    };
    for (const std::string_view path :
         {"Dockerfile", "a/Dockerfile.gpu", "x.dockerfile", "Containerfile", "dockerfile-cuda"})
        CHECK(kind(path) == "Dockerfile");
    for (const std::string_view path :
         {"requirements.txt", "requirements-dev.txt", "a/requirements/base.txt", "dev-requirements.txt"})
        CHECK(kind(path) == "requirements");
    for (const std::string_view path : {"compose.yaml", "docker-compose.gpu.yml"})
        CHECK(kind(path) == "compose file");
    CHECK(kind("environment-gpu.yml") == "conda environment");
    for (const std::string_view path :
         {"a.yaml", "Dockerfile.dockerignore", "README.md", "notes.txt", "poetry.toml", "-"})
        CHECK(kind(path) == "none");
    CHECK(kind("-", "# x\n\nARG A\nFROM a\n") == "Dockerfile");
    CHECK(kind("-", "torch==2.1\n") == "requirements");
    CHECK(kind("x.yml", "name: a\ndependencies: []\n") == "conda environment");
    CHECK(kind("x.yml", "services:\n") == "compose file");
    CHECK(kind("-", "{}\n") == "none");
}

}  // namespace
}  // namespace cudamatrix
