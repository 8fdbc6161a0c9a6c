// --look: who is asked for what, of what a matrix or a search names.
#include "commands/look.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;

namespace {

constexpr std::string_view kToday = "2026-11-25";

Named named(const std::string& set, const Facts& facts = Facts::embedded()) {
    const auto matrix = read_matrix_text("version: 1\nset: {" + set + "}\n", "m.yaml");
    REQUIRE(matrix);
    return named_in(*matrix, facts);
}

// "torch 2.14.1+cu126 for x86_64 at INDEX", each on a line.
std::string shown(const Requests& requests) {
    std::string out;
    for (const auto& request : requests) {
        out += text::join(request.packages, ",");
        for (const auto& [package, versions] : request.exactly)
            out += fmt::format(" {}=={}", package, text::join({versions.begin(), versions.end()}, "|"));
        out += request.versions.empty() ? "" : " " + request.versions;
        out += request.is_torch ? " for " + request.arch : "";
        out += request.index.empty() ? "" : " at " + request.index;
        out += request.held ? ", held" : "";
        out += request.layers.empty() ? "" : ", layers for " + text::join(request.layers, ",");
        out += request.may_lack ? ", may lack" : "";
        out += request.absent_source.empty() ? "" : ", absent: " + request.absent_source;
        out += (request.absent_note.empty() ? "" : ", " + request.absent_note) + "\n";
    }
    return out;
}

std::string torch(const std::string& set, const Facts& facts = Facts::embedded()) {
    return shown(torch_requests(named(set, facts), facts, kToday));
}

std::string variant(const std::string& set, const Facts& facts = Facts::embedded(),
                    const Mirrors& mirrors = {}) {
    return shown(variant_requests(named(set, facts), facts, mirrors, kToday));
}

// The embedded facts with rows of one's own, as the store has them.
Facts with(const std::vector<std::pair<std::string, std::string>>& rows, std::string_view day = kToday) {
    test::TempFolder folder;
    for (const auto& [table, row] : rows) {
        test::put_file(
            folder.path() / (table + ".yaml"),
            fmt::format("table: {}\nas_of: \"{}\"\nrows:\n  - {{{}, source: \"{}\", "
                        "confidence: measured}}\n",
                        table, day, row,
                        table == "torch_wheels" ? "wheel:torch-1.whl sha256:" + std::string(64, 'a')
                                                : "https://example.org/x"));
    }
    auto facts = Facts::with_overlay(folder.path(), kToday);
    if (!facts.ok()) MESSAGE(render(facts.failure().diagnostics.front(), {}));
    REQUIRE(facts.ok());
    return *std::move(facts);
}

const std::string kWheel =
    "id: torch-2.14.1+cu126-x86_64, torch: \"2.14.1\", variant: cu126, cuda: \"12.6\", arch: x86_64, pythons: "
    "[\"3.12\"], compute: [\"7.5\"], ptx: []";
const std::string kAbsent =
    "id: no-torch-2.14.1+cu126-x86_64, torch: \"2.14.1\", variant: cu126, arch: x86_64";

}  // namespace

TEST_CASE("a torch that no fact describes is asked for at the default index") {
    CHECK(torch("torch: 97.0.0") == "torch torch==97.0.0 for x86_64\n");
    CHECK(torch("torch: 97.0.0+cu126") == "torch torch==97.0.0|97.0.0+cu126 for x86_64\n");
    CHECK(torch("torch: '97.1'") == "torch ==97.1.* for x86_64\n");
    CHECK(torch("torch: 97.0.0, arch: aarch64") == "torch torch==97.0.0 for aarch64\n");
    CHECK(torch("torch: 97.0.0, gpu: GH200") == "torch torch==97.0.0 for aarch64\n");
    CHECK(torch("torch: 2.14.1+cu126") == "torch torch==2.14.1+cu126 for x86_64, may lack\n");
}

TEST_CASE("a torch is not asked for where facts describe it, or say that there is none") {
    for (const char* set :
         {"torch: 2.6.0", "torch: '2.6'", "torch: 2.6.0+cu124", "torch: none", "torch: 2.6.0+cu999",
          "cuda: 12.4.1", "torch: 2.14.1+rocm6.2", "torch: 2.14.1+xpu", "torch: 97.0.0+rocm6.2"}) {
        CAPTURE(std::string(set));
        CHECK(torch(set) == "");
        CHECK(variant(set) == "");
    }
}

TEST_CASE("a build that names its variant is asked for at the index of that") {
    CHECK(variant("torch: 2.14.1+cu126") ==
          "torch torch==2.14.1+cu126 for x86_64 at https://download.pytorch.org/whl/cu126, absent: "
          "https://download.pytorch.org/whl/cu126/torch/\n");
    // No fact names the index: as the others are named.
    CHECK(variant("torch: 2.15.0+cu140").find(" at https://download.pytorch.org/whl/cu140,") !=
          std::string::npos);
    CHECK(variant("torch: 97.0.0") == "");
    CHECK(variant("torch: '97.1+cu126'") == "");
    const auto mirror =
        variant("torch: 2.14.1+cu126", Facts::embedded(), {{"pytorch", "https://m.example.org/t"}});
    CHECK(mirror ==
          "torch torch==2.14.1+cu126 for x86_64 at https://m.example.org/t/cu126, absent: "
          "https://download.pytorch.org/whl/cu126/torch/, asked at the mirror that the matrix file names\n");
}

TEST_CASE("an index that was seen today not to list a build is not asked again") {
    const auto today = with({{"absent_torch_builds", kAbsent}}),
               before = with({{"absent_torch_builds", kAbsent}}, "2026-11-24");
    CHECK(variant("torch: 2.14.1+cu126", today) == "");
    CHECK(torch("torch: 2.14.1+cu126", today) == "");
    CHECK(variant("torch: 2.14.1+cu126", before) != "");
    CHECK(variant("torch: 2.14.1+cu126, arch: aarch64", today) != "");
    CHECK(variant("torch: 2.14.1+cu132", today) != "");
}

TEST_CASE("GPU code is read of what was looked at, where a GPU is named, and once") {
    const auto before = Facts::embedded(), facts = with({{"torch_wheels", kWheel}});
    const auto code = [&](const std::string& set, const Facts& seen, bool read = false) {
        std::vector<std::string> asked;
        const auto out =
            shown(code_requests(named(set, seen), seen, before, {}, [&](const std::string& sha256) {
                asked.push_back(sha256);
                return read;
            }));
        CHECK((asked.empty() || asked == std::vector{std::string(64, 'a')}));
        return out;
    };
    const std::string wheel =
        "torch torch==2.14.1|2.14.1+cu126 for x86_64 at https://download.pytorch.org/whl/cu126, held\n";
    CHECK(code("torch: 2.14.1+cu126, gpu: T4", facts) == wheel);
    CHECK(code("torch: 2.14.1+cu126, compute: '7.5'", facts) == wheel);
    const auto by_default = with({{"torch_wheels", kWheel + ", default_index: true"}});
    CHECK(code("torch: 2.14.1+cu126, gpu: T4", by_default) ==
          "torch torch==2.14.1|2.14.1+cu126 for x86_64, held\n");
    CHECK(code("torch: 2.14.1+cu126", facts) == "");
    CHECK(code("torch: 2.14.1+cu126, gpu: T4", facts, true) == "");
    CHECK(code("torch: 2.14.1+cu126, gpu: T4", before) == "");  // no fact describes it
    CHECK(code("torch: 2.6.0+cu118, gpu: T4", facts) == "");    // not looked at for the user
    CHECK(code("torch: 2.14.1+cpu, gpu: T4", facts) == "");
    CHECK(code("torch: 2.14.1+cu126, gpu: T4, arch: aarch64", facts) == "");
    const auto read = with({{"torch_wheels", kWheel},
                            {"torch_libraries",
                             "id: torch-2.14.1+cu126-x86_64-libtorch_cuda.so, torch: \"2.14.1\", variant: "
                             "cu126, arch: x86_64, library: libtorch_cuda.so, purpose: x, sass: "
                             "[\"7.5\"], ptx: []"}});
    CHECK(code("torch: 2.14.1+cu126, gpu: T4", read) == "");
    // A known wheel whose architectures no fact lists.
    const auto old = shown(code_requests(named("torch: 1.5.1, gpu: T4"), before, before, {},
                                         [](const std::string&) { return false; }));
    CHECK(old == "torch torch==1.5.1|1.5.1+cu102 for x86_64, held\n");
    CHECK(code_requests(named("torch: 1.5.1, gpu: T4"), before, before, {}, [](const std::string& sha256) {
              return sha256 == "c42658f2982591dc4d0459645c9ab26e0ce18aa7ab0993c27c8bcb1c98931d11";
          }).empty());
    CHECK(code("torch: 1.5.1", before) == "");
}

TEST_CASE("packages and images that no fact describes") {
    const auto facts = Facts::embedded();
    const auto asked =
        named("packages: {Odd_Pkg: '1.0', numpy: 1.26.4, timm: '99.9'}, image: 'registry.example.org/a/b'");
    CHECK(shown(package_requests(asked, facts)) == "odd-pkg,timm odd-pkg==1.0 timm==99.9\n");
    CHECK(shown(image_requests(asked, facts, false)) == "registry.example.org/a/b:latest\n");
    for (
        const char* set :
        {"packages: {numpy: 1.26.4}", "packages: {torchvision: auto}", "image: 'nvidia/cuda:1.2.3-base-x'",
         "torch: 2.6.0",
         "image: 'registry.example.org/a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"}) {
        CAPTURE(std::string(set));
        CHECK(shown(package_requests(named(set), facts)) == "");
        CHECK(shown(image_requests(named(set), facts, true)) == "");
    }
}

TEST_CASE("layers are read deep, where a GPU is named, for processors for which they were not") {
    const std::string row =
        "id: other-image-registry.example.org/a/b:1, image: \"registry.example.org/a/b:1\", arch: [x86_64]";
    const auto facts = Facts::embedded(), seen = with({{"other_images", row}}),
               read = with({{"other_images", row + ", layers: [x86_64]"}});
    const std::string set = "image: 'registry.example.org/a/b:1'", gpu = set + ", gpu: T4";
    const auto asked = [](const std::string& text, const Facts& known, bool deep) {
        return shown(image_requests(named(text), known, deep));
    };
    CHECK(asked(gpu, facts, true) == "registry.example.org/a/b:1, layers for x86_64\n");
    CHECK(asked(gpu, seen, true) == "registry.example.org/a/b:1, layers for x86_64\n");
    CHECK(asked(gpu, facts, false) == "registry.example.org/a/b:1\n");
    CHECK(asked(set, facts, true) == "registry.example.org/a/b:1\n");
    CHECK(asked(gpu, seen, false) == "");
    CHECK(asked(set, seen, true) == "");
    CHECK(asked(gpu, read, true) == "");
    CHECK(asked(gpu + ", arch: aarch64", seen, true) == "");  // it is for the other one alone
}

TEST_CASE("needs: what no known release serves, and newer releases of the rest") {
    const auto facts = Facts::embedded();
    const auto asked = [&](const std::string& text) {
        const auto need = solve::need_of(text);
        REQUIRE(need);
        return shown(need_requests({*need}, facts));
    };
    const std::string newest(facts.package_releases("timm").back().text);
    CHECK(asked("oddpkg<2") == "oddpkg <2\n");
    CHECK(asked("oddpkg") == "oddpkg\n");
    CHECK(asked("timm") == fmt::format("timm >{}, may lack\n", newest));
    CHECK(asked("timm>=0.6") == fmt::format("timm >=0.6,>{}, may lack\n", newest));
    CHECK(asked("timm>=99") == "timm >=99\n");
    CHECK(asked("timm==" + newest) == "");
    CHECK(asked("timm<0.9") == "");
    CHECK(need_requests({}, facts).empty());
}

TEST_CASE("pip's resolver is told the indexes of variants and the mirror of the default index") {
    const auto facts = Facts::embedded();
    const std::set<PipQuestion> questions{
        {{"torch==2.6.0+cu118", "torchvision==0.21.0+cu118"}, "3.12", "x86_64", ""},
        {{"odd", "torch==2.6.0"}, "3.12", "x86_64", ""}};
    const auto of = [&](const Mirrors& mirrors) {
        const auto request = pip_request(questions, facts, mirrors, "https://index.example.org/simple");
        CHECK(request.questions.size() == 2);
        CHECK(request.index == "https://index.example.org/simple");
        CHECK(request.variants.size() == 1);
        return request.mirror + " " + request.variants.at("cu118");
    };
    CHECK(of({}) == " https://download.pytorch.org/whl/cu118");
    CHECK(of({{"pypi", "https://m.example.org/simple"}, {"pytorch", "https://m.example.org/t"}}) ==
          "https://m.example.org/simple https://m.example.org/t/cu118");
    CHECK(of({{"https://index.example.org", "https://m.example.org"}}) ==
          "https://m.example.org/simple https://download.pytorch.org/whl/cu118");
}
