// `render --prune` takes away what builds left for images that are gone, and nothing of anybody else.
#include "run/job/folder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "base/text.hpp"
#include "render/output/output_folder.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;
namespace fs = std::filesystem;

namespace {

// An output folder in which images "here" and "gone" have been built; "theirs" is somebody else's.
class Out : public test::TempFolder {
  public:
    Out() {
        put("bootstrap/bootstrap-bookworm.tar", "base");
        put("source/app/a.py", "a");
        for (const std::string id : {"here", "gone"}) {
            const auto context = at("images/" + id);
            REQUIRE(write_artifacts(context, {{"suite/kernels/a.cu", "kernel"}, {"suite/fatbin/b.hpp", "b"}})
                        .ok());
            fs::create_hard_link(at("bootstrap/bootstrap-bookworm.tar"), context / "bootstrap-bookworm.tar");
            REQUIRE(stage_copies({{{at("source/app/a.py"), "copy/app/a.py"}}, "hash"}, context).ok());
            for (const auto& log : {"build-" + id, "build-" + id + "-proof", "lock-" + id, "host-" + id})
                put("logs/" + log + ".log", "log");
        }
        put("images/theirs/suite/a.cu", "theirs");
        put("images/theirs/bootstrap-bookworm.tar", "base");
        put("images/theirs/copy/x", "theirs");
        put("logs/build-theirs.log", "theirs");
    }
    [[nodiscard]] fs::path at(const std::string& name) const { return path() / name; }
    // Files and empty folders, but for those whose name holds one of the words.
    [[nodiscard]] std::string names_without(const std::vector<std::string>& words) const {
        std::vector<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(path())) {
            auto name = entry.path().lexically_relative(path()).generic_string();
            if (entry.is_directory() && !fs::is_empty(entry.path())) continue;
            const auto holds = [&](const std::string& word) { return name.find(word) != std::string::npos; };
            if (std::none_of(words.begin(), words.end(), holds)) names.push_back(std::move(name));
        }
        std::sort(names.begin(), names.end());
        return text::join(names, "\n");
    }
    [[nodiscard]] std::string names() const { return names_without({}); }
};

Leftovers cleaned(const Out& out, const std::vector<std::string>& pruned = {}) {
    auto done = remove_leftovers(out.at(""), {"here"}, pruned);
    REQUIRE(done.ok());
    return std::move(done).value();
}

}  // namespace

TEST_CASE("what builds left for an image goes with it, and only that") {
    const Out out;
    const auto others = out.names_without({"gone"});
    const auto done = cleaned(out);
    CHECK(done.removed == 9);  // two of the suite, the tar, the copy and its marker, four logs
    CHECK(done.kept.empty());
    CHECK(out.names() == others);
    CHECK(out.names().find("images/theirs/bootstrap-bookworm.tar") != std::string::npos);
    CHECK_FALSE(fs::exists(out.at("images/gone")));
    CHECK(cleaned(out).removed == 0);
}

TEST_CASE("logs go where the render has just removed the rest of an image") {
    const Out out;
    fs::remove_all(out.at("images/gone"));
    CHECK(cleaned(out).removed == 0);
    CHECK(cleaned(out, {"images/gone/Dockerfile", "images/here/x", "compose.yaml"}).removed == 4);
    CHECK_FALSE(fs::exists(out.at("logs/build-gone.log")));
    CHECK(fs::exists(out.at("logs/build-here.log")));
}

TEST_CASE("files of somebody else in the folder of an image stay, and the folder with them") {
    const Out out;
    out.put("images/gone/notes.txt", "mine");
    out.put("images/gone/suite/kernels/mine.cu", "mine");
    out.put("images/gone/bootstrap-trixie.tar", "mine");
    CHECK(cleaned(out).removed == 9);
    CHECK(
        out.names().find("images/gone/bootstrap-trixie.tar\nimages/gone/notes.txt\nimages/gone/suite/kernels/"
                         "mine.cu\nimages/here") != std::string::npos);
}

TEST_CASE("a file of ours that was changed by hand stays and is named, and so does the list") {
    const Out out;
    out.put("images/gone/suite/kernels/a.cu", "changed");
    fs::remove(out.at("images/gone/bootstrap-bookworm.tar"));
    out.put("images/gone/bootstrap-bookworm.tar", "mine");
    const auto done = cleaned(out);
    CHECK(done.removed == 7);
    CHECK(done.kept == std::vector<std::string>{"images/gone/suite/kernels/a.cu"});
    CHECK(fs::exists(out.at("images/gone/bootstrap-bookworm.tar")));
    CHECK(fs::exists(out.at("images/gone") / std::string(kOwnedFile)));
}

TEST_CASE("nothing is followed: links in the place of files and folders stay, and what they lead to") {
    const Out out;
    fs::remove_all(out.at("images/gone/copy"));
    fs::create_directory_symlink(out.at("source"), out.at("images/gone/copy"));
    fs::remove_all(out.at("images/gone/suite"));
    fs::create_directory_symlink(out.at("images/here/suite"), out.at("images/gone/suite"));
    fs::remove(out.at("logs/build-gone.log"));
    fs::create_symlink(out.at("logs/build-here.log"), out.at("logs/build-gone.log"));
    CHECK(cleaned(out).removed == 4);
    CHECK(fs::exists(out.at("source/app/a.py")));
    CHECK(fs::exists(out.at("images/here/suite/kernels/a.cu")));
    CHECK(fs::is_symlink(out.at("logs/build-gone.log")));
    CHECK(fs::is_symlink(out.at("images/gone/copy")));
}

TEST_CASE("a folder whose list is not ours is refused") {
    const Out out;
    out.put("images/other/.cudamatrix-files", "mine");
    const auto refused = remove_leftovers(out.at(""), {"here", "gone"}, {});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.failure().code == ExitCode::environment);
    CHECK(fs::exists(out.at("images/other/.cudamatrix-files")));
}

TEST_CASE("an output folder without images has nothing to clean") {
    const Out out;
    fs::remove_all(out.at("images"));
    CHECK(cleaned(out).removed == 0);
    const auto nowhere = remove_leftovers(out.at("nowhere"), {}, {});
    REQUIRE(nowhere.ok());
    CHECK(nowhere->removed == 0);
}
