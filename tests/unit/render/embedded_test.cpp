#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "folders.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image_plan.hpp"
#include "render/output/output_folder.hpp"
#include "render/templates/template.hpp"
#include "temp_folder.hpp"
#include "unit/render/planned.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

// A copy of the sources in the layout that --suite takes.
struct SuiteFolder : test::TempFolder {
    SuiteFolder() {
        const fs::path source = source_dir();
        fs::copy(source / "kernels", path() / "kernels", fs::copy_options::recursive);
        fs::copy(source / "src/fatbin", path() / "fatbin", fs::copy_options::recursive);
    }
    void append(const std::string& name, const std::string& text) const {
        put(name, this->text(name) + text);
    }
};

using Inputs = std::map<std::string, std::string>;

// Of each image, by id; of its proof, by id and "-proof".
Inputs inputs_of(std::string_view matrix, const fs::path& suite = {}) {
    const auto planned = test::planned(std::string(matrix));
    RenderSettings settings;
    settings.suite = suite;
    const auto rendering = render_artifacts(planned.matrix, planned.plan.images, {}, settings);
    REQUIRE(rendering.ok());
    Inputs inputs;
    for (const auto& image : rendering->images) {
        inputs[image.id] = image.inputs;
        inputs[image.id + "-proof"] = image.proof_inputs;
    }
    return inputs;
}

Inputs inputs_with(const fs::path& suite) {
    const auto inputs = inputs_of(R"(include:
  - {cuda: "11.8.0", os: debian12}
  - {cuda: "13.4.3", os: debian12}
  - {torch: 2.6.0, os: debian12}
)",
                                  suite);
    REQUIRE(inputs.size() == 6);
    return inputs;
}

std::set<std::string> changed(const Inputs& before, const Inputs& after) {
    std::set<std::string> ids;
    for (const auto& [id, inputs] : after) {
        if (before.at(id) != inputs) ids.insert(id);
    }
    return ids;
}

}  // namespace

TEST_CASE("the embedded files are those of the tree") {
    const auto all = embedded_files();
    CHECK(std::is_sorted(all.begin(), all.end(),
                         [](const EmbeddedFile& a, const EmbeddedFile& b) { return a.path < b.path; }));
    for (const auto& file : all) {
        const auto path = file.path, content = file.content;
        CAPTURE(path);
        auto source = std::string(path);
        if (source.starts_with("suite/kernels/")) source = source.substr(6);
        if (source.starts_with("suite/fatbin/")) source = "src/" + source.substr(6);
        CHECK(test::bytes_of(fs::path(source_dir()) / source) == content);
    }
    for (const char* name : {"suite/kernels/build/suite_build.cpp", "suite/kernels/registry.def",
                             "suite/kernels/compute/vadd.cu", "suite/fatbin/reader.hpp",
                             "templates/debian/Dockerfile.mustache", "templates/compose.yaml.mustache"}) {
        CAPTURE(name);
        CHECK(embedded_below(name).size() == 1);
    }
    CHECK(embedded_below("nothing/").empty());
    CHECK(embedded_templates().has("debian/Dockerfile.mustache"));
}

TEST_CASE("a suite from a folder is the embedded one when the files are") {
    const SuiteFolder folder;
    const auto suite = suite_from(folder.path());
    REQUIRE(suite.ok());
    CHECK(suite_hash(*suite) == suite_hash(embedded_suite()));
    folder.append("kernels/compute/vadd.cu", " ");
    CHECK(suite_hash(*suite_from(folder.path())) != suite_hash(embedded_suite()));
    const auto nothing = suite_from(folder.path() / "kernels");
    REQUIRE_FALSE(nothing.ok());
    CHECK(nothing.failure().code == ExitCode::bad_input);
    CHECK(nothing.failure().diagnostics.front().message.find("holds no sources of the suite") !=
          std::string::npos);
}

TEST_CASE("the host part of the suite includes nothing of the rest") {
    std::size_t host = 0;
    for (const auto& file : embedded_suite()) {
        const auto& path = file.path;
        const auto& content = file.content;
        if (!is_host_part(path)) continue;
        ++host;
        CAPTURE(path);
        for (const auto& line : text::split(content, '\n')) {
            const auto included =
                line.starts_with("#include \"") ? line.substr(10, line.rfind('"') - 10) : "";
            // The program that builds the suite knows how CUDA is built; it includes nothing of it.
            CHECK((included.empty() || is_host_part(included)));
        }
    }
    CHECK(host > 20);
    CHECK(host < embedded_suite().size());
}

TEST_CASE("a changed byte of the suite rebuilds exactly the proofs that it is in, and no image") {
    const auto before = inputs_with({});
    const std::set<std::string> with_nvcc{"debian12-cu11.8.0-proof", "debian12-cu13.4.3-proof"};
    const std::set<std::string> all{"debian12-cu11.8.0-proof", "debian12-cu13.4.3-proof",
                                    "debian12-torch2.6.0_cu124-proof"};
    const SuiteFolder folder;
    CHECK(changed(before, inputs_with(folder.path())).empty());
    SUBCASE("a kernel") {
        folder.append("kernels/compute/reduce_body.hpp", " ");
        CHECK(changed(before, inputs_with(folder.path())) == with_nvcc);
    }
    SUBCASE("what kernels are made of") {
        folder.append("kernels/exec/gpu.cuh", " ");
        CHECK(changed(before, inputs_with(folder.path())) == with_nvcc);
    }
    SUBCASE("the runner") {
        folder.append("kernels/runner/main.cpp", " ");
        CHECK(changed(before, inputs_with(folder.path())) == all);
    }
    SUBCASE("a file that is no source") {
        folder.append("kernels/notes.md", "x");
        CHECK(changed(before, inputs_with(folder.path())).empty());
    }
}

TEST_CASE("no driver changes an image, and no GPU: only what proves it") {
    constexpr std::string_view before = R"(axes:
  driver: [580.65.06]
  gpu: [T4]
  torch: [2.6.0+cu124]
set: {os: debian12}
)";
    const auto with = [&](const char* what, const char* other) {
        return changed(inputs_of(before), inputs_of(text::replace_all(std::string(before), what, other)));
    };
    CHECK(with("580.65.06", "580.95.05").empty());
    CHECK(with("[580.65.06]", "[580.65.06, 575.57.08]").empty());
    CHECK(with("T4", "H100").empty());
    constexpr std::string_view toolkit =
        "axes: {driver: [580.65.06], gpu: [T4], cuda: [11.8.0]}\nset: {os: debian12}\n";
    const auto more = text::replace_all(std::string(toolkit), "[T4]", "[T4, A100]");
    CHECK(changed(inputs_of(toolkit), inputs_of(more)) == std::set<std::string>{"debian12-cu11.8.0-proof"});
}

TEST_CASE("a user named root is refused") {
    const auto matrix =
        read_matrix_text("version: 1\nname: root\nset: {os: debian12}\nbuild: {user: root}\n", "matrix.yaml");
    REQUIRE(matrix.ok());
    const auto rendering = render_artifacts(*matrix, {}, {}, {});
    REQUIRE_FALSE(rendering.ok());
    CHECK(rendering.failure().diagnostics.front().message == "build: user root: images never run as root");
}

TEST_CASE("a template of the user's own changes the output, and its hash is told") {
    const test::TempFolder folder;
    folder.put("partials/apt_clean.mustache", " && true\n");
    const auto planned = test::planned("set: {os: debian12, cuda: \"11.8.0\"}\n");
    const auto& matrix = planned.matrix;
    const auto& plan = planned.plan;
    const auto ours = render_artifacts(matrix, plan.images, {}, {});
    RenderSettings settings;
    settings.templates = folder.path();
    const auto theirs = render_artifacts(matrix, plan.images, {}, settings);
    REQUIRE(ours.ok());
    REQUIRE(theirs.ok());
    CHECK(ours->templates_hash != theirs->templates_hash);
    const auto dockerfile = [](const Rendering& rendering) {
        return std::find_if(rendering.artifacts.begin(), rendering.artifacts.end(),
                            [](const Artifact& a) { return a.path.filename() == "Dockerfile"; })
            ->content;
    };
    CHECK(dockerfile(*ours).find("/var/lib/apt/lists/*") != std::string::npos);
    CHECK(dockerfile(*theirs).find("/var/lib/apt/lists/*") == std::string::npos);
    CHECK(dockerfile(*theirs).find(" && true\n") != std::string::npos);
}
