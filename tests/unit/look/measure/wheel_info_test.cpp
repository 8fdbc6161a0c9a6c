#include "look/measure/wheel_info.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "fakes/http_server.hpp"
#include "knowledge/facts/facts.hpp"
#include "look/measure/inspection.hpp"
#include "look/measure/rows.hpp"
#include "unit/registry/zip_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;
using test::Entry;

namespace {

const std::string kSha(64, 'b');
constexpr const char* kTorchWheel = "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl";

std::string wheel_of_torch(const std::string& cuda = "'12.4'",
                           const std::string& library = std::string("x\0sm_50 sm_90a compute_90\0y", 27)) {
    return test::make_zip(
        {{"torch/version.py", "__version__ = '2.6.0+cu124'\ncuda: Optional[str] = " + cuda + "\n"},
         {"torch/share/cmake/Torch/TorchConfig.cmake", "set(X \"-D_GLIBCXX_USE_CXX11_ABI=0\")\n"},
         {"torch/lib/libtorch_python.so", library},
         {"torch-2.6.0.dist-info/METADATA",
          "Version: 2.6.0\nRequires-Python: >=3.9.0\nRequires-Dist: nvidia-cudnn-cu12==9.1.0.70; "
          "platform_system == \"Linux\" and platform_machine == \"x86_64\"\nRequires-Dist: triton==3.2.0\n"
          "Requires-Dist: numpy\n\n"}});
}

std::string found(const std::vector<std::string>& pieces) {
    ArchListFinder finder;
    for (const auto& piece : pieces)
        finder.feed(piece);
    return finder.found().value_or("none");
}

IndexFile file_at(const std::string& name, const std::string& url = "") {
    IndexFile file;
    file.name = name;
    file.url = url;
    file.sha256 = kSha;
    return file;
}

Result<WheelInfo> look_at(const std::string& wheel, bool torch = true) {
    fakes::HttpServer server;
    server.put("w.whl", wheel);
    auto http = Http::open({});
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    return inspect_wheel(connection, file_at(kTorchWheel, server.url("plain/w.whl")), torch);
}

}  // namespace

TEST_CASE("The architecture list is found between NUL bytes, however the pieces are cut") {
    const std::string text("abc\0sm_5\0 sm_50 sm_60\0sm_80 sm_90a compute_90\0sm_10 sm_20", 58);
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
        CHECK(found({text.substr(0, cut), text.substr(cut)}) == "sm_80 sm_90a compute_90");
    std::vector<std::string> bytes;
    for (const char c : text)
        bytes.emplace_back(1, c);
    CHECK(found(bytes) == "sm_80 sm_90a compute_90");
    CHECK(found({std::string("\0sm_70\0", 7)}) == "sm_70");
    CHECK(found({std::string("\0sm_70\0\0sm_75 sm_80\0", 20)}) == "sm_75 sm_80");
    for (const auto& none :
         {std::string("sm_70 sm_80"), std::string("\0sm_70 sm_80", 12), std::string("\0sm_70, sm_80\0", 14),
          std::string("\0sm_x\0", 6), std::string("\0sm_70  sm_80\0", 14), std::string("x sm_70 sm_80\0", 14),
          std::string("\0sm_1234\0", 9), std::string(), '\0' + std::string(5000, 'x') + '\0'}) {
        CHECK(found({none}) == "none");
    }
}

TEST_CASE("Constants of version.py are read, whatever their type hints") {
    const std::string text = "__version__ = '2.6.0'\ncuda: Optional[str] = \"12.4\"\nhip = None\nxpu='x\n";
    CHECK(python_constant(text, "__version__") == "2.6.0");
    CHECK(python_constant(text, "cuda") == "12.4");
    CHECK(python_constant(text, "hip").empty());
    CHECK(python_constant(text, "xpu").empty());
    CHECK(python_constant(text, "cud").empty());
    CHECK(python_constant("", "cuda").empty());
}

TEST_CASE("A torch wheel gives its row, by ranges alone") {
    const auto info = look_at(wheel_of_torch());
    REQUIRE_MESSAGE(info.ok(), info.failure().diagnostics.front().message);
    CHECK(info->arch == "sm_50 sm_90a compute_90");
    Release release{"2.6.0",
                    "x86_64",
                    {file_at(kTorchWheel), file_at("torch-2.6.0-cp313-cp313t-manylinux1_x86_64.whl")},
                    false,
                    file_at(kTorchWheel)};
    const auto rows = torch_rows(release, info.value(), true, Facts::embedded());
    REQUIRE(rows.ok());
    REQUIRE(rows->size() == 1);
    CHECK(yaml_line(rows->front()) ==
          "  - {id: torch-2.6.0+cu124-x86_64, torch: \"2.6.0\", variant: \"cu124\", cuda: \"12.4\", arch: "
          "\"x86_64\", compute: "
          "[\"5.0\", \"9.0a\"], ptx: [\"9.0\"], pythons: [\"3.12\", \"3.13t\"], default_index: true, "
          "cxx11_abi: "
          "false, triton: \"3.2.0\", cudnn: \"9.1.0.70\", source: "
          "\"wheel:torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl sha256:" +
              kSha + "\", confidence: measured}\n");
    const auto compared = compare(rows->front(), Facts::embedded());
    CHECK(compared.status == RowStatus::contradicted);
    CHECK(compared.contradicted == std::vector<std::string>{"compute", "ptx", "pythons"});
    CHECK(compared.row.cell("nccl") != nullptr);  // known, not measured here: it stays

    // What was seen comes back from the cache as it was.
    const auto again = wheel_info_from(to_json(info.value()));
    REQUIRE(again);
    CHECK(to_text(to_json(*again)).substr(0, 300) == to_text(to_json(info.value())).substr(0, 300));
    CHECK_FALSE(wheel_info_from(Json::array()));
    CHECK_FALSE(wheel_info_from(Json::object()));
}

TEST_CASE("A release that no fact knows gets a row of its own, which claims no more than was seen") {
    auto info = look_at(wheel_of_torch()).value();
    info.build = "9.9.0+cu124";
    Release release{"9.9.0",
                    "x86_64",
                    {file_at("torch-9.9.0-cp312-cp312-manylinux1_x86_64.whl")},
                    false,
                    file_at(kTorchWheel)};
    const auto rows = torch_rows(release, info, true, Facts::embedded());
    REQUIRE(rows->size() == 2);
    CHECK(
        yaml_line((*rows)[1])
            .starts_with(
                "  - {id: torch-9.9.0, torch: \"9.9.0\", variants: [\"cu124\"], default_variant: \"cu124\", "
                "python_min: \"3.12\", python_max: \"3.12\", complete: false, source: "));
    CHECK(compare((*rows)[1], Facts::embedded()).status == RowStatus::fresh);
}

TEST_CASE("A build without CUDA has no architectures, and one without a list says nothing of them") {
    const auto cpu = look_at(wheel_of_torch("None")).value();
    Release release{"2.6.0", "x86_64", {file_at(kTorchWheel)}, false, file_at(kTorchWheel)};
    const auto row = torch_rows(release, cpu, true, Facts::embedded())->front();
    CHECK(row.id == "torch-2.6.0+cpu-x86_64");
    CHECK(row.cell("compute")->values.empty());
    const auto silent = look_at(wheel_of_torch("'12.4'", "nothing here")).value();
    CHECK(torch_rows(release, silent, true, Facts::embedded())->front().cell("compute") == nullptr);
}

TEST_CASE("What is no torch wheel, or lies, gives no row") {
    CHECK(look_at(test::make_zip({{"a", "b"}})).failure().diagnostics.front().message ==
          std::string(kTorchWheel) + " is not a wheel: it has no METADATA");
    CHECK(look_at(test::make_zip({{"t.dist-info/METADATA", ""}})).failure().diagnostics.front().message ==
          std::string(kTorchWheel) + " has no torch/version.py");
    CHECK_FALSE(look_at("no zip at all").ok());
    Release release{"2.6.0", "x86_64", {file_at(kTorchWheel)}, false, file_at(kTorchWheel)};
    const auto message = [&](const WheelInfo& info) {
        const auto rows = torch_rows(release, info, true, Facts::embedded());
        return rows.ok() ? "rows" : rows.failure().diagnostics.front().message;
    };
    auto info = look_at(wheel_of_torch()).value();
    info.cuda = "twelve\n";
    CHECK(message(info) ==
          std::string(kTorchWheel) + ": torch/version.py says version '2.6.0+cu124', CUDA 'twelve?'");
    info.cuda = "12.4";
    info.metadata.requires_dist = {"a b c"};
    CHECK(message(info) == std::string(kTorchWheel) + ": its requirement 'a b c' is not understood");
}

TEST_CASE("Files are grouped by release, and known sources are opened again") {
    const auto facts = Facts::embedded();
    auto known = file_at("torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl");
    known.sha256 = "2bb8987f3bb1ef2675897034402373ddfc8f5ef0e156e2d8cfc47cacafdda4a9";
    const auto releases = torch_releases(
        {file_at("torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl"), known,
         file_at("torch-2.6.0-cp312-none-macosx_11_0_arm64.whl"),
         file_at("torch-2.6.0-cp312-cp312-win_amd64.whl"),
         file_at("torchx-2.6.0-cp312-cp312-manylinux1_x86_64.whl"),
         file_at("torch-2.6.0-cp310-cp310-manylinux_2_28_aarch64.whl"), file_at("torch-2.6.0.tar.gz"),
         file_at("torch-10.0.0-cp313-cp313-manylinux_2_28_x86_64.whl"),
         file_at("torch-10.0.0-cp314-cp314t-manylinux_2_28_x86_64.whl")},
        {"x86_64", "aarch64"}, facts);
    REQUIRE(releases.size() == 3);
    CHECK(releases[0].arch == "aarch64");
    CHECK(releases[1].chosen.name == known.name);
    CHECK(releases[2].version == "10.0.0");
    CHECK(releases[2].chosen.name == "torch-10.0.0-cp313-cp313-manylinux_2_28_x86_64.whl");
    CHECK(glibc_of("a-1-cp39-cp39-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", facts) == "2.17");
    CHECK(glibc_of("a-1-cp39-cp39-linux_x86_64.whl", facts).empty());
    CHECK(glibc_of("a-1-cp39-cp39-manylinux1_x86_64.whl", facts).empty());
    CHECK(glibc_of("a-1-cp39-cp39-manylinux2010_x86_64.whl", facts) == "2.12");
    CHECK(glibc_of("a-1-cp39-cp39-manylinux_2_28_x86_64.whl", facts) == "2.28");
    CHECK(abis_of({file_at("a-1-py2.py3-none-any.whl"), file_at("a-1-cp38-abi3-manylinux1_x86_64.whl"),
                   file_at("a-1-pp39-pypy39_pp73-manylinux1_x86_64.whl"),
                   file_at("a-1-cp310-cp310-manylinux1_aarch64.whl"),
                   file_at("a-1-cp27-cp27mu-manylinux1_x86_64.whl")},
                  "x86_64") == std::vector<std::string>{"cp38-abi3", "py3"});
}

TEST_CASE("A release is listed with the systems that have wheels of it") {
    const auto facts = Facts::embedded();
    const auto releases = package_releases(
        {file_at("a_b-1.0-cp312-cp312-manylinux_2_28_x86_64.whl"),
         file_at("a_b-1.0-cp311-cp311-win_amd64.whl"), file_at("a_b-1.0-cp312-cp312-win32.whl"),
         file_at("a_b-1.0-cp312-cp312-musllinux_1_2_i686.whl"),
         file_at("a_b-1.0-cp312-cp312-macosx_11_0_arm64.whl"),
         file_at("a_b-1.0-cp27-none-macosx_10_9_x86_64.whl"), file_at("a_b-2.0-py3-none-any.whl"),
         file_at("a_b-3.0-cp312-cp312-musllinux_1_2_x86_64.whl"), file_at("a_b-3.0.tar.gz")},
        "a-b", facts);
    REQUIRE(releases.size() == 3);
    CHECK(releases[0].wheels.size() == 1);
    CHECK(releases[0].elsewhere.size() == 5);
    const auto line = [](const Release& release) {
        auto row = package_row(release, WheelInfo{}, "a-b");
        REQUIRE(row.ok());
        return yaml_line(row.value());
    };
    CHECK(line(releases[0])
              .find("abi: [\"cp312\"], abi_aarch64: [], platforms: [\"linux\", \"macos\", \"windows\"], "
                    "abi_windows: [\"cp311\"], source") != std::string::npos);
    CHECK(line(releases[1])
              .find("abi: [\"py3\"], platforms: [\"linux\", \"macos\", \"musl\", \"windows\"], source") !=
          std::string::npos);
    CHECK(line(releases[2]).find("abi: [], platforms: [\"musl\"], abi_musl: [\"cp312\"], sdist: true") !=
          std::string::npos);
}

TEST_CASE("A second run asks for nothing, and a torn cache loses one wheel at most") {
    fakes::HttpServer server;
    server.put("w.whl", wheel_of_torch());
    auto http = Http::open({});
    REQUIRE(http.ok());
    const auto cache_file = server.root() / "measured.jsonl";
    std::vector<Task> tasks(1);
    tasks[0].torch = true;
    tasks[0].release.chosen = file_at(kTorchWheel, server.url("plain/w.whl"));
    const auto inspect = [&] {
        auto inspected = InspectionCache::open(cache_file);
        REQUIRE(inspected.ok());
        return inspect_wheels(**http, tasks, **inspected, 4, [](std::string_view) {});
    };
    CHECK_FALSE(inspect().front().remembered);
    const auto before = server.requests().size();
    CHECK(before > 0);
    const auto second = inspect();
    CHECK(second.front().remembered);
    CHECK(second.front().info->arch == "sm_50 sm_90a compute_90");
    CHECK(server.requests().size() == before);
    std::filesystem::resize_file(cache_file, std::filesystem::file_size(cache_file) - 5);
    CHECK_FALSE(inspect().front().remembered);
    CHECK(inspect().front().remembered);                    // its line stands behind the torn one
    tasks[0].release.chosen.sha256 = std::string(64, 'c');  // the wheel was replaced
    CHECK_FALSE(inspect().front().remembered);
    tasks[0].release.chosen.sha256.clear();
    CHECK(inspect().front().info.failure().diagnostics.front().message ==
          std::string(kTorchWheel) + ": the index gives no sha256, and a row needs one as its source");
}
