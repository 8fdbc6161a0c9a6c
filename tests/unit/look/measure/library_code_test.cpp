#include "look/measure/inspection.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "fakes/http_server.hpp"
#include "look/scan/local.hpp"
#include "unit/fatbin/fixture.hpp"
#include "unit/registry/zip_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;
using fixture::Blob;

namespace {

constexpr const char* kWheel = "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl";

std::string torch_wheel(const std::string& cuda = "'12.4'", const std::string& linalg = {}) {
    const auto library =
        fixture::elf({{".nv_fatbin", 1,
                       fixture::container({fixture::sass(75, {"k"}), fixture::sass(90, {"k"}, 0x100011),
                                           fixture::ptx(90, 8, 4)})}});
    return test::make_zip(
        {{"torch/version.py", "__version__ = '2.6.0+cu124'\ncuda: Optional[str] = " + cuda + "\n"},
         {"torch/lib/libtorch_python.so", std::string("x\0sm_75 sm_90\0y", 15)},
         {"torch/lib/libtorch_cuda.so", string_of(library)},
         {"torch/lib/libtorch_cuda_linalg.so", linalg.empty() ? string_of(library) : linalg},
         {"torch/lib/libvendor.so.0", string_of(library)},
         {"torch-2.6.0.dist-info/METADATA", "Version: 2.6.0\n\n"}});
}

// What one run of the job on that wheel gives, behind `behaviour` of the server.
struct Run {
    fakes::HttpServer server;
    std::unique_ptr<Http> http;
    std::vector<Task> tasks{1};

    explicit Run(const std::string& wheel, const std::string& behaviour = "plain", bool held = true) {
        server.put("w.whl", wheel);
        HttpOptions options;
        options.back_off = std::chrono::milliseconds(1);
        http = std::move(Http::open(options)).value();
        IndexFile file;
        file.name = kWheel;
        file.url = server.url(behaviour + "/w.whl");
        file.sha256 = sha256(wheel);
        tasks[0].package = "torch";
        tasks[0].torch = true;
        tasks[0].held = held;
        tasks[0].release = {"2.6.0", "x86_64", {file}, false, file};
    }
    Inspection inspect() {
        auto inspected = InspectionCache::open(server.root() / "measured.jsonl");
        REQUIRE(inspected.ok());
        return inspect_wheels(*http, tasks, **inspected, 1, [](std::string_view) {}).front();
    }
    std::string failure() {
        const auto seen = inspect();
        return seen.info.ok() ? "fine" : seen.info.failure().diagnostics.front().message;
    }
};

}  // namespace

TEST_CASE("libraries that the table knows become rows, with the purpose and its source") {
    Run run(torch_wheel());
    const auto seen = run.inspect();
    REQUIRE(seen.info.ok());
    const auto facts = Facts::embedded();
    const auto wheel = torch_rows(run.tasks[0].release, *seen.info, true, facts);
    REQUIRE(wheel.ok());
    std::vector<std::string> others;
    const auto rows = library_rows(wheel->front(), *seen.info, facts, others);
    REQUIRE(rows.size() == 2);
    const auto sha = run.tasks[0].release.chosen.sha256;
    CHECK(yaml_line(rows[0]) ==
          fmt::format(
              "  - {{id: torch-2.6.0+cu124-x86_64-libtorch_cuda.so, torch: \"2.6.0\", variant: \"cu124\", "
              "arch: "
              "\"x86_64\", library: \"libtorch_cuda.so\", purpose: \"the kernels of torch itself\", sass: "
              "[\"7.5\", \"9.0a\"], ptx: [\"9.0\"], source: \"wheel:{} sha256:{}\", confidence: measured}}\n",
              kWheel, sha));
    CHECK(rows[1].id == "torch-2.6.0+cu124-x86_64-libtorch_cuda_linalg.so");
    const auto& source = *rows[1].cell("source");
    REQUIRE(source.values.size() == 2);
    CHECK(source.is_list);
    CHECK(source.values[0] == fmt::format("wheel:{} sha256:{}", kWheel, sha));
    CHECK(source.values[1].starts_with("github:"));
    CHECK(others == std::vector<std::string>{"torch/lib/libvendor.so.0"});

    // Beside the known row: SASS that it does not have is a contradiction.
    const auto compared = compare(rows[0], facts);
    CHECK(compared.status == RowStatus::contradicted);
    CHECK(compared.contradicted == std::vector<std::string>{"sass", "ptx"});
}

TEST_CASE("PTX that a relocatable part lacks is no code path of a library") {
    const auto row = [](const std::vector<std::vector<Blob>>& parts) {
        Blob relocatable;
        for (const auto& part : parts)
            relocatable.append(fixture::container(part)).pad(8);
        const Blob blob = fixture::elf({{"__nv_relfatbin", 1, relocatable},
                                        {".nv_fatbin", 1, fixture::container({fixture::sass(90, {"k"})})}});
        scan::Scan scan;
        scan.libraries = {scan::read_library("f", blob.view(), {})};
        const auto code = code_of(scan);
        REQUIRE(code.size() == 1);
        return text::join(code[0].sass, " ") + "; " + text::join(code[0].ptx, " ");
    };
    const std::vector<Blob> machine{fixture::sass(90, {"k"})};
    const std::vector<Blob> both{fixture::sass(80, {"k"}), fixture::sass(90, {"k"}), fixture::ptx(90, 8, 4)};
    CHECK(row({both, both}) == "8.0 9.0; 9.0");
    CHECK(row({both, machine}) == "9.0; ");
    CHECK(row({machine, both, {fixture::ptx(90, 8, 4)}}) == "9.0; ");
}

TEST_CASE("what was read once is remembered, and what was only declared is read then") {
    Run run(torch_wheel(), "plain", false);
    CHECK_FALSE(run.inspect().info->library_code);
    run.tasks[0].held = true;
    const auto first = run.inspect();
    CHECK_FALSE(first.remembered);
    REQUIRE(first.info->library_code);
    CHECK(first.info->library_code->size() == 3);
    CHECK(first.info->arch == "sm_75 sm_90");
    const auto before = run.server.requests().size();
    const auto again = run.inspect();
    CHECK(again.remembered);
    CHECK(*again.info->library_code == *first.info->library_code);
    CHECK(run.server.requests().size() == before);
}

TEST_CASE("a wheel without CUDA is not read") {
    Run run(torch_wheel("None"));
    const auto seen = run.inspect();
    REQUIRE(seen.info.ok());
    CHECK(seen.info->library_code->empty());
    CHECK(wheel_info_from(to_json(*seen.info))->library_code->empty());
}

TEST_CASE(
    "a swapped wheel, a torn connection, a server that lies, a damaged library: nothing is remembered") {
    Run swapped(torch_wheel());
    const auto real = swapped.tasks[0].release.chosen.sha256;
    swapped.tasks[0].release.chosen.sha256 = std::string(64, '0');
    CHECK(swapped.failure() ==
          fmt::format("{} has the sha256 {}, and the index says {}", kWheel, real, std::string(64, '0')));
    CHECK_FALSE(std::filesystem::exists(swapped.server.root() / "measured.jsonl"));

    for (const char* behaviour :
         {"tear", "short", "long", "other-range", "ignore-range", "no-content-range", "status-404"}) {
        CAPTURE(behaviour);
        Run run(torch_wheel(), behaviour);
        CHECK(run.failure().starts_with(run.server.url(behaviour + std::string("/w.whl: "))));
        CHECK_FALSE(std::filesystem::exists(run.server.root() / "measured.jsonl"));
    }
    Run damaged(torch_wheel(
        "'12.4'", string_of(fixture::elf({{".nv_fatbin", 1, fixture::Blob().text("no container at all")}}))));
    CHECK(damaged.failure().starts_with(std::string(kWheel) +
                                        ": torch/lib/libtorch_cuda_linalg.so: section .nv_fatbin"));
    CHECK_FALSE(std::filesystem::exists(damaged.server.root() / "measured.jsonl"));
}

TEST_CASE("a line of the cache that is no list of libraries is passed over") {
    const auto seen = Run(torch_wheel()).inspect();
    REQUIRE(seen.info.ok());
    auto json = to_json(*seen.info);
    CHECK(wheel_info_from(json)->library_code == seen.info->library_code);
    for (const char* held : {"1", "[1]", "[{}]", R"([{"sass": [], "ptx": [1]}])"}) {
        json["held"] = Json::parse(held);
        CHECK_FALSE(wheel_info_from(json));
    }
}

TEST_CASE("of named libraries only those are read, and all of them when all are asked for") {
    Run run(torch_wheel());
    run.tasks[0].libraries = {"libtorch_cuda.so", "libtorch_cuda_linalg.so", "libnowhere.so"};
    run.tasks[0].release.chosen.sha256 = std::string(64, '0');  // nobody reads the bytes that it is of
    std::vector<std::string> paths;
    const auto first = run.inspect();
    REQUIRE(first.info.ok());
    for (const auto& library : *first.info->library_code)
        paths.push_back(library.path);
    CHECK(paths ==
          std::vector<std::string>{"torch/lib/libtorch_cuda.so", "torch/lib/libtorch_cuda_linalg.so"});
    CHECK(first.info->some_libraries);
    CHECK(wheel_info_from(to_json(*first.info))->some_libraries);
    const auto before = run.server.requests().size();
    CHECK(run.inspect().remembered);
    CHECK(run.server.requests().size() == before);
    // Some are not all: the whole wheel is read, and its sha256 counts.
    run.tasks[0].libraries.clear();
    CHECK(run.failure().find(" has the sha256 ") != std::string::npos);
}

TEST_CASE("a named library that is damaged, or behind a server that lies, is not remembered") {
    const auto damaged =
        string_of(fixture::elf({{".nv_fatbin", 1, fixture::Blob().text("no container at all")}}));
    for (const char* name : {"libtorch_cuda_linalg.so", "libtorch_cuda.so"}) {
        Run run(torch_wheel("'12.4'", damaged));
        run.tasks[0].libraries = {name};
        CHECK(run.inspect().info.ok() == (std::string_view(name) == "libtorch_cuda.so"));
    }
    for (const char* behaviour : {"tear", "short", "other-range", "ignore-range", "status-404"}) {
        CAPTURE(behaviour);
        Run run(torch_wheel(), behaviour);
        run.tasks[0].libraries = {"libtorch_cuda.so"};
        CHECK_FALSE(run.inspect().info.ok());
        CHECK_FALSE(std::filesystem::exists(run.server.root() / "measured.jsonl"));
    }
}
