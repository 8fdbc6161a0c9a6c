#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.hpp"
#include "render/output_folder.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

// A folder of its own for each test, removed at its end.
class Folder {
  public:
    Folder()
        : path_(fs::temp_directory_path() /
                fmt::format("cudamatrix-out-{}", static_cast<const void*>(this))) {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] fs::path out() const { return path_ / "out"; }
    [[nodiscard]] fs::path at(const std::string& name) const { return path_ / name; }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream in(out() / name, std::ios::binary);
        std::stringstream all;
        all << in.rdbuf();
        return all.str();
    }
    void put(const std::string& name, const std::string& content) const {
        fs::create_directories((out() / name).parent_path());
        std::ofstream(out() / name, std::ios::binary) << content;
    }

  private:
    fs::path path_;
};

std::string refused(const Result<Written>& written) {
    REQUIRE_FALSE(written.ok());
    CHECK(written.failure().code == ExitCode::environment);
    return written.failure().diagnostics.front().message;
}

const std::vector<Artifact> kTwo{{"images/a/Dockerfile", "FROM a\n"},
                                 {"images/a/suite/x.cpp", "x\n"},
                                 {"compose.yaml", "services: {}\n"},
                                 {"index.json", "{}\n"}};

}  // namespace

TEST_CASE("everything is written once, and again only what changed") {
    Folder folder;
    auto first = write_artifacts(folder.out(), kTwo);
    REQUIRE(first.ok());
    CHECK(first->changed == 4);
    CHECK(folder.read("images/a/Dockerfile") == "FROM a\n");
    const auto time = fs::last_write_time(folder.out() / "images/a/suite/x.cpp");
    auto second = write_artifacts(folder.out(), kTwo);
    REQUIRE(second.ok());
    CHECK(second->changed == 0);
    CHECK(second->unchanged == 4);
    auto changed = kTwo;
    changed[0].content = "FROM b\n";
    auto third = write_artifacts(folder.out(), changed);
    REQUIRE(third.ok());
    CHECK(third->changed == 1);
    CHECK(folder.read("images/a/Dockerfile") == "FROM b\n");
    CHECK(fs::last_write_time(folder.out() / "images/a/suite/x.cpp") == time);
}

TEST_CASE(
    "a file that an image no longer has goes; those of an image that is gone are told and left, and stay "
    "ours") {
    Folder folder;
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    const std::vector<Artifact> without_source{kTwo[0], kTwo[2], kTwo[3]};
    auto written = write_artifacts(folder.out(), without_source);
    REQUIRE(written.ok());
    CHECK(written->removed == 1);
    CHECK(written->orphans.empty());
    CHECK_FALSE(fs::exists(folder.out() / "images/a/suite/x.cpp"));

    const std::vector<Artifact> other{{"images/b/Dockerfile", "FROM c\n"}, kTwo[2], kTwo[3]};
    for (int round = 0; round < 2; ++round) {
        written = write_artifacts(folder.out(), other);
        REQUIRE(written.ok());
        CHECK(written->removed == 0);
        CHECK(written->orphans == std::vector<std::string>{"images/a/Dockerfile"});
        CHECK(folder.read("images/a/Dockerfile") == "FROM a\n");
    }
    auto back = kTwo;
    back[0].content = "FROM newer\n";
    REQUIRE(write_artifacts(folder.out(), back).ok());
    CHECK(folder.read("images/a/Dockerfile") == "FROM newer\n");
}

TEST_CASE("files that are not ours are never written over or removed") {
    Folder folder;
    folder.put("images/a/Dockerfile", "mine\n");
    folder.put("images/a/notes.txt", "mine\n");
    CHECK(refused(write_artifacts(folder.out(), kTwo)) ==
          "cannot write " + (folder.out() / "images/a/Dockerfile").string() +
              ": it is there already, and cudamatrix did not write it");
    CHECK_FALSE(fs::exists(folder.out() / "compose.yaml"));
    fs::remove(folder.out() / "images/a/Dockerfile");
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    CHECK(folder.read("images/a/notes.txt") == "mine\n");
    folder.put("images/a/suite/x.cpp", "edited by hand\n");
    const std::vector<Artifact> without_source{kTwo[0], kTwo[2], kTwo[3]};
    CHECK(refused(write_artifacts(folder.out(), without_source)) ==
          (folder.out() / "images/a/suite/x.cpp").string() +
              " is no longer rendered, but it was changed by hand");
    CHECK(folder.read("images/a/suite/x.cpp") == "edited by hand\n");
}

TEST_CASE("the same content is no conflict") {
    Folder folder;
    folder.put("images/a/Dockerfile", "FROM a\n");
    CHECK(write_artifacts(folder.out(), kTwo).ok());
}

TEST_CASE("paths that leave the folder and links on the way are refused before anything is written") {
    Folder folder;
    for (const char* path : {"../x", "/etc/x", "a/../../x", "a/./b", "", ".", "a/.."}) {
        CAPTURE(path);
        CHECK(refused(write_artifacts(folder.out(), {kTwo[2], {path, "x"}}))
                  .find("does not lie inside the output folder") != std::string::npos);
    }
    fs::create_directories(folder.at("elsewhere"));
    fs::create_directories(folder.out() / "images");
    fs::create_directory_symlink(folder.at("elsewhere"), folder.out() / "images/a");
    CHECK(refused(write_artifacts(folder.out(), kTwo)) ==
          "cannot write " + (folder.out() / "images/a/Dockerfile").string() + ": " +
              (folder.out() / "images/a").string() + " is a symbolic link");
    fs::remove(folder.out() / "images/a");
    std::ofstream(folder.at("elsewhere/victim")) << "FROM a\n";
    fs::create_directories(folder.out() / "images/a");
    fs::create_symlink(folder.at("elsewhere/victim"), folder.out() / "images/a/Dockerfile");
    CHECK(refused(write_artifacts(folder.out(), kTwo)).find("is a symbolic link") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.out() / "compose.yaml"));
}

TEST_CASE("a list of files that was tampered with does not reach outside") {
    Folder folder;
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    std::ofstream(folder.at("victim")) << "x\n";
    auto list = folder.read(std::string(kOwnedFile));
    list = text::replace_all(list, "images/a/suite/x.cpp", "images/a/../../../victim");
    std::ofstream(folder.out() / kOwnedFile) << list;
    const auto written = write_artifacts(folder.out(), kTwo);
    CHECK(fs::exists(folder.at("victim")));
    CHECK(written.ok());
    for (const char* content : {"", "[]", "{}", "{\"tool\": \"make\"}", "not JSON"}) {
        CAPTURE(content);
        std::ofstream(folder.out() / kOwnedFile) << content;
        CHECK(refused(write_artifacts(folder.out(), kTwo)).find("was not written by cudamatrix") !=
              std::string::npos);
    }
}

TEST_CASE("without our list the index says which files are ours") {
    Folder folder;
    folder.put("index.json",
               R"({"tool": "cudamatrix", "files": {"images/a/Dockerfile": "00", "index.json": "00"}})");
    folder.put("images/a/Dockerfile", "older\n");
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    CHECK(folder.read("images/a/Dockerfile") == "FROM a\n");
    Folder other;
    other.put("index.json", "somebody's own\n");
    CHECK(refused(write_artifacts(other.out(), kTwo)).find("index.json was not written by cudamatrix") !=
          std::string::npos);
    CHECK(other.read("index.json") == "somebody's own\n");
}
