// What images: copies is found, hashed and staged; what could lead elsewhere is refused.
#include "run/job/folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/text.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;
namespace fs = std::filesystem;

namespace {

class Project : public test::TempFolder {
  public:
    Project() {
        put("app/a.py", "a");
        put("app/sub/b.py", "b");
        matrix.path = (path() / "matrix.yaml").string();
    }
    [[nodiscard]] fs::path at(const std::string& name) const { return path() / name; }
    [[nodiscard]] Result<Copies> find(const std::vector<std::string>& from) const {
        Image image;
        for (const auto& each : from)
            image.copy.push_back({each, "/x", {"matrix.yaml", 7, 9, 3}});
        return find_copies(matrix, image, path() / "out");
    }
    [[nodiscard]] std::string hash() const {
        const auto found = find({"app"});
        REQUIRE(found.ok());
        return found->hash;
    }
    // The message, and the fix behind a '|'.
    [[nodiscard]] std::string refusal(const std::vector<std::string>& from) const {
        const auto found = find(from);
        REQUIRE_FALSE(found.ok());
        CHECK(found.failure().code == ExitCode::bad_input);
        const auto& diagnostic = found.failure().diagnostics.front();
        CHECK(diagnostic.where.line == 7);
        return text::replace_all(diagnostic.message, path().string(), "ROOT") + " | " + diagnostic.fix;
    }

    Matrix matrix;

  private:
};

std::string names(const Copies& copies) {
    std::string out;
    for (const auto& file : copies.files)
        out += file.to.generic_string() + " ";
    return out;
}

std::string content(const fs::path& path) {
    return test::bytes_of(path);
}

}  // namespace

TEST_CASE("files and folders are found, each file once") {
    const Project project;
    const auto none = project.find({});
    REQUIRE(none.ok());
    CHECK(none->files.empty());
    CHECK(none->hash.empty());
    const auto found = project.find({"app/sub", "app", "app/a.py"});
    REQUIRE(found.ok());
    CHECK(names(*found) == "copy/app/a.py copy/app/sub/b.py ");
}

TEST_CASE("the hash is of names, contents and modes, and of nothing else") {
    const Project project;
    const auto first = project.hash();
    CHECK(first.size() == 64);
    fs::last_write_time(project.at("app/a.py"), fs::file_time_type::clock::now() - std::chrono::hours(5));
    CHECK(project.hash() == first);
    project.put("app/a.py", "A");
    const auto changed = project.hash();
    CHECK(changed != first);
    project.put("app/a.py", "a");
    CHECK(project.hash() == first);
    fs::permissions(project.at("app/a.py"), fs::perms::owner_exec, fs::perm_options::add);
    CHECK(project.hash() != first);
    fs::permissions(project.at("app/a.py"), fs::perms::owner_exec, fs::perm_options::remove);
    fs::rename(project.at("app/a.py"), project.at("app/c.py"));
    CHECK(project.hash() != first);
}

TEST_CASE("what is not there, is no file or leads elsewhere is refused at its place") {
    const Project project;
    CHECK(project.refusal({"lib"}) ==
          "copy: lib: no such file or folder next to ROOT/matrix.yaml | create it, or correct the name");
    fs::create_directories(project.at("empty/inner"));
    CHECK(project.refusal({"empty"}) == "copy: empty: it contains no files | delete the entry of copy");
    fs::create_symlink("/etc", project.at("link"));
    CHECK(project.refusal({"link"}) == "copy: link: ROOT/link is a symbolic link | name what it leads to");
    CHECK(project.refusal({"link/passwd"}) ==
          "copy: link/passwd: ROOT/link is a symbolic link | name what it leads to");
    fs::create_symlink("/etc/passwd", project.at("app/sub/passwd"));
    CHECK(project.refusal({"app"}) ==
          "copy: app: sub/passwd in it is a symbolic link | copy what it leads to");
    fs::remove(project.at("app/sub/passwd"));
    fs::create_directory_symlink("/etc", project.at("app/etc"));
    CHECK(project.refusal({"app"}) == "copy: app: etc in it is a symbolic link | copy what it leads to");
    fs::remove(project.at("app/etc"));
    REQUIRE(::mkfifo(project.at("app/pipe").c_str(), 0600) == 0);
    CHECK(project.refusal({"app"}) == "copy: app: pipe in it is neither a file nor a folder | ");
    CHECK(project.refusal({"app/pipe"}) == "copy: app/pipe: it is neither a file nor a folder | ");
}

TEST_CASE("a folder that holds the output is refused: it would copy itself") {
    const Project project;
    fs::create_directories(project.at("app/out"));
    Image image;
    image.copy.push_back({"app", "/x", {"matrix.yaml", 7, 9, 3}});
    for (const char* out : {"app/out", "app", "app/new/deep"}) {
        const auto found = find_copies(project.matrix, image, project.at(out));
        REQUIRE_FALSE(found.ok());
        CHECK(found.failure().diagnostics.front().message ==
              fmt::format("copy: app: it contains the output folder {}", project.at(out).string()));
    }
    CHECK(find_copies(project.matrix, image, project.at("application")).ok());
}

TEST_CASE("staging replaces what an earlier build put there, and nothing else") {
    const Project project;
    fs::create_directories(project.at("out/images/x"));
    const auto context = project.at("out/images/x");
    const auto found = project.find({"app"});
    REQUIRE(found.ok());
    REQUIRE(stage_copies(*found, context).ok());
    CHECK(content(context / "copy/app/sub/b.py") == "b");
    fs::remove(project.at("app/a.py"));
    const auto fewer = project.find({"app"});
    REQUIRE(fewer.ok());
    REQUIRE(stage_copies(*fewer, context).ok());
    CHECK_FALSE(fs::exists(context / "copy/app/a.py"));
    CHECK(fs::exists(context / "copy/app/sub/b.py"));
    REQUIRE(stage_copies(Copies{}, context).ok());
    CHECK_FALSE(fs::exists(context / "copy"));
    CHECK(content(project.at("app/sub/b.py")) == "b");

    fs::create_directories(context / "copy");
    std::ofstream(context / "copy/mine") << "mine";
    for (const auto& copies : {*fewer, Copies{}}) {
        const auto refused = stage_copies(copies, context);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == ExitCode::environment);
        CHECK(refused.failure().diagnostics.front().message ==
              (context / "copy").string() + " is there already, and no build of cudamatrix made it");
    }
    CHECK(content(context / "copy/mine") == "mine");

    // What a full disk left of the folder is no reason to refuse.
    fs::remove(context / "copy/mine");
    REQUIRE(stage_copies(*fewer, context).ok());
    fs::remove_all(context / "copy");
    fs::create_directories(context / "copy");
    std::ofstream(context / "copy/.made-by-cudamatrix.a1B2c3") << "cuda";
    REQUIRE(stage_copies(*fewer, context).ok());
    CHECK(fs::exists(context / "copy/app/sub/b.py"));
    CHECK_FALSE(fs::exists(context / "copy/.made-by-cudamatrix.a1B2c3"));
}
