#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/library.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/wanted.hpp"
#include "unit/knowledge/rules/own_facts.hpp"

using namespace cudamatrix;

namespace {

struct Planned {
    Matrix matrix;
    ImagePlan plan;
};

Planned plan(const std::string& yaml, const Facts& facts = Facts::embedded()) {
    auto matrix = read_matrix_text("version: 1\nname: test\n" + yaml, "matrix.yaml");
    REQUIRE_MESSAGE(matrix.ok(), (matrix.ok() ? "" : matrix.failure().diagnostics.front().message));
    Planned out{std::move(matrix).value(), {}};
    std::vector<PlannedCell> cells;
    for_each_cell(out.matrix, [&](const Cell& cell) {
        cells.push_back({cell, cell_id(out.matrix, cell)});
        return true;
    });
    out.plan = plan_images(out.matrix, cells, facts);
    return out;
}

// The one image that the cells share.
Image one(const std::string& yaml) {
    auto planned = plan(yaml);
    for (const auto& refusal : planned.plan.refusals)
        MESSAGE(refusal.reason);
    REQUIRE(planned.plan.refusals.empty());
    REQUIRE(planned.plan.images.size() == 1);
    return planned.plan.images.front();
}

std::string refusal(const std::string& yaml, const Facts& facts = Facts::embedded()) {
    const auto planned = plan(yaml, facts);
    REQUIRE(planned.plan.images.empty());
    REQUIRE(planned.plan.refusals.size() == 1);
    return planned.plan.refusals.front().reason;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("cells that differ in driver, GPU or compute share one image") {
    const auto planned = plan(R"(axes:
  driver: ["470.161.03", "580.65.06"]
  gpu: [T4, A100 80GB, H100]
  cuda: ["11.8.0", "12.4.1"]
  os: [debian12, debian13]
zip: [[cuda, os]]
)");
    CHECK(planned.plan.refusals.empty());
    REQUIRE(planned.plan.images.size() == 2);
    const auto& first = planned.plan.images[0];
    CHECK(first.id == "debian12-cu11.8.0");
    CHECK(first.cells.size() == 6);
    CHECK(first.cells.front() == "drv470.161.03-t4-cu11.8.0-debian12");
    CHECK(first.family == "debian");
    CHECK(first.suite == "bookworm");
    CHECK(first.flavour == "runtime");
    CHECK(first.arch == "x86_64");
    CHECK(first.cuda == "11.8.0");
    CHECK(first.cuda_from == "archive");
    CHECK(first.compiler == "g++-11");
    CHECK(first.compute == Texts{"7.5", "8.0", "9.0"});
    CHECK(first.ptx == "9.0");
    CHECK(planned.plan.images[1].id == "debian13-cu12.4.1");
    CHECK(planned.plan.images[1].compiler == "g++-13");
}

TEST_CASE("targets: what the toolkit's nvcc can make, else nearest below in the same major, else PTX") {
    const auto compute = [](const std::string& values, const std::string& cuda, const std::string& os) {
        return one(fmt::format("axes: {{compute: [{}]}}\nset: {{cuda: \"{}\", os: {}}}\n", values, cuda, os));
    };
    CHECK(compute("\"8.6\", \"7.5\", \"8.0\"", "11.8.0", "debian12").compute == Texts{"7.5", "8.0", "8.6"});
    CHECK(compute("\"9.0a\"", "12.4.1", "debian13").compute == Texts{"9.0"});
    CHECK(compute("\"10.0\", \"8.0\"", "12.4.1", "debian13").compute == Texts{"8.0"});
    CHECK(compute("\"12.0\"", "12.4.1", "debian13").compute == Texts{"9.0"});
    CHECK(compute("\"12.0\"", "12.4.1", "debian13").ptx == "9.0");
    CHECK(compute("\"12.0f\"", "13.4.3", "debian12").compute == Texts{"12.0"});
    CHECK(compute("\"8.9\"", "11.2.2", "debian11").compute == Texts{"8.6"});
    CHECK(compute("\"7.0\"", "13.4.3", "debian12").compute ==
          Texts{"12.1"});  // rejected by the rules; still well defined
    CHECK(one("set: {gpu: RTX 5090, cuda: \"13.4.3\", os: debian12}\n").compute == Texts{"12.0"});
    CHECK(one("set: {gpu: T4, compute: \"8.0\", cuda: \"11.8.0\"}\n").compute == Texts{"8.0"});
    CHECK(one("set: {gpu: Nobody Knows 9000, cuda: \"11.8.0\"}\n").compute == Texts{"6.0", "9.0"});
}

TEST_CASE("without a GPU: the lowest target from 6.0 on and the highest") {
    CHECK(one("set: {cuda: \"11.8.0\"}\n").compute == Texts{"6.0", "9.0"});
    const auto wheels = one("set: {cuda: \"13.4.3\", os: debian12}\n");
    CHECK(wheels.compute == Texts{"7.5", "12.1"});
    CHECK(wheels.ptx == "12.1");
}

TEST_CASE("no toolkit: nothing is compiled by nvcc") {
    const auto image = one("axes: {gpu: [T4, H100]}\nset: {torch: 2.6.0+cu124, os: debian12}\n");
    CHECK(image.id == "debian12-torch2.6.0_cu124");
    CHECK(image.compute.empty());
    CHECK(image.ptx == "");
    CHECK(image.cuda == "");
    CHECK(image.torch == "2.6.0");
    CHECK(image.torch_variant == "cu124");
    CHECK(image.torch_cuda == "12.4");
    CHECK(image.torch_index_default);
    CHECK(image.torch_index == "");
    CHECK(image.python == "3.11");
    CHECK(image.compiler == "g++-12");
    CHECK(one("set: {torch: none, os: debian12}\n").id == "debian12");
    CHECK(one("set: {os: debian12, python: \"3.11\"}\n").id == "debian12-py3.11");
}

TEST_CASE("fields that the matrix leaves open are filled in") {
    CHECK(one("set: {cuda: \"11.8\"}\n").os == "debian12");
    CHECK(one("set: {cuda: \"12.4\"}\n").os == "debian13");
    CHECK(one("set: {cuda: \"12.4\"}\n").cuda == "12.4.1");
    CHECK(one("set: {cuda: \"13.4.3\"}\n").os == "debian13");
    CHECK(one("set: {cuda: \"13.4.3\", python: \"3.11\"}\n").os == "debian12");
    CHECK(one("set: {cuda: \"13.4.3\", python: \"3.11.2\"}\n").python == "3.11");
    CHECK(one("set: {torch: 2.6.0, python: \"3.9\"}\n").os == "debian11");
    CHECK(one("set: {cuda: \"13.4\", os: debian12}\n").cuda_from == "wheels");
    CHECK(one("set: {cuda: \"11.8.0\", cuda_from: archive}\n").id == "debian12-cu11.8.0");
}

TEST_CASE("torch that the default index does not serve is installed from the index of its variant") {
    const std::string cell = "set: {torch: 2.6.0+cu118, os: debian12}\n";
    const auto image = one(cell);
    CHECK_FALSE(image.torch_index_default);
    CHECK(image.torch_index == "https://download.pytorch.org/whl/cu118");
    CHECK(image.torch_cuda == "11.8");
    const auto index = [&](const std::string& mirrors) {
        return one(cell + "mirrors: {" + mirrors + "}\n").torch_index;
    };
    CHECK(index("pytorch: \"https://wheels.example.org/whl\"") == "https://wheels.example.org/whl/cu118");
    CHECK(index("\"https://download.pytorch.org/whl\": \"https://a.example.org/torch\"") ==
          "https://a.example.org/torch/cu118");
    CHECK(index("\"https://download.pytorch.org/whl/cu118\": \"https://a.example.org/118\"") ==
          "https://a.example.org/118");
    CHECK(index("\"https://download.pytorch.org/whl/cu12\": \"https://a.example.org\"") ==
          "https://download.pytorch.org/whl/cu118");
    CHECK(one("set: {torch: 2.6.0+cu124, os: debian12}\n").torch_index == "");
}

TEST_CASE("an index whose address no fact knows has to be named") {
    const std::string cell = "set: {torch: 1.11.0+cu115, os: debian11}\n";
    CHECK(
        refusal(cell) ==
        "torch 1.11.0+cu115 is not the build that the Python index serves, and no fact knows the address of "
        "its own index; write mirrors: {pytorch: URL} (the part before /cu115)");
    CHECK(one(cell + "mirrors: {pytorch: \"https://wheels.example.org/whl\"}\n").torch_index ==
          "https://wheels.example.org/whl/cu115");
}

TEST_CASE("a toolkit of wheels whose runtime library no fact names is refused") {
    const auto row = [](const std::string& columns) {
        return "  - {" + columns + ", source: \"https://example.org/\", confidence: read}\n";
    };
    const auto facts = rules::with_tables(
        {{"cuda_releases", row(R"(id: cuda-20.0.1, cuda: "20.0.1", minor: "20.0")")},
         {"cuda_toolkits", row(R"(id: cuda-toolkit-20.0, cuda: "20.0", ptx_isa: "15.0", targets: ["12.0"])")},
         {"toolkit_sources",
          row(R"(id: toolkit-debian13-wheels-20.0.1, family: "debian", os: "debian13", cuda: "20.0.1", )"
              R"(cuda_from: "wheels", pins: ["nvidia-cuda-nvcc==20.0.1"])")}});
    CHECK(refusal("set: {family: debian, os: debian13, cuda: \"20.0.1\"}\n", facts) ==
          "no fact says where the wheels of CUDA 20 put its runtime library (cuda_runtimes)");
    CHECK(refusal("set: {family: debian, os: debian12, cuda: \"20.0.1\"}\n", facts) ==
          "CUDA 20.0.1 has no source for family debian on debian12");
}

TEST_CASE("each refusal says what and what instead") {
    CHECK(refusal("set: {os: ubuntu22.04}\n") ==
          "os ubuntu22.04 is judged but not rendered: family debian is rendered on debian11, debian12, "
          "debian13");
    CHECK(refusal("set: {family: pytorch, torch: 2.6.0, arch: aarch64}\n") ==
          "arch aarch64: family pytorch is rendered for x86_64");
    CHECK(refusal("set: {family: ngc, torch: 1.12.0, cuda: \"11.6\", arch: aarch64}\n") ==
          "the facts know no image nvcr.io/nvidia/pytorch with torch 1.12.0, CUDA 11.6.2 for aarch64");
    CHECK(refusal("set: {cuda: \"12.6.3\"}\n") ==
          "no distribution of family debian has all that the cell needs (debian11, debian12, debian13 were "
          "tried)");
    CHECK(refusal("set: {cuda: \"12.6.3\", os: debian12}\n") ==
          "CUDA 12.6.3 has no source for family debian on debian12");
    CHECK(refusal("set: {cuda: \"99.1\", os: debian12}\n") == "cuda 99.1: no fact knows this release");
    CHECK(refusal("set: {torch: 99.1.0, os: debian12}\n") == "torch 99.1.0: no fact knows this release");
    for (const auto* python : {"3.7", "3.11t"}) {
        CHECK(refusal(fmt::format("set: {{python: \"{}\", os: debian12}}\n", python)) ==
              fmt::format("python {}: debian12 has 3.11, and of standalone builds the facts know 3.8, 3.9, "
                          "3.10, 3.11, 3.12, 3.13, 3.13t, 3.14, 3.14t, 3.15, 3.15t",
                          python));
    }
    CHECK(refusal("set: {compiler: clang-14, os: debian12}\n") ==
          "compiler clang-14: family debian compiles with gcc");
    CHECK(refusal("set: {env: {NVIDIA_DRIVER_CAPABILITIES: \"compute,root\"}, os: debian12}\n") ==
          "env NVIDIA_DRIVER_CAPABILITIES compute,root: not a value that is rendered");
}

TEST_CASE("of NVIDIA's variables only the two with closed lists are rendered") {
    const auto image =
        one("set: {os: debian12, env: {NVIDIA_DRIVER_CAPABILITIES: \"compute,utility\", NVIDIA_REQUIRE_CUDA: "
            "\"cuda=12\", A: b}}\n");
    CHECK(image.env == std::vector<std::pair<std::string, std::string>>{
                           {"A", "b"}, {"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"}});
    CHECK(image.env_left_out == Texts{"NVIDIA_REQUIRE_CUDA"});
    CHECK(one("set: {os: debian12, env: {A: b}}\n").env_left_out.empty());
    // Cells that differ in nothing else share the image, and its Dockerfile says what it leaves out.
    const auto planned = plan(
        "axes: {}\ninclude:\n  - {os: debian12}\n  - {os: debian12, env: {NVIDIA_REQUIRE_CUDA: "
        "\"cuda=12\"}}\n"
        "  - {os: debian12, env: {NVIDIA_DISABLE_REQUIRE: \"1\"}}\n");
    REQUIRE(planned.plan.images.size() == 1);
    CHECK(planned.plan.images.front().env_left_out == Texts{"NVIDIA_DISABLE_REQUIRE", "NVIDIA_REQUIRE_CUDA"});
    const RenderSettings settings;
    auto library = load_templates(settings);
    REQUIRE(library.ok());
    const Lock none;
    const ImageInput input{planned.matrix, planned.plan.images.front(), none, settings};
    const auto content = fill_dockerfile(*library, "debian/Dockerfile.mustache", dockerfile_model(input));
    REQUIRE(content.ok());
    CHECK(content->find(
              "# Judged and not rendered: env NVIDIA_REQUIRE_CUDA (of NVIDIA's variables images carry no "
              "other than NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES)\n") != std::string::npos);
}

TEST_CASE("ids are injective, and legal as tag, service and folder") {
    const auto planned = plan(R"(axes:
  cuda: ["11.8.0", "12.4.1", "13.0.3", "13.4.3"]
  os: [debian12, debian13]
  flavour: [runtime, devel]
  compiler: [gcc-10, gcc-11, gcc-12]
  packages: [{a: "1"}, {a: "2"}, {b: "1"}]
  env: [{A: "1"}, {A: "2"}]
)");
    std::set<std::string> ids;
    for (const auto& image : planned.plan.images) {
        CAPTURE(image.id);
        CHECK(ids.insert(image.id).second);
        CHECK(image.id.size() <= 100);
        CHECK(image.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-+") == std::string::npos);
        CHECK(image.id.find('+') == std::string::npos);
        CHECK(image.id.find("..") == std::string::npos);
    }
    CHECK(planned.plan.images.size() + planned.plan.refusals.size() == 288);
    CHECK(planned.plan.images.size() > 100);
}

TEST_CASE("the repository of a matrix is legal whatever its name") {
    const auto named = [](const std::string& name) {
        Matrix matrix;
        matrix.name = name;
        return image_repository(matrix);
    };
    CHECK(named("quickstart") == "cudamatrix/quickstart");
    CHECK(named("cuda-12-images") == "cudamatrix/cuda-12-images");
    std::set<std::string> all;
    for (const auto& name :
         Texts{"a.b", "a_b", "A-b", "a-b", "a--b", "-a", "...", "", "a-", std::string(200, 'x')}) {
        CAPTURE(name);
        const auto repository = named(name);
        CHECK(all.insert(repository).second);
        const auto tail = repository.substr(repository.find('/') + 1);
        CHECK(tail.size() <= 60);
        CHECK(tail.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
        CHECK(tail.front() != '-');
        CHECK(tail.back() != '-');
    }
}

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

TEST_CASE("a package whose version is auto gets the release that goes with the torch") {
    const auto image =
        one("set: {torch: 2.6.0, os: debian12, packages: {torchvision: auto, torchaudio: auto, timm: "
            "\"1.0.15\"}}\n");
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    CHECK(image.packages == Pairs{{"timm", "1.0.15"}, {"torchaudio", "2.6.0"}, {"torchvision", "0.21.0"}});
    CHECK(image.companions ==
          Texts{"torchaudio 2.6.0 goes with torch 2.6.0 [companion-torchaudio-2.6.0]",
                "torchvision 0.21.0 goes with torch 2.6.0 [companion-torchvision-0.21.0]"});
    const auto old = one("set: {torch: 2.2.0, os: debian12, packages: {numpy: auto}}\n");
    CHECK(old.packages == Pairs{{"numpy", "1.26.4"}});
    const auto variant =
        one("set: {torch: 2.6.0+cu118, os: debian12, packages: {torchvision: auto}}\n"
            "mirrors: {pytorch: \"https://wheels.example.org/whl\"}\n");
    CHECK(variant.packages == Pairs{{"torchvision", "0.21.0+cu118"}});
    CHECK(refusal("set: {os: debian12, packages: {torchvision: auto}}\n") ==
          "packages torchvision auto: the cell names no torch that it could go with");
    CHECK(refusal("set: {torch: 2.6.0, os: debian12, packages: {timm: auto}}\n") ==
          "packages timm auto: no fact says which release goes with torch 2.6.0; write its version");
    // What nobody wrote and a dependency may bring.
    CHECK(one("set: {torch: 2.2.0, os: debian12, packages: {transformers: \"4.27.4\"}}\n").constraints ==
          Texts{"numpy<2"});
    CHECK(old.constraints.empty());
    CHECK(
        one("set: {torch: 2.6.0, os: debian12, packages: {transformers: \"4.27.4\"}}\n").constraints.empty());
    CHECK(one("set: {torch: 2.6.0, os: debian12, packages: {opencv_python: \"4.9.0.80\"}}\n").constraints ==
          Texts{"numpy<2"});
    CHECK(refusal("set: {family: pytorch, torch: 2.6.0, packages: {numpy: auto}}\n") ==
          "packages numpy auto: the cell names no python, and the tag of its image neither");
}
