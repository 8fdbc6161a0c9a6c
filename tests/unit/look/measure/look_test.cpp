// What --look asks `measure` for: code of named libraries, builds that an index lacks, layers of images.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "fakes/http_server.hpp"
#include "look/measure/image_news.hpp"
#include "look/measure/measure.hpp"
#include "temp_folder.hpp"
#include "unit/fatbin/fixture.hpp"
#include "unit/look/scan/tar_fixture.hpp"
#include "unit/registry/zip_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

std::string library(std::uint32_t sass) {
    return string_of(fixture::elf({{".nv_fatbin", 1, fixture::container({fixture::sass(sass, {"k"})})}}));
}

// An index with builds of torch for CUDA 12.6, and what one request gives.
struct Index {
    fakes::HttpServer server;
    test::TempFolder folder;
    std::unique_ptr<Http> http;
    std::string files;
    std::vector<std::string> lines;

    Index() {
        HttpOptions options;
        options.back_off = std::chrono::milliseconds(1);
        http = std::move(Http::open(options)).value();
    }
    void add(const std::string& version, const std::string& arch = "x86_64") {
        const auto name = fmt::format("torch-{}-cp312-cp312-manylinux_2_28_{}.whl", version, arch);
        const auto wheel = test::make_zip(
            {{"torch/version.py", "__version__ = '" + version + "'\ncuda: Optional[str] = '12.6'\n"},
             {"torch/lib/libtorch_python.so", std::string("x\0sm_75 sm_80\0y", 15)},
             {"torch/lib/libtorch_cuda.so", library(75)},
             {"torch-" + version + ".dist-info/METADATA", "Version: " + version + "\n\n"}});
        server.put(name, wheel);
        files +=
            fmt::format(R"({}{{"filename": "{}", "url": "../../../plain/{}", "hashes": {{"sha256": "{}"}}}})",
                        files.empty() ? "" : ", ", name, name, sha256(wheel));
        server.put("simple/torch/index.json",
                   R"({"meta": {"api-version": "1.0"}, "files": [)" + files + "]}");
    }
    MeasureRequest request(const std::string& version, const std::string& arch = "x86_64") {
        MeasureRequest out;
        out.index = server.url("plain/simple");
        out.out = folder.path().string();
        out.today = "2026-11-25";
        out.progress = [this](std::string_view line) { lines.emplace_back(line); };
        out.is_torch = out.accept = true;
        out.packages = {"torch"};
        out.arch = arch;
        out.exactly["torch"] = {version};
        out.absent_source = "https://download.pytorch.org/whl/cu126/torch/";
        return out;
    }
    // Rows by table, and what was said.
    std::string run(const MeasureRequest& request) {
        const auto measured = measure::measure(request, Facts::embedded(), *http);
        if (!measured.ok()) return "failed: " + measured.failure().diagnostics.front().message;
        std::string out;
        for (const auto& row : measured->rows)
            out += fmt::format("{} {}\n", row.row.table, row.row.id);
        for (const auto& line : measured->not_measured)
            out += "not measured: " + text::replace_all(line, server.url(""), "") + "\n";
        for (const auto& line : measured->left_out)
            out += "left out: " + line + "\n";
        return out;
    }
};

}  // namespace

TEST_CASE("a build that the index of its variant does not list becomes a row that says so") {
    Index index;
    index.add("2.14.1+cu129");
    auto request = index.request("2.14.1+cu126", "x86_64,aarch64");
    request.absent_note = "asked at a mirror";
    CHECK(index.run(request) ==
          "absent_torch_builds no-torch-2.14.1+cu126-x86_64\n"
          "absent_torch_builds no-torch-2.14.1+cu126-aarch64\n"
          "not measured: plain/simple lists no torch 2.14.1+cu126 for x86_64\n"
          "not measured: plain/simple lists no torch 2.14.1+cu126 for aarch64\n");
    const auto facts = Facts::with_overlay(index.folder.path(), "2026-11-25");
    REQUIRE(facts.ok());
    const auto row = facts->row("no-torch-2.14.1+cu126-x86_64");
    REQUIRE(row);
    CHECK(row->text("as_of") == "2026-11-25");
    CHECK(row->text("source") == "https://download.pytorch.org/whl/cu126/torch/");
    CHECK(row->text("note") == "asked at a mirror");
}

TEST_CASE("no row says that a build is absent where it is listed, or where nobody knows") {
    Index index;
    index.add("2.14.1+cu126");
    CHECK(index.run(index.request("2.14.1+cu126")) ==
          "torch_wheels torch-2.14.1+cu126-x86_64\n"
          "torch_releases torch-2.14.1\n");
    // Of a release that no fact knows its absence says nothing; nor does an index that is not there.
    CHECK(index.run(index.request("97.0.0+cu126")) ==
          "not measured: plain/simple lists no torch 97.0.0+cu126 for x86_64\n");
    auto elsewhere = index.request("2.14.1+cu132");
    elsewhere.index = index.server.url("plain/nowhere");
    CHECK(index.run(elsewhere).find(" has no project torch") != std::string::npos);
    elsewhere.index = index.server.url("status-403/simple");
    CHECK(index.run(elsewhere).starts_with("failed: "));
    auto quiet = index.request("2.14.1+cu132");
    quiet.absent_source.clear();
    CHECK(index.run(quiet) == "failed: no release on the index fits torch 2.14.1+cu132 for x86_64");
    quiet.may_lack = true;
    CHECK(index.run(quiet).empty());
    const auto facts = Facts::with_overlay(index.folder.path(), "2026-11-25");
    REQUIRE(facts.ok());
    CHECK(facts->rows("absent_torch_builds").empty());
}

TEST_CASE("the libraries that facts know by name become rows, beside what the wheel declares") {
    Index index;
    index.add("2.14.1+cu126");
    auto request = index.request("2.14.1+cu126");
    request.held = request.known_libraries = true;
    CHECK(index.run(request) ==
          "torch_wheels torch-2.14.1+cu126-x86_64\n"
          "torch_releases torch-2.14.1\n"
          "torch_libraries torch-2.14.1+cu126-x86_64-libtorch_cuda.so\n");
    REQUIRE(index.lines.size() == 2);
    CHECK(index.lines.front() == "measure: reading the GPU code of 1 wheel");
}

TEST_CASE("a known wheel that lists no architectures gets those of its main library, and keeps the rest") {
    const auto mostly_70 = string_of(fixture::elf(
        {{".nv_fatbin", 1,
          fixture::container({fixture::sass(70, {"a"}), fixture::sass(70, {"b"}), fixture::sass(70, {"c"}),
                              fixture::sass(35, {"d"}), fixture::ptx(70, 6, 5), fixture::ptx(70, 6, 5)})}}));
    for (const std::string main : {"libtorch_cuda.so", "libtorch.so", "libcaffe2_gpu.so", "libother.so"}) {
        CAPTURE(main);
        Index index;
        const std::string name = "torch-1.5.1-cp38-cp38-manylinux1_x86_64.whl";
        const auto wheel = test::make_zip({{"torch/version.py", "__version__ = '1.5.1'\ncuda = '10.2'\n"},
                                           {"torch/lib/libtorch_python.so", "no list"},
                                           {"torch/lib/" + main, mostly_70},
                                           {"torch-1.5.1.dist-info/METADATA", "Version: 1.5.1\n\n"}});
        index.server.put(name, wheel);
        index.server.put(
            "simple/torch/index.json",
            fmt::format(R"({{"meta": {{"api-version": "1.0"}}, "files": [{{"filename": "{}", "url": )"
                        R"("../../../plain/{}", "hashes": {{"sha256": "{}"}}}}]}})",
                        name, name, sha256(wheel)));
        auto request = index.request("1.5.1");
        request.default_index = request.held = request.known_libraries = request.fill = true;
        request.accept = false;
        request.absent_source.clear();
        index.run(request);
        const auto facts = Facts::with_overlay(index.folder.path(), "2026-11-25");
        REQUIRE(facts.ok());
        const auto row = facts->row("torch-1.5.1+cu102-x86_64"),
                   known = Facts::embedded().row("torch-1.5.1+cu102-x86_64");
        REQUIRE(row);
        REQUIRE(known);
        CHECK(row->has("compute") == (main != "libother.so"));
        CHECK(row->list("compute").size() == (main == "libother.so" ? 0 : 1));  // one kernel is for 3.5
        if (row->has("compute")) CHECK(row->text("compute") == "7.0");
        CHECK(row->list("ptx").size() == (main == "libother.so" ? 0 : 1));
        CHECK_FALSE(known->has("compute"));
        CHECK(row->text("glibc") == "2.17");  // its name says 2.5
        CHECK(row->list("pythons").size() == known->list("pythons").size());
        CHECK(row->list("source").size() == 2);
    }
}

namespace {

// A registry with one image of two layers, the upper of which hides a library of the lower one.
struct Registry {
    fakes::HttpServer server{"registry_server.py"};
    test::TempFolder folder;
    std::unique_ptr<Http> http;

    explicit Registry(const std::string& behaviour = "plain") {
        HttpOptions options;
        options.back_off = std::chrono::milliseconds(1);
        options.mirrors = {{"registry.example.org", server.host() + "/" + behaviour}};
        http = std::move(Http::open(options)).value();
    }
    std::string put(const std::string& content) {
        const auto digest = sha256(content);
        server.put("team/base/blobs/" + digest, content);
        return fmt::format(R"({{"mediaType": "x", "digest": "sha256:{}", "size": {}}})", digest,
                           content.size());
    }
    void put_image(const std::string& first, const std::string& second) {
        const auto config = put(R"({"os": "linux", "architecture": "amd64", "config": {"Env": []}})");
        server.put("team/base/manifests/1",
                   fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}, {}]}})", config,
                               put(first), put(second)));
    }
    Result<Measured> run(std::vector<std::string> layers) {
        MeasureRequest request;
        request.out = folder.path().string();
        request.today = "2026-11-25";
        request.progress = [](std::string_view) {};
        request.is_image = request.accept = true;
        request.packages = {"registry.example.org/team/base:1"};
        request.layers = std::move(layers);
        const auto facts = std::filesystem::exists(folder.path() / "other_images.yaml")
                               ? std::move(Facts::with_overlay(folder.path(), "2026-11-25")).value()
                               : Facts::embedded();
        return measure::measure(request, facts, *http);
    }
    // The rows of the folder, without the embedded ones.
    std::string table(const std::string& name) {
        const auto facts = Facts::with_overlay(folder.path(), "2026-11-25");
        REQUIRE(facts.ok());
        const auto embedded = Facts::embedded();
        std::string out;
        for (const auto& row : facts->rows(name)) {
            if (embedded.row(row.id())) continue;
            for (const auto* column : {"id", "layers", "libraries", "sass", "ptx"}) {
                const auto values = row.list(column);
                if (row.has(column))
                    out += fmt::format("{} ", text::join({values.begin(), values.end()}, ","));
            }
            out += "\n";
        }
        return out;
    }
};

}  // namespace

TEST_CASE("layers give rows of the libraries that remain, grouped by what they hold") {
    Registry registry;
    registry.put_image(
        fixture::tar({{"opt/a.so", library(75)}, {"opt/b.so", library(80)}, {"opt/c.so", library(80)}}),
        fixture::tar({{"opt/.wh.a.so", ""}, {"opt/plain.txt", "sm_90"}, {"opt/d.so", library(90)}}));
    const auto plain = registry.run({});
    REQUIRE(plain.ok());
    CHECK(registry.table("other_images") == "other-image-registry.example.org/team/base:1 \n");
    CHECK(registry.table("image_libraries").empty());
    const auto deep = registry.run({"x86_64", "aarch64"});  // it is for one of them
    REQUIRE(deep.ok());
    CHECK(deep->not_measured.empty());
    CHECK(registry.table("other_images") == "other-image-registry.example.org/team/base:1 x86_64 \n");
    CHECK(registry.table("image_libraries") ==
          "image-libraries-registry.example.org/team/base:1-x86_64-1 opt/b.so,opt/c.so 8.0  \n"
          "image-libraries-registry.example.org/team/base:1-x86_64-2 opt/d.so 9.0  \n");
    // What was read is not read again, and stays where only the configuration is looked at.
    const auto plain_requests = plain->requests, before = registry.http->requests();
    REQUIRE(registry.run({"x86_64"}).ok());
    CHECK(registry.http->requests() - before <= plain_requests);
    REQUIRE(registry.run({}).ok());
    CHECK(registry.table("other_images") == "other-image-registry.example.org/team/base:1 x86_64 \n");
    // Behind the tag is another image now: of that no layer was read.
    registry.put_image(fixture::tar({{"opt/e.so", library(75)}}), fixture::tar({{"opt/f.txt", ""}}));
    REQUIRE(registry.run({}).ok());
    CHECK(registry.table("other_images") == "other-image-registry.example.org/team/base:1  \n");
}

TEST_CASE("layers that cannot be read leave the image as it is, and no row of them") {
    for (const std::string broken : {"torn", "short"}) {
        Registry registry;
        auto tar = fixture::tar({{"opt/a.so", library(75)}});
        registry.put_image(broken == "short" ? tar.substr(0, 700) : std::string("\x28\xb5\x2f\xfd zstd"),
                           tar);
        const auto deep = registry.run({"x86_64"});
        REQUIRE(deep.ok());
        CHECK(deep->not_measured.size() == 1);
        CHECK(registry.table("image_libraries").empty());
        CHECK(registry.table("other_images") == "other-image-registry.example.org/team/base:1 \n");
    }
    Registry denied("deny");
    denied.put_image("", "");
    const auto deep = denied.run({"x86_64"});
    REQUIRE(deep.ok());
    CHECK(deep->rows.empty());
    CHECK(deep->not_measured.size() == 1);
}
