#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/resolve_cell.hpp"
#include "unit/knowledge/rules/own_facts.hpp"
#include "unit/render/planned.hpp"

using namespace cudamatrix;

namespace {

using test::one;
using test::planned;
using test::refusal;
using Texts = std::vector<std::string>;

// A row of a table of facts.
std::string row(const std::string& columns) {
    return "  - {" + columns + ", source: \"https://example.org/\", confidence: read}\n";
}

}  // namespace

TEST_CASE("cells that differ in driver, GPU or compute share one image") {
    const auto got = planned(R"(axes:
  driver: ["470.161.03", "580.65.06"]
  gpu: [T4, A100 80GB, H100]
  cuda: ["11.8.0", "12.4.1"]
  os: [debian12, debian13]
zip: [[cuda, os]]
)");
    CHECK(got.plan.refusals.empty());
    REQUIRE(got.plan.images.size() == 2);
    const auto& first = got.plan.images[0];
    CHECK(first.id == "debian12-cu11.8.0");
    CHECK(first.cells.size() == 6);
    CHECK(first.cells.front() == "drv470.161.03-t4-cu11.8.0-debian12");
    CHECK(first.family == "debian");
    CHECK(first.suite == "bookworm");
    CHECK(first.flavour == "base");
    CHECK(first.arch == "x86_64");
    CHECK(first.cuda == "11.8.0");
    CHECK(first.cuda_from == "archive");
    CHECK(first.compiler == "g++-11");
    CHECK(first.compute == Texts{"7.5", "8.0", "9.0"});
    CHECK(first.ptx == "9.0");
    CHECK(got.plan.images[1].id == "debian13-cu12.4.1");
    CHECK(got.plan.images[1].compiler == "g++-13");
}

TEST_CASE("portable targets: the lowest of each major since 6.0") {
    const auto facts = Facts::embedded();
    CHECK(portable_targets(facts, "11.2") == Texts{"6.0", "7.0", "8.0"});
    CHECK(portable_targets(facts, "12.9") == Texts{"6.0", "7.0", "8.0", "9.0", "10.0", "12.0"});
    CHECK(portable_targets(facts, "13.0") == Texts{"7.5", "8.0", "9.0", "10.0", "11.0", "12.0"});
    CHECK(portable_targets(facts, "99.0").empty());
    CHECK(portable_targets(facts, "").empty());
}

TEST_CASE("torch without a toolkit: what compiles the suite is of its CUDA major, and in no image") {
    struct Row {
        std::string cell;
        std::string release;  // empty: none
        std::string from;
        std::string compiler;
    };
    const Row rows[] = {
        // The newest that is no newer than torch's CUDA, else the oldest.
        {"torch: 2.15.0+cu132, os: debian12", "13.2.2", "wheels", "g++-12"},
        {"torch: 2.14.1+cu130, os: debian12", "13.0.3", "wheels", "g++-12"},
        {"torch: 2.6.0+cu124, os: debian13, python: '3.12'", "12.4.1", "archive", "g++-13"},
        {"torch: 2.6.0+cu126, os: debian13, python: '3.12'", "12.4.1", "archive", "g++-13"},
        {"torch: 2.5.1+cu121, os: debian13, python: '3.12'", "12.4.1", "archive", "g++-13"},
        {"torch: 2.6.0+cu118, os: debian12", "11.8.0", "archive", "g++-11"},
        {"torch: 2.6.0+cu118, os: debian12, compiler: gcc-11", "11.8.0", "archive", "g++-11"},
        // None of that major there, or none that takes the image's compiler.
        {"torch: 2.6.0+cu124, os: debian12", "", "", "g++-12"},
        {"torch: 2.6.0+cu118, os: debian13, python: '3.12'", "", "", "g++-14"},
        {"torch: 2.6.0+cu118, os: debian12, compiler: gcc-12", "", "", "g++-12"},
        {"torch: 2.6.0+cu118, os: debian12, flavour: devel", "", "", "g++-12"},
        {"torch: 2.6.0+cu124, os: debian13, python: '3.12', flavour: devel", "", "", "g++-14"},
        {"torch: 2.6.0+cpu, os: debian12", "", "", "g++-12"},
        {"os: debian12, python: '3.11'", "", "", "g++-12"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.cell);
        const auto image = one(fmt::format("axes: {{gpu: [A100 80GB]}}\nset: {{{}}}\n", row.cell));
        CHECK(image.cuda.empty());
        CHECK(image.suite_cuda == row.release);
        CHECK(image.compiles_beside() == !row.release.empty());
        CHECK(image.cuda_from == row.from);
        CHECK(image.compiler == row.compiler);
        CHECK(image.cudart.empty());
        CHECK(image.compute.empty() == row.release.empty());
        const auto wanted = package_requests(image);
        CHECK(wanted.devel == Texts{row.compiler});
        CHECK(wanted.cuda.empty() == (row.from != "wheels"));
        CHECK(wanted.toolkit.empty() == (row.from != "archive"));
        const auto has_cuda = [](const std::string& name) { return name.find("cuda") != std::string::npos; };
        CHECK(std::ranges::none_of(wanted.runtime, has_cuda));
    }
    const auto whole = one(
        "axes: {gpu: [A100 80GB]}\nset: {torch: 2.6.0+cu124, cuda: '12.4.1', os: debian13, python: '3.12'}\n");
    CHECK(whole.suite_cuda == "12.4.1");
    CHECK_FALSE(whole.compiles_beside());
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
    CHECK(image.holds_cuda());
    CHECK(one("set: {cuda: \"11.8.0\", os: debian12}\n").holds_cuda());
    CHECK_FALSE(one("set: {torch: 2.6.0+cpu, os: debian12}\n").holds_cuda());
    CHECK_FALSE(one("set: {torch: none, os: debian12}\n").holds_cuda());
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

TEST_CASE("the flavour runtime has the math libraries and NCCL, from where the toolkit is") {
    const auto libraries = [](const std::string& rest) {
        return one(fmt::format("set: {{{}}}\n", rest)).cuda_libraries;
    };
    const auto holds = [](const Texts& all, const std::string& name) {
        return std::ranges::find(all, name) != all.end();
    };
    const auto wheels = libraries("cuda: \"13.4.3\", os: debian12, flavour: runtime");
    CHECK(wheels == Texts{"nvidia-cublas==13.8.0.4", "nvidia-cufft==12.4.0.43", "nvidia-curand==10.4.4.72",
                          "nvidia-cusolver==12.3.5.3", "nvidia-cusparse==12.8.6.72", "nvidia-npp==13.2.0.58",
                          "nvidia-nvjpeg==13.2.3.58", "nvidia-cuda-nvrtc==13.4.92",
                          "nvidia-nvjitlink==13.4.92", "nvidia-nccl-cu13==2.32.3"});
    CHECK(libraries("cuda: \"13.4.3\", family: rockylinux, flavour: runtime") == wheels);
    const auto archive = libraries("cuda: \"12.4.1\", os: debian13, flavour: runtime");
    CHECK(holds(archive, "libcublas12"));
    CHECK(holds(archive, "libnccl2"));
    CHECK_FALSE(holds(libraries("cuda: \"11.8.0\", os: debian12, flavour: runtime"), "libnccl2"));
    const auto image = one("set: {cuda: \"12.4.1\", os: debian13, flavour: runtime}\n");
    CHECK(image.id == "debian13-cu12.4.1-runtime");
    CHECK(holds(package_requests(image).runtime, "libcusparse12"));
    CHECK(package_requests(image).cuda.empty());
    CHECK(libraries("cuda: \"13.4.3\", os: debian12").empty());
    CHECK(libraries("cuda: \"13.4.3\", os: debian12, flavour: base").empty());
    CHECK(libraries("cuda: \"13.4.3\", os: debian12, flavour: devel").empty());
    CHECK(libraries("os: debian12, flavour: runtime").empty());
    // Torch has them, one without CUDA has not.
    CHECK(libraries("cuda: \"13.0.3\", os: debian12, flavour: runtime, torch: 2.9.0+cu130").empty());
    CHECK_FALSE(libraries("cuda: \"13.0.3\", os: debian12, flavour: runtime, torch: 2.9.0+cpu").empty());
}

TEST_CASE("the flavour runtime is refused where no fact names the libraries of the toolkit") {
    const auto facts = rules::with_tables(
        {{"cuda_releases", row(R"(id: cuda-20.0.1, cuda: "20.0.1", minor: "20.0")")},
         {"cuda_toolkits", row(R"(id: cuda-toolkit-20.0, cuda: "20.0", ptx_isa: "15.0", targets: ["12.0"])")},
         {"cuda_runtimes", row(R"(id: cuda-runtime-20, major: "20", soname: "libcudart.so.20", )"
                               R"(wheel_root: "nvidia/cu20")")},
         {"toolkit_sources",
          row(R"(id: toolkit-debian12-wheels-20.0.1, family: "debian", os: "debian12", cuda: "20.0.1", )"
              R"(cuda_from: "wheels", pins: ["nvidia-cuda-nvcc==20.0.1"])") +
              row(R"(id: toolkit-debian13-archive-20.0.1, family: "debian", os: "debian13", cuda: "20.0.1", )"
                  R"(cuda_from: "archive", package: "nvidia-cuda-toolkit")")},
         {"cuda_libraries", row(R"(id: libraries-archive-20.0.1, cuda: "20.0.1", cuda_from: "archive", )"
                                R"(os: ["debian11"], packages: ["libcublas20"])")}});
    CHECK(refusal("set: {os: debian12, cuda: \"20.0.1\", flavour: runtime}\n", facts) ==
          "flavour runtime: no fact names the math libraries of CUDA 20.0.1 from wheels on debian12 "
          "(cuda_libraries); write flavour: base for the runtime library alone, or devel");
    // Those of another distribution's archive are of no use.
    CHECK(refusal("set: {os: debian13, cuda: \"20.0.1\", flavour: runtime}\n", facts) ==
          "flavour runtime: no fact names the math libraries of CUDA 20.0.1 from the archive on debian13 "
          "(cuda_libraries); write flavour: base for the runtime library alone, or devel");
}

TEST_CASE("a package without a wheel for the python of its image is refused before pip is asked") {
    const auto of = [](const std::string& rest) {
        return refusal(fmt::format("set: {{os: debian13, {}}}\n", rest));
    };
    // Debian 13 has python 3.13; a cell that names no python gets that, which no rule could know.
    CHECK(
        of("packages: {numpy: 1.24.4}")
            .starts_with(
                "packages numpy 1.24.4: it has no wheel for python 3.13 on x86_64, and images get wheels only, nothing "
                "is built from source; name another release or python: numpy "));
    // Compilers in the cell are of no help: those of an image are in another stage.
    CHECK(of("python: \"3.13\", compiler: gcc-14, packages: {Numpy: 1.24.4}")
              .starts_with("packages Numpy 1.24.4: "));
    CHECK(of("arch: aarch64, packages: {xformers: 0.0.29.post3}")
              .starts_with("packages xformers 0.0.29.post3: "));
    const std::string flash = of("packages: {flash-attn: 2.8.3}");
    CHECK(flash.ends_with("name another release or python"));
    CHECK(one("set: {os: debian13, packages: {numpy: 2.2.6}}\n").python == "3.13");
    CHECK(one("set: {os: debian13, packages: {our-own-tools: \"1.0\"}}\n").python == "3.13");
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
    const auto got = planned(
        "axes: {}\ninclude:\n  - {os: debian12}\n  - {os: debian12, env: {NVIDIA_REQUIRE_CUDA: "
        "\"cuda=12\"}}\n"
        "  - {os: debian12, env: {NVIDIA_DISABLE_REQUIRE: \"1\"}}\n");
    REQUIRE(got.plan.images.size() == 1);
    CHECK(got.plan.images.front().env_left_out == Texts{"NVIDIA_DISABLE_REQUIRE", "NVIDIA_REQUIRE_CUDA"});
    const RenderSettings settings;
    auto library = load_templates(settings);
    REQUIRE(library.ok());
    const Lock none;
    const ImageInput input{got.matrix, got.plan.images.front(), none, settings};
    const auto content = fill_dockerfile(*library, "debian/Dockerfile.mustache", dockerfile_model(input));
    REQUIRE(content.ok());
    CHECK(content->find(
              "# Judged and not rendered: env NVIDIA_REQUIRE_CUDA (of NVIDIA's variables images carry no "
              "other than NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES)\n") != std::string::npos);
}

TEST_CASE("ids are injective, and legal as tag, service and folder") {
    const auto got = planned(R"(axes:
  cuda: ["11.8.0", "12.4.1", "13.0.3", "13.4.3"]
  os: [debian12, debian13]
  flavour: [base, runtime, devel]
  compiler: [gcc-10, gcc-11, gcc-12]
  packages: [{a: "1"}, {a: "2"}, {b: "1"}]
  env: [{A: "1"}, {A: "2"}]
)");
    std::set<std::string> ids;
    for (const auto& image : got.plan.images) {
        CAPTURE(image.id);
        CHECK(ids.insert(image.id).second);
        CHECK(image.id.size() <= 100);
        CHECK(image.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-+") == std::string::npos);
        CHECK(image.id.find('+') == std::string::npos);
        CHECK(image.id.find("..") == std::string::npos);
    }
    CHECK(got.plan.images.size() + got.plan.refusals.size() == 432);
    CHECK(got.plan.images.size() > 100);
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
        REQUIRE_FALSE(tail.empty());
        CHECK(tail.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
        CHECK(tail.front() != '-');
        CHECK(tail.back() != '-');
    }
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
    // Its wheels for Windows alone do not work with numpy 2.
    CHECK(
        one("set: {torch: 2.4.0, os: debian12, packages: {transformers: \"4.41.2\"}}\n").constraints.empty());
    const auto newer = one("set: {torch: 2.4.0, os: debian12, packages: {numpy: auto}}\n");
    REQUIRE(newer.packages.size() == 1);
    CHECK(newer.packages.front().second.starts_with("2."));
    CHECK(
        one("set: {torch: 2.6.0, os: debian12, packages: {transformers: \"4.27.4\"}}\n").constraints.empty());
    CHECK(one("set: {torch: 2.6.0, os: debian12, packages: {opencv_python: \"4.9.0.80\"}}\n").constraints ==
          Texts{"numpy<2"});
    CHECK(refusal("set: {family: pytorch, torch: 2.6.0, packages: {numpy: auto}}\n") ==
          "packages numpy auto: the cell names no python, and the tag of its image neither");
}

TEST_CASE(
    "torch gets a numpy that goes with it, unless the cell has one, refuses it or has packages of its own") {
    const auto with = [](const std::string& more) { return one("set: {os: debian12, " + more + "}\n"); };
    const auto image = with("torch: 2.2.0, python: \"3.11\"");
    CHECK(image.numpy == "1.26.4");
    CHECK(image.constraints.empty());
    CHECK(image.companions ==
          Texts{"numpy 1.26.4 goes with torch 2.2.0 and python 3.11 [package-numpy-1.26.2-and-others]"});
    CHECK(package_requests(image).wheels == Texts{"torch==2.2.0", "numpy==1.26.4"});
    CHECK(image.id == "debian12-torch2.2.0_cu121");
    // The newest has no wheels for python 3.10.
    CHECK(with("torch: 2.6.0, python: \"3.10\"").numpy == "2.2.6");
    CHECK(with("torch: 2.6.0, packages: {torchvision: auto}").numpy.starts_with("2."));
    const auto refused = with("torch: 2.6.0, packages: {numpy: none}");
    CHECK(refused.numpy.empty());
    CHECK(refused.packages.empty());
    CHECK(refused.companions.empty());
    CHECK(refused.id == "debian12-torch2.6.0_cu124-nonumpy");
    CHECK(package_requests(refused).wheels == Texts{"torch==2.6.0"});
    CHECK(with("torch: 2.6.0, packages: {numpy: 1.26.4}").numpy.empty());
    CHECK(with("torch: 2.6.0, packages: {timm: \"1.0.15\"}").numpy.empty());
    CHECK(with("python: \"3.11\"").numpy.empty());
    CHECK(with("python: \"3.11\", packages: {numpy: none}").id == with("python: \"3.11\"").id);
    CHECK(one("set: {family: pytorch, torch: 2.6.0, packages: {numpy: none}}\n").id ==
          one("set: {family: pytorch, torch: 2.6.0}\n").id);
    CHECK(one("set: {family: pytorch, torch: 2.6.0}\n").numpy.empty());
}

TEST_CASE("a package whose version is any gets the release that pip would take, as a pin") {
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    const auto image = one(
        "set: {torch: 2.6.0, python: \"3.12\", family: debian, packages: {xformers: any, Timm: any, numpy: "
        "\"2.1.0\"}}\n");
    const auto plan_of = [](const std::string& python, const std::string& torch) {
        return one("set: {torch: " + torch + ", python: \"" + python +
                   "\", family: debian, packages: {xformers: any}}\n");
    };
    REQUIRE(image.packages.size() == 3);
    for (const auto& package : image.packages)
        CHECK_MESSAGE(package.second.find_first_of("0123456789") == 0, package.first);
    CHECK(image.packages[1] == std::pair<std::string, std::string>{"numpy", "2.1.0"});
    CHECK(image.packages[2].second.starts_with("0.0.29"));
    REQUIRE(image.companions.size() == 2);
    CHECK(image.companions.front() ==
          fmt::format("xformers {} is what pip would take for any [package-xformers-0.0.29.post2-and-others]",
                      image.packages[2].second));
    // Another torch, another release: another image.
    CHECK(plan_of("3.11", "2.6.0").packages == Pairs{image.packages[2]});
    CHECK(plan_of("3.11", "2.4.1").packages == Pairs{{"xformers", "0.0.28.post1"}});
    CHECK(refusal("set: {os: debian12, torch: 2.6.0, packages: {nothing-known: any}}\n") ==
          "packages nothing-known any: no fact says which release pip would take; write its version");
    CHECK(refusal("set: {os: debian12, torch: 1.13.1, packages: {numpy: \"1.26.4\", vllm: any}}\n") ==
          "packages vllm any: no fact says which release pip would take; write its version");
}
