#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/text.hpp"
#include "out_folder.hpp"
#include "render/output/output_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::test;
namespace fs = std::filesystem;

namespace {

// write_artifacts in a process of its own that a signal ends before its change number `at` of the file
// system. False: it needed fewer and came to its end.
bool killed_at(const fs::path& out, const std::vector<Artifact>& artifacts, bool prune, int at) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        int steps = 0;
        WriteOptions options;
        options.prune = prune;
        options.step = [&] {
            if (++steps != at) return;
            const auto number = std::array{SIGKILL, SIGINT, SIGTERM}[static_cast<std::size_t>(at) % 3];
            std::signal(number, SIG_DFL);
            ::raise(number);
        };
        ::_exit(write_artifacts(out, artifacts, options).ok() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
    return WIFSIGNALED(status);
}

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
    OutFolder folder;
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
    OutFolder folder;
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
    OutFolder folder;
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
    OutFolder folder;
    folder.put("images/a/Dockerfile", "FROM a\n");
    CHECK(write_artifacts(folder.out(), kTwo).ok());
}

TEST_CASE("paths that leave the folder and links on the way are refused before anything is written") {
    OutFolder folder;
    for (const char* path : {"../x", "/etc/x", "a/../../x", "a/./b", "", ".", "a/.."}) {
        CAPTURE(path);
        CHECK(refused(write_artifacts(folder.out(), {kTwo[2], {path, "x"}}))
                  .find("is not inside the output folder") != std::string::npos);
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
    OutFolder folder;
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
    OutFolder folder;
    folder.put("index.json",
               R"({"tool": "cudamatrix", "files": {"images/a/Dockerfile": "00", "index.json": "00"}})");
    folder.put("images/a/Dockerfile", "older\n");
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    CHECK(folder.read("images/a/Dockerfile") == "FROM a\n");
    OutFolder other;
    other.put("index.json", "somebody's own\n");
    CHECK(refused(write_artifacts(other.out(), kTwo)).find("index.json was not written by cudamatrix") !=
          std::string::npos);
    CHECK(other.read("index.json") == "somebody's own\n");
}

TEST_CASE("killed before any change of the file system: after the next command the old tree or the new one") {
    const std::vector<Artifact> newer{
        {"images/a/Dockerfile", "FROM newer\n"}, {"images/a/suite/y.cpp", "y\n"},
        {"images/b/Dockerfile", "FROM b\n"},     {"images/b/deep/er/file", "z\n"},
        {"compose.yaml", "services: {b: {}}\n"}, {"index.json", "{}\n"}};
    std::vector<Artifact> older = kTwo;
    older.push_back({"images/gone/Dockerfile", "FROM gone\n"});
    std::size_t kills = 0, were_old = 0, were_new = 0, mixtures = 0;
    for (const bool first_render : {true, false}) {
        std::map<std::string, std::string> old_tree, new_tree;
        {
            OutFolder folder;
            if (!first_render) REQUIRE(write_artifacts(folder.out(), older).ok());
            old_tree = tree_of(folder.out());
            REQUIRE(write_artifacts(folder.out(), newer, {true, {}}).ok());
            new_tree = tree_of(folder.out());
        }
        for (int at = 1;; ++at) {
            OutFolder folder;
            if (!first_render) REQUIRE(write_artifacts(folder.out(), older).ok());
            if (!killed_at(folder.out(), newer, true, at)) break;
            ++kills;
            // The next command may be killed as well, at any moment, and the one after it.
            if (at % 2 == 0) static_cast<void>(killed_at(folder.out(), newer, true, 1 + at / 2));
            const bool unfinished = at % 2 != 0 && fs::exists(folder.out() / ".cudamatrix-ready");
            REQUIRE(recover_output(folder.out()).ok());
            const auto tree = tree_of(folder.out());
            if (unfinished) CHECK(tree == new_tree);
            were_old += tree == old_tree ? 1 : 0;
            were_new += tree == new_tree ? 1 : 0;
            mixtures += tree != old_tree && tree != new_tree ? 1 : 0;
            REQUIRE(write_artifacts(folder.out(), newer, {true, {}}).ok());
            CHECK(tree_of(folder.out()) == new_tree);
            CHECK_FALSE(fs::exists(folder.out() / "images/gone"));
        }
    }
    MESSAGE(kills << " kills: the old tree " << were_old << " times, the new one " << were_new << " times, "
                  << mixtures << " mixtures");
    CHECK(mixtures == 0);
    CHECK(were_old > 10);
    CHECK(were_new > 10);
}

TEST_CASE("what somebody changed between a kill and the next command is not written over") {
    auto newer = kTwo;
    newer[0].content = "FROM newer\n";
    newer[2].content = "services: {b: {}}\n";
    std::size_t tried = 0;
    for (int at = 1;; ++at) {
        OutFolder folder;
        REQUIRE(write_artifacts(folder.out(), kTwo).ok());
        if (!killed_at(folder.out(), newer, false, at)) break;
        if (!fs::exists(folder.out() / ".cudamatrix-ready/tree/images/a/Dockerfile")) continue;
        ++tried;
        folder.put("images/a/Dockerfile", "by hand\n");
        const auto recovered = recover_output(folder.out());
        REQUIRE_FALSE(recovered.ok());
        CHECK(recovered.failure().diagnostics.front().message ==
              (folder.out() / "images/a/Dockerfile").string() +
                  " was changed while a render that was interrupted had yet to replace it");
        CHECK(folder.read("images/a/Dockerfile") == "by hand\n");
        fs::remove(folder.out() / "images/a/Dockerfile");
        REQUIRE(recover_output(folder.out()).ok());
        CHECK(folder.read("images/a/Dockerfile") == "FROM newer\n");
        CHECK(folder.read("compose.yaml") == "services: {b: {}}\n");
    }
    CHECK(tried > 0);
    OutFolder other;
    other.put(".cudamatrix-ready/journal", "somebody's own\n");
    CHECK(refused(write_artifacts(other.out(), kTwo)) ==
          (other.out() / ".cudamatrix-ready/journal").string() +
              " cannot be read: it was not written by cudamatrix");
}

TEST_CASE("with the last image nothing goes unasked") {
    OutFolder folder;
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    const std::vector<Artifact> none{{"index.json", "{}\n"}};
    const auto written = write_artifacts(folder.out(), none);
    REQUIRE(written.ok());
    CHECK(written->removed == 0);
    CHECK(written->orphans.size() == kTwo.size() - 1);
    CHECK(folder.read("compose.yaml") == "services: {}\n");
    REQUIRE(write_artifacts(folder.out(), none, {true, {}}).ok());
    CHECK_FALSE(fs::exists(folder.out() / "compose.yaml"));
    CHECK_FALSE(fs::exists(folder.out() / "images"));
}

TEST_CASE("orphans go when asked to, with their folders, and nothing else") {
    OutFolder folder;
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    folder.put("images/a/notes.txt", "mine\n");
    const std::vector<Artifact> other{{"images/b/Dockerfile", "FROM c\n"}, kTwo[2], kTwo[3]};
    folder.put("images/a/suite/x.cpp", "edited by hand\n");
    CHECK(refused(write_artifacts(folder.out(), other, {true, {}})) ==
          (folder.out() / "images/a/suite/x.cpp").string() +
              " is no longer rendered, but it was changed by hand");
    CHECK(folder.read("images/a/Dockerfile") == "FROM a\n");
    folder.put("images/a/suite/x.cpp", "x\n");
    const auto written = write_artifacts(folder.out(), other, {true, {}});
    REQUIRE(written.ok());
    CHECK(written->removed == 2);
    CHECK(written->orphans.empty());
    CHECK_FALSE(fs::exists(folder.out() / "images/a/suite"));
    CHECK(folder.read("images/a/notes.txt") == "mine\n");
    CHECK(write_artifacts(folder.out(), other, {true, {}})->removed == 0);
}

TEST_CASE("comparing says what differs and writes nothing") {
    OutFolder folder;
    const auto seen = [&](const std::vector<Artifact>& artifacts) {
        const auto drift = compare_artifacts(folder.out(), artifacts);
        REQUIRE(drift.ok());
        std::string all;
        for (const auto& one : *drift) {
            all += fmt::format("{} {} {}->{}\n", to_string(one.kind), one.path,
                               text::replace_all(one.before, "\n", "$"),
                               text::replace_all(one.after, "\n", "$"));
        }
        return all;
    };
    CHECK(seen({kTwo[0], kTwo[2]}) ==
          "missing compose.yaml ->services: {}$\n"
          "missing images/a/Dockerfile ->FROM a$\n");
    CHECK_FALSE(fs::exists(folder.out()));
    auto older = kTwo;
    older.push_back({"images/gone/Dockerfile", "FROM gone\n"});
    older.push_back({"images/gone/requirements.txt", "a==1\n"});
    REQUIRE(write_artifacts(folder.out(), older).ok());
    CHECK(seen(older).empty());
    folder.put("compose.yaml", "mine: {}\n");
    folder.put("images/gone/requirements.txt", "by hand\n");
    folder.put("images/b/Dockerfile", "theirs\n");
    fs::remove(folder.out() / "index.json");
    const std::vector<Artifact> wanted{
        {"images/a/Dockerfile", "FROM a\n"}, {"images/b/Dockerfile", "FROM b\n"}, kTwo[2], kTwo[3]};
    const auto before = tree_of(folder.out());
    CHECK(seen(wanted) ==
          "changed compose.yaml mine: {}$->services: {}$\n"
          "stale images/a/suite/x.cpp x$->\n"
          "foreign images/b/Dockerfile theirs$->FROM b$\n"
          "orphan images/gone/Dockerfile FROM gone$->\n"
          "edited images/gone/requirements.txt by hand$->\n"
          "missing index.json ->{}$\n");
    CHECK(tree_of(folder.out()) == before);
    fs::create_directories(folder.out() / ".cudamatrix-ready/tree");
    CHECK(seen(wanted).ends_with("unfinished . ->\n"));
    fs::remove(folder.out() / "compose.yaml");
    fs::create_directories(folder.out() / "compose.yaml");
    CHECK(seen(wanted).starts_with("foreign compose.yaml ->services: {}$\n"));
}

TEST_CASE("where nothing differs, nothing at all is written") {
    OutFolder folder;
    REQUIRE(write_artifacts(folder.out(), kTwo).ok());
    const auto times = [&] {
        std::map<std::string, fs::file_time_type> all{{".", fs::last_write_time(folder.out())}};
        for (const auto& entry : fs::recursive_directory_iterator(folder.out()))
            all[entry.path().string()] = fs::last_write_time(entry.path());
        return all;
    };
    const auto before = times();
    int steps = 0;
    REQUIRE(write_artifacts(folder.out(), kTwo, {true, [&] { ++steps; }}).ok());
    CHECK(steps == 0);
    CHECK(times() == before);
}

TEST_CASE("a file where a folder has to be is refused before anything is written") {
    OutFolder folder;
    folder.put("images", "a file\n");
    CHECK(refused(write_artifacts(folder.out(), kTwo)) ==
          "cannot write " + (folder.out() / "images/a/Dockerfile").string() + ": " +
              (folder.out() / "images").string() + " is no directory");
    CHECK_FALSE(fs::exists(folder.out() / "compose.yaml"));
}
