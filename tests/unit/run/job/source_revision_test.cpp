// The commit of what an image is made from, asked of a real git.
#include "run/job/source_revision.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/text.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;
namespace fs = std::filesystem;

namespace {

Environment this_environment() {
    Environment environment;
    for (const char* name : {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
        if (const char* value = std::getenv(name)) environment[name] = value;
    }
    return environment;
}

// A folder that is no repository yet, and belongs to none.
class Repository : public test::TempFolder {
  public:
    Repository() {
        environment_["GIT_CEILING_DIRECTORIES"] = path().parent_path().string();
        environment_["GIT_CONFIG_GLOBAL"] = "/dev/null";
        environment_["GIT_CONFIG_SYSTEM"] = "/dev/null";
        for (const auto* file : {"matrix.yaml", "cudamatrix.lock", "app/train.py", "notes.txt"})
            write(file, "first");
    }
    void write(const std::string& name, const std::string& content) const {
        put("gpu images/" + name, content);
    }
    std::string git(std::vector<std::string> words) const {
        words.insert(words.begin(), {"git", "-C", path().string(), "-c", "user.name=test", "-c",
                                     "user.email=test@example.org"});
        Command command;
        command.argv = std::move(words);
        command.environment = environment_;
        const auto done = run(command);
        REQUIRE(done.ok());
        REQUIRE_MESSAGE(done->success(), done->err);
        return std::string(text::trim(done->out));
    }
    void commit() const {
        git({"add", "--all"});
        git({"commit", "--quiet", "--message", "state"});
    }
    [[nodiscard]] SourceRevision ask() const {
        return source_revision(path() / "gpu images", {"matrix.yaml", "cudamatrix.lock", "app"}, environment_,
                               nullptr);
    }
    [[nodiscard]] std::string why_none() const {
        const auto found = ask();
        CHECK(found.id.empty());
        return found.why_none;
    }
    Environment& environment() { return environment_; }

  private:
    Environment environment_ = this_environment();
};

}  // namespace

TEST_CASE("source revision: the commit, and whether what images are made from is as it has it") {
    const Repository project;
    project.git({"init", "--quiet"});
    project.commit();
    const auto head = project.git({"rev-parse", "HEAD"});
    CHECK(project.ask().id == head);
    CHECK(project.ask().why_none.empty());

    SUBCASE("another file has changed") {
        project.write("notes.txt", "second");
        project.write("new.txt", "of nobody");
        CHECK(project.ask().id == head);
    }
    SUBCASE("the matrix file has changed, and is committed again") {
        project.write("matrix.yaml", "second");
        CHECK(project.ask().id == head + "-dirty");
        project.commit();
        CHECK(project.ask().id == project.git({"rev-parse", "HEAD"}));
        CHECK(project.ask().id != head);
    }
    SUBCASE("the lock has changed") {
        project.write("cudamatrix.lock", "second");
        CHECK(project.ask().id == head + "-dirty");
    }
    SUBCASE("what is copied has changed in the index only") {
        project.write("app/train.py", "second");
        project.git({"add", "--all"});
        CHECK(project.ask().id == head + "-dirty");
    }
    SUBCASE("what is copied has a file that git does not know") {
        project.write("app/new.py", "");
        CHECK(project.ask().id == head + "-dirty");
    }
}

TEST_CASE("source revision: none, with the reason") {
    Repository project;
    SUBCASE("no repository") {
        CHECK(project.why_none() ==
              "git: fatal: not a git repository (or any of the parent directories): .git");
    }
    SUBCASE("a matrix file that is in no commit") {
        project.git({"init", "--quiet"});
        CHECK(project.why_none() == "git does not know the matrix file");
    }
    SUBCASE("a repository without a commit") {
        project.git({"init", "--quiet"});
        project.git({"add", "--all"});
        CHECK(project.why_none() == "git: there is no commit yet");
    }
    SUBCASE("no git") {
        project.environment()["PATH"] = "/nonexistent";
        CHECK(project.why_none() == "there is no git on PATH");
    }
}

TEST_CASE("source revision: nothing that the repository names is run") {
    const Repository project;
    project.git({"init", "--quiet"});
    project.commit();
    const auto trap = fs::temp_directory_path() / fmt::format("cudamatrix-trap-{}", ::getpid());
    fs::remove(trap);
    project.git({"config", "core.fsmonitor", "touch " + trap.string()});
    CHECK_FALSE(project.ask().id.empty());
    CHECK_FALSE(fs::exists(trap));
}
