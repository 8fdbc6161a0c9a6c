// tests/render/<case>/: matrix.yaml and cudamatrix.lock (optional) give what expected.txt tells. With
// CUDAMATRIX_UPDATE_GOLDEN=1 it is written anew. The sources of the suite are left out, and hashes that
// follow from them or from the facts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/json.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image_plan.hpp"
#include "temp_folder.hpp"
#include "unit/render/golden_file.hpp"
#include "unit/render/injection/dockerfile_tokens.hpp"
#include "unit/render/planned.hpp"

namespace fs = std::filesystem;
using namespace cudamatrix;

namespace {

const fs::path kCases = fs::path(tests_dir()) / "render";

using golden_file::Tree;

// Bases of what other cases tell.
const std::string kCommon = "every_family";

bool updating() {
    return std::getenv("CUDAMATRIX_UPDATE_GOLDEN") != nullptr;
}

std::string slurp(const fs::path& path) {
    REQUIRE_MESSAGE(fs::exists(path), path.string());
    return test::bytes_of(path);
}

bool is_sources(const std::string& path) {
    return path.starts_with("suite/");
}

// The index without hashes of the suite, of templates and of the facts. Its list of files is that of
// `artifacts`.
std::string normalised_index(const std::string& content, const std::vector<Artifact>& artifacts) {
    auto index = parse_json(content, "index.json").value();
    CHECK(content == to_text(index) + "\n");
    std::map<std::string, std::string> listed, rendered;
    for (const auto& [path, digest] : index["files"].items()) {
        if (!is_sources(path)) listed[path] = digest.get<std::string>();
    }
    for (const auto& artifact : artifacts) {
        const auto path = artifact.path.generic_string();
        if (!is_sources(path) && path != "index.json") rendered[path] = sha256(artifact.content);
    }
    CHECK(listed == rendered);
    for (const char* key : {"version", "templates", "suite", "files"})
        index[key] = "...";
    for (auto& image : index["images"])
        image["inputs"] = image["proof_inputs"] = "...";
    return to_text(index) + "\n";
}

struct Case {
    Matrix matrix;
    ImagePlan plan;
    Lock lock;
    Rendering rendering;
};

// The lock's questions follow the facts; a golden lock answers whatever they ask today.
void answer_today(const fs::path& path, Lock& lock, const std::vector<Image>& images) {
    for (const auto& image : images) {
        const auto found = lock.images.find(image.id);
        if (found == lock.images.end()) continue;
        const auto today = asked_of(image);
        test::put_file(path, text::replace_all(slurp(path), found->second.asked, today));
        found->second.asked = today;
    }
}

Case render_case(const fs::path& folder, const std::string& matrix_path = {}) {
    Case out;
    auto matrix =
        read_matrix_text(slurp(folder / "matrix.yaml"), matrix_path.empty() ? "matrix.yaml" : matrix_path);
    for (const auto& d : matrix.ok() ? std::vector<Diagnostic>{} : matrix.failure().diagnostics)
        MESSAGE(render(d, {}));
    REQUIRE(matrix.ok());
    out.matrix = std::move(matrix).value();
    auto lock = read_lock(folder / kLockFile);
    REQUIRE(lock.ok());
    out.plan = test::plan_of(out.matrix, Facts::embedded(), taken_by(*lock));
    if (lock->has_value()) out.lock = **lock;
    if (updating()) answer_today(folder / kLockFile, out.lock, out.plan.images);
    RenderSettings settings;
    settings.facts_hash = "0123456789ab";
    settings.facts_date = "2026-01-01";
    auto rendering = render_artifacts(out.matrix, out.plan.images, out.lock, settings);
    for (const auto& d : rendering.ok() ? std::vector<Diagnostic>{} : rendering.failure().diagnostics)
        MESSAGE(render(d, {}));
    REQUIRE(rendering.ok());
    out.rendering = std::move(rendering).value();
    return out;
}

Tree rendered_tree(const Case& rendered) {
    Tree tree;
    for (const auto& [path, content, digest] : rendered.rendering.artifacts) {
        const auto name = path.generic_string();
        if (is_sources(name)) continue;
        tree[name] = name == "index.json" ? normalised_index(content, rendered.rendering.artifacts) : content;
    }
    std::string refused;
    for (const auto& [cell, reason] : rendered.plan.refusals)
        refused += cell + ": " + reason + "\n";
    if (!refused.empty()) tree["refused.txt"] = refused;
    return tree;
}

std::vector<fs::path> cases() {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(kCases)) {
        if (entry.is_directory()) all.push_back(entry.path());
    }
    // The common one first, because others build on it.
    std::sort(all.begin(), all.end(), [](const fs::path& a, const fs::path& b) {
        return std::pair(a.filename() != kCommon, a) < std::pair(b.filename() != kCommon, b);
    });
    return all;
}

}  // namespace

TEST_CASE("every golden file is what its matrix gives") {
    REQUIRE(cases().size() >= 8);
    golden_file::Reader reader;
    for (const auto& folder : cases()) {
        const auto name = folder.filename().string();
        CAPTURE(name);
        const auto got = rendered_tree(render_case(folder));
        if (updating()) test::put_file(folder / "expected.txt", reader.write(name, got, kCommon));
        const auto want = reader.read(name, slurp(folder / "expected.txt"));
        std::set<std::string> paths;
        for (const auto& tree : {got, want}) {
            for (const auto& [path, content] : tree)
                paths.insert(path);
        }
        for (const auto& path : paths) {
            CAPTURE(path);
            CHECK(got.count(path) == 1);
            CHECK(want.count(path) == 1);
            if (got.count(path) == 1 && want.count(path) == 1) CHECK(got.at(path) == want.at(path));
        }
    }
}

TEST_CASE("the same bytes a second time, and from a matrix file in another place") {
    for (const auto& folder : cases()) {
        const auto first = render_case(folder);
        const auto second = render_case(folder, "/somewhere/else/matrix.yaml");
        REQUIRE(first.rendering.artifacts.size() == second.rendering.artifacts.size());
        for (std::size_t i = 0; i < first.rendering.artifacts.size(); ++i) {
            CHECK(first.rendering.artifacts[i].path == second.rendering.artifacts[i].path);
            CHECK(first.rendering.artifacts[i].content == second.rendering.artifacts[i].content);
        }
    }
}

TEST_CASE("every Dockerfile keeps the house rules") {
    for (const auto& folder : cases()) {
        const auto rendered = render_case(folder);
        for (const auto& artifact : rendered.rendering.artifacts) {
            const auto& path = artifact.path;
            const auto& content = artifact.content;
            if (!path.filename().string().ends_with("Dockerfile")) continue;
            CAPTURE(path.string());
            CHECK(content.starts_with("# Generated by cudamatrix "));
            for (const auto& instruction : dockerfile_structure(content)) {
                CAPTURE(instruction);
                const auto keyword = instruction.substr(0, instruction.find(' '));
                CHECK(std::set<std::string>{"FROM", "ADD", "COPY", "RUN", "ENV", "LABEL", "WORKDIR", "USER",
                                            "CMD", "HEALTHCHECK"}
                          .count(keyword) == 1);
                CHECK(instruction.find("BROKEN") == std::string::npos);
                CHECK(instruction.find("HEREDOC") == std::string::npos);
                // The CA, the logins and a cache.
                CHECK(instruction.find("FLAG FLAG FLAG FLAG") == std::string::npos);
            }
            for (const auto& line : text::split(content, '\n')) {
                CAPTURE(line);
                CHECK_FALSE(line.ends_with(' '));
                CHECK_FALSE(line.ends_with('\t'));
                if (line.starts_with("COPY")) CHECK(line.find("--link") == std::string::npos);
                if (line.find("--mount") != std::string::npos)
                    CHECK((line.starts_with("    --mount=type=secret,id=ca,") ||
                           line.starts_with("    --mount=type=secret,id=netrc,") ||
                           line.starts_with("    --mount=type=cache,id=cudamatrix-")));
                CHECK_FALSE(line.starts_with("# syntax"));
            }
            // A base is ours, or a registry's by digest: without one the comment above it says so.
            const auto lines = text::split(content, '\n');
            for (std::size_t i = 0; i < lines.size(); ++i) {
                if (!lines[i].starts_with("FROM ")) continue;
                const auto base = text::split(lines[i], ' ')[1];
                if (std::set<std::string>{"scratch", "base", "devel", "nvcc"}.count(base) == 1 ||
                    base.starts_with("cudamatrix/"))
                    continue;
                CAPTURE(lines[i]);
                CHECK((base.find("@sha256:") != std::string::npos ||
                       lines[i - 1].ends_with(", digest unpinned")));
            }
        }
    }
}

TEST_CASE("pins: what the lock covers names every version, what it does not says unpinned") {
    for (const auto& folder : cases()) {
        const auto rendered = render_case(folder);
        for (std::size_t i = 0; i < rendered.plan.images.size(); ++i) {
            const auto& image = rendered.plan.images[i];
            const auto& about = rendered.rendering.images[i];
            CAPTURE(image.id);
            CHECK(about.pinned == rendered.lock.covers(image));
            std::string dockerfiles;
            for (const auto& [path, content, digest] : rendered.rendering.artifacts) {
                if (path == about.folder / "Dockerfile") {
                    CHECK((content.find("unpinned") == std::string::npos) == about.pinned);
                    CHECK((content.find("UNPINNED") == std::string::npos) == about.pinned);
                    if (about.pinned && image.references().empty())
                        CHECK(content.find(rendered.lock.base(image)->sha256) != std::string::npos);
                }
                if (path.parent_path() == about.folder && path.filename().string().ends_with("Dockerfile"))
                    dockerfiles += content;
                if (path.parent_path() == about.folder &&
                    path.filename().string().starts_with("requirements")) {
                    for (const auto& line : text::split(content, '\n')) {
                        if (line.empty() || line.front() == '#') continue;
                        CHECK((line.find(" --hash=sha256:") != std::string::npos) == about.pinned);
                    }
                }
            }
            for (const auto& reference : about.pinned ? image.references() : std::vector<std::string>{})
                CHECK(dockerfiles.find("@" + rendered.lock.registry_base(reference)->digest) !=
                      std::string::npos);
        }
    }
}

namespace {

Environment with_path() {
    const char* path = std::getenv("PATH");
    // Where tests/run.sh installs the validators.
    const auto venv = (fs::path(source_dir()) / "build/venv/bin").string();
    return {{"PATH", (path == nullptr ? "/usr/bin:/bin" : path) + (":" + venv)}};
}

void check_success(std::vector<std::string> argv) {
    Command command;
    command.argv = std::move(argv);
    command.environment = with_path();
    command.time_limit = std::chrono::seconds(120);
    const auto outcome = cudamatrix::run(command);
    REQUIRE(outcome.ok());
    CHECK_MESSAGE(outcome->success(), outcome->out, outcome->err);
}

// The first docker-compose of Debian 12 reads files of an older form.
bool is_compose_2() {
    if (!find_program("docker-compose", with_path())) return false;
    Command command;
    command.argv = {"docker-compose", "version", "--short"};
    command.environment = with_path();
    command.time_limit = std::chrono::seconds(60);
    const auto outcome = cudamatrix::run(command);
    return outcome.ok() && outcome->success() && !outcome->out.starts_with("1.");
}

}  // namespace

namespace {

const golden_file::Lines kComposeFiles{"compose.yaml", "compose.gpu.yaml", "compose.cdi.yaml"};

// The rendered compose files of every case, in folders of their names.
std::vector<fs::path> write_compose_files(const test::TempFolder& root) {
    std::vector<fs::path> folders;
    for (const auto& folder : cases()) {
        const auto tree = rendered_tree(render_case(folder));
        folders.push_back(root / folder.filename());
        for (const auto& name : kComposeFiles)
            test::put_file(folders.back() / name, tree.at(name));
    }
    return folders;
}

}  // namespace

TEST_CASE("compose files are valid by the compose-spec schema") {
    REQUIRE_MESSAGE(find_program("check-jsonschema", with_path()).has_value(),
                    "check-jsonschema is not on PATH and not in build/venv: tests/run.sh installs it");
    std::vector<std::string> argv{"check-jsonschema", "--builtin-schema", "vendor.compose-spec"};
    const test::TempFolder root;
    for (const auto& folder : write_compose_files(root)) {
        for (const auto& name : kComposeFiles)
            argv.push_back((folder / name).string());
    }
    check_success(argv);
}

TEST_CASE("compose takes the files, alone and with each overlay") {
    if (!is_compose_2()) {
        // Debian 12 alone has none to install.
        REQUIRE_MESSAGE(slurp("/etc/os-release").find("VERSION_CODENAME=bookworm") != std::string::npos,
                        "docker-compose 2 is not on PATH: tests/run.sh installs it");
        MESSAGE("not tried: Debian 12 has no docker-compose 2 (Debian 13 has)");
        return;
    }
    const test::TempFolder root;
    for (const auto& folder : write_compose_files(root)) {
        // A project of no service is nothing to start, and compose says so.
        const auto own = folder / "compose.yaml";
        if (slurp(own).find("\nservices:\n  {}") != std::string::npos) continue;
        CAPTURE(folder.filename().string());
        check_success({"docker-compose", "--file", own.string(), "config", "--quiet"});
        for (const char* overlay : {"compose.gpu.yaml", "compose.cdi.yaml"})
            check_success({"docker-compose", "--file", own.string(), "--file", (folder / overlay).string(),
                           "config", "--quiet"});
    }
}
