#include "base/file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/text.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& path) {
    const auto content = file::read(path, 1u << 24);
    REQUIRE(content.ok());
    return content.value();
}

template <class T>
std::string message(const Result<T>& result) {
    REQUIRE_FALSE(result.ok());
    return result.failure().diagnostics.at(0).message;
}

}  // namespace

TEST_CASE("read: the whole file, every byte") {
    const test::TempFolder folder;
    const std::string bytes("a\0b\xff\r\n", 6);
    folder.put("f", bytes);
    CHECK(content_of(folder / "f") == bytes);
    folder.put("empty", "");
    CHECK(content_of(folder / "empty").empty());
}

TEST_CASE("read: what is no readable regular file is bad input, and says why") {
    const test::TempFolder folder;
    fs::create_directory(folder / "dir");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    fs::create_symlink("loop", folder / "loop");
    const auto why = [&](const fs::path& path) {
        return text::replace_all(message(file::read(path, 10)), folder.path().string() + "/", "");
    };
    CHECK(why(folder / "none") == "cannot read none: No such file or directory");
    CHECK(why(folder / "dir") == "cannot read dir: it is a directory");
    CHECK(why(folder / "fifo") == "cannot read fifo: it is not a regular file");
    CHECK(why("/dev/zero") == "cannot read /dev/zero: it is not a regular file");
    CHECK(why(folder / "loop").find("Too many levels") != std::string::npos);
    CHECK(why("").find("No such file") != std::string::npos);
    CHECK(why(folder / "\x1b[31m").find('\x1b') == std::string::npos);
    CHECK(file::read(folder / "none", 10).failure().code == ExitCode::bad_input);
}

TEST_CASE("read: a link to a file is the file; the limit is a limit of bytes") {
    const test::TempFolder folder;
    folder.put("f", "12345");
    fs::create_symlink("f", folder / "link");
    CHECK(content_of(folder / "link") == "12345");
    CHECK(file::read(folder / "f", 5).ok());
    CHECK(message(file::read(folder / "f", 4)) == (folder / "f").string() + " is larger than 4 B");
    CHECK_FALSE(file::read(folder / "f", 0).ok());
}

TEST_CASE("write: new, changed, unchanged") {
    const test::TempFolder folder;
    const auto path = folder / "f";
    auto first = file::write(path, "one");
    REQUIRE(first.ok());
    CHECK(first.value());
    struct stat before {
    }, after{};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    auto again = file::write(path, "one");
    REQUIRE(again.ok());
    CHECK_FALSE(again.value());
    REQUIRE(::stat(path.c_str(), &after) == 0);
    CHECK(before.st_ino == after.st_ino);  // untouched
    auto shorter = file::write(path, "");
    REQUIRE(shorter.ok());
    CHECK(shorter.value());
    CHECK(content_of(path).empty());
    CHECK((after.st_mode & 0777) == 0644);
    CHECK(folder.entries() == 1);  // nothing is left beside it
}

TEST_CASE("write: a reader that has the old file open keeps the old content whole") {
    const test::TempFolder folder;
    REQUIRE(file::write(folder / "f", std::string(100'000, 'a')).ok());
    std::ifstream reader(folder / "f", std::ios::binary);
    char head = 0;
    reader.get(head);
    REQUIRE(file::write(folder / "f", std::string(100'000, 'b')).ok());
    const std::string rest((std::istreambuf_iterator<char>(reader)), {});
    CHECK(rest == std::string(99'999, 'a'));
    CHECK(content_of(folder / "f") == std::string(100'000, 'b'));
}

TEST_CASE("write: links, folders and missing folders are refused, and nothing is left behind") {
    const test::TempFolder folder;
    folder.put("target", "mine");
    fs::create_symlink("target", folder / "link");
    fs::create_symlink("nowhere", folder / "dangling");
    fs::create_directory(folder / "dir");
    const auto entries = folder.entries();
    for (const auto* name : {"link", "dangling", "dir"}) {
        const auto result = file::write(folder / name, "x");
        CHECK(message(result) ==
              "cannot write " + (folder / name).string() + ": it exists and is not a regular file");
        CHECK(result.failure().code == ExitCode::environment);
    }
    CHECK(message(file::write(folder / "none/f", "x")).find("No such file or directory") !=
          std::string::npos);
    CHECK(message(file::write(folder / "target/f", "x")).find("Not a directory") != std::string::npos);
    CHECK_FALSE(file::write("", "x").ok());
    CHECK_FALSE(file::write(folder / std::string(300, 'n'), "x").ok());
    CHECK(content_of(folder / "target") == "mine");
    CHECK(folder.entries() == entries);
}

TEST_CASE("write: no space is a failure that leaves no file") {
    // A limit on the size of files stands for a full disk: the write ends in EFBIG half way.
    const test::TempFolder folder;
    REQUIRE(file::write(folder / "f", "old").ok());
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto result = file::write(folder / "f", std::string(100'000, 'x'));
        ::_exit(!result.ok() && result.failure().code == ExitCode::environment ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(content_of(folder / "f") == "old");
    CHECK(folder.entries() == 1);
}

TEST_CASE("make_directories: parents too, twice, but not over a file") {
    const test::TempFolder folder;
    CHECK(file::make_directories(folder / "a/b/c").ok());
    CHECK(file::make_directories(folder / "a/b/c").ok());
    CHECK(fs::is_directory(folder / "a/b/c"));
    folder.put("f", "x");
    CHECK_FALSE(file::make_directories(folder / "f").ok());
    const auto below = file::make_directories(folder / "f/g");
    CHECK(message(below).starts_with("cannot create the directory " + (folder / "f/g").string() + ": "));
    CHECK(below.failure().code == ExitCode::environment);
    CHECK_FALSE(file::make_directories("").ok());
}

TEST_CASE("free_bytes: of a path that is not there yet, of its nearest parent") {
    const test::TempFolder folder;
    const auto here = file::free_bytes(folder.path());
    REQUIRE(here.ok());
    CHECK(here.value() > 0);
    CHECK(file::free_bytes(folder / "not/yet/there").ok());
    CHECK(file::free_bytes("relative/and/missing").ok());
    CHECK(file::free_bytes("/").ok());
}

TEST_CASE("link_or_copy: the same content, also over an old file and onto itself") {
    const test::TempFolder folder;
    folder.put("from", "new");
    folder.put("to", "old");
    REQUIRE(file::link_or_copy(folder / "from", folder / "to").ok());
    CHECK(content_of(folder / "to") == "new");
    REQUIRE(file::link_or_copy(folder / "from", folder / "to").ok());
    REQUIRE(file::link_or_copy(folder / "from", folder / "from").ok());
    CHECK(content_of(folder / "from") == "new");
    // Across file systems a copy is made.
    if (fs::exists("/dev/shm")) {
        const auto other = fs::path("/dev/shm") / folder.path().filename();
        REQUIRE(file::link_or_copy(folder / "from", other).ok());
        CHECK(content_of(other) == "new");
        fs::remove(other);
    }
}

TEST_CASE("link_or_copy: a source that is missing or a folder is refused, and the target stays") {
    const test::TempFolder folder;
    folder.put("to", "old");
    fs::create_directory(folder / "dir");
    folder.put("dir/x", "x");
    CHECK_FALSE(file::link_or_copy(folder / "none", folder / "to").ok());
    CHECK(content_of(folder / "to") == "old");
    CHECK_FALSE(file::link_or_copy(folder / "dir", folder / "to").ok());
    CHECK_FALSE(file::link_or_copy(folder / "to", folder / "no/such/folder").ok());
    CHECK_FALSE(file::link_or_copy(folder / "to", folder / "dir").ok());
    CHECK(content_of(folder / "dir/x") == "x");
    CHECK(folder.entries() == 2);  // nothing is left beside the target
}
