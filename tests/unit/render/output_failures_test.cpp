// Each rename of a change of the output folder fails in turn, and so does each that takes the change back.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>

#include "base/text.hpp"
#include "out_folder.hpp"
#include "render/output/output_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::test;
namespace fs = std::filesystem;

namespace {

using Tree = std::map<std::string, std::string>;

// Which of the renames of this process fail, by their number from 1, and with what.
struct Faults {
    std::function<bool(int)> fails;
    int error = EIO;
    int renames = 0;
};
Faults faults;

}  // namespace

// In the place of the C library's, for this program as a whole.
extern "C" int rename(const char* from, const char* to) noexcept {
    if (faults.fails && faults.fails(++faults.renames)) {
        errno = faults.error;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace {

const std::vector<Artifact> kOlder{{"compose.yaml", "services: {}\n"},
                                   {"images/a/Dockerfile", "FROM a\n"},
                                   {"images/a/suite/x.cpp", "x\n"},
                                   {"images/gone/Dockerfile", "FROM gone\n"},
                                   {"index.json", "{}\n"}};
// Files are replaced, added, left and removed; images/b is a whole folder that is new.
const std::vector<Artifact> kNewer{
    {"compose.yaml", "services: {b: {}}\n"}, {"images/a/Dockerfile", "FROM newer\n"},
    {"images/a/suite/y.cpp", "y\n"},         {"images/b/Dockerfile", "FROM b\n"},
    {"images/b/deep/er/file", "z\n"},        {"index.json", "{}\n"}};

Result<Written> render_anew(const fs::path& out, std::function<bool(int)> fails, int error = EIO,
                            const Step& step = {}) {
    faults = {std::move(fails), error, 0};
    auto written = write_artifacts(out, kNewer, {true, step});
    faults.fails = nullptr;
    return written;
}

struct Trees {
    Tree older, newer;
    int renames = 0;  // that a change which nothing stops needs
};

Trees trees() {
    Trees all;
    OutFolder folder;
    REQUIRE(write_artifacts(folder.out(), kOlder).ok());
    all.older = tree_of(folder.out());
    REQUIRE(render_anew(folder.out(), [](int) { return false; }).ok());
    all.renames = faults.renames;
    all.newer = tree_of(folder.out());
    return all;
}

Tree without_ours(Tree tree) {
    std::erase_if(tree, [](const auto& each) { return each.first.starts_with(".cudamatrix-ready/"); });
    return tree;
}

std::string content_of(const Tree& tree, const std::string& path) {
    const auto found = tree.find(path);
    return found == tree.end() ? "(nothing)" : found->second;
}

// What a note says of a path has to be so; what no note names has to be as it was.
void check_notes(const fs::path& out, const std::vector<std::string>& notes, const Trees& all) {
    auto left = tree_of(out);
    const auto prefix = out.string() + "/";
    Tree expected = all.older;
    for (const auto& note : notes) {
        CAPTURE(note);
        REQUIRE(note.starts_with(prefix));
        const auto path = note.substr(prefix.size(), note.find(' ') - prefix.size());
        const auto said = note.substr(prefix.size() + path.size());
        const auto kept = ".cudamatrix-ready/old/" + path;
        const auto kept_said = "; the old one is " + prefix + kept;
        if (said == " is new and was not taken away") {
            for (const auto& [name, content] : all.newer) {
                if (name == path || name.starts_with(path + "/")) expected[name] = content;
            }
            continue;
        }
        CHECK(content_of(left, kept) == content_of(all.older, path));
        if (said == " is the new one" + kept_said) {
            expected[path] = content_of(all.newer, path);
        } else {
            CHECK(said == " is gone" + kept_said);
            expected.erase(path);
        }
    }
    CHECK(without_ours(left) == expected);
}

}  // namespace

TEST_CASE("a rename that fails leaves the old tree, whichever it is and whatever the reason") {
    const auto all = trees();
    CHECK(all.renames > 10);
    for (const int error : {EIO, EACCES, EXDEV, ENOSPC}) {
        const auto reason = std::generic_category().message(error);
        for (int at = 1; at <= all.renames; ++at) {
            CAPTURE(at);
            OutFolder folder;
            REQUIRE(write_artifacts(folder.out(), kOlder).ok());
            const auto written = render_anew(
                folder.out(), [at](int number) { return number == at; }, error);
            REQUIRE_FALSE(written.ok());
            CHECK(written.failure().code == ExitCode::environment);
            REQUIRE(written.failure().diagnostics.size() == 1);
            const auto& said = written.failure().diagnostics.front();
            CHECK(said.message.ends_with(": " + reason));
            CHECK(said.notes == std::vector{folder.out().string() + " is as it was before"});
            CHECK(tree_of(folder.out()) == all.older);
            REQUIRE(write_artifacts(folder.out(), kNewer, {true, {}}).ok());
            CHECK(tree_of(folder.out()) == all.newer);
        }
    }
}

TEST_CASE("a first render that fails leaves nothing") {
    int at = 0;
    for (bool failed = true; failed;) {
        OutFolder folder;
        ++at;
        failed = !render_anew(folder.out(), [at](int number) { return number == at; }).ok();
        if (failed) CHECK(tree_of(folder.out()).empty());
    }
    CHECK(at > 4);
}

TEST_CASE("what is said where a rename fails") {
    OutFolder folder;
    REQUIRE(write_artifacts(folder.out(), kOlder).ok());
    const auto out = folder.out().string();
    // By what it moves, so that the order in which a folder lists its files does not matter.
    const auto said_with = [&](int first, int last) {
        const auto written = render_anew(
            folder.out(), [=](int number) { return number >= first && number <= last; }, EACCES);
        REQUIRE_FALSE(written.ok());
        return render(written.failure().diagnostics.front(), {});
    };
    const auto all = trees();
    CHECK(said_with(1, 1) == "cudamatrix: error: cannot put " + out + "/.cudamatrix-files at " + out +
                                 "/.cudamatrix-stage/old/.cudamatrix-files: Permission denied\n  note: " +
                                 out + " is as it was before\n");
    CHECK(said_with(all.renames, all.renames) ==
          "cudamatrix: error: cannot remove " + out +
              "/.cudamatrix-ready: Permission denied\n  note: " + out +
              " is as it was before\n  fix: make it possible to write there, then run the command again\n");
    // The last one of the change, and the one that would end its taking back.
    const int back = [&] {
        OutFolder other;
        REQUIRE(write_artifacts(other.out(), kOlder).ok());
        static_cast<void>(render_anew(other.out(), [&](int number) { return number == all.renames; }));
        return faults.renames;
    }();
    const auto written = render_anew(
        folder.out(), [&](int number) { return number == all.renames || number == back; }, EACCES);
    REQUIRE_FALSE(written.ok());
    CHECK(render(written.failure().diagnostics.front(), {}) ==
          "cudamatrix: error: cannot remove " + out + "/.cudamatrix-ready: Permission denied\n  note: " +
              out + " is as it was before\n  note: " + out +
              "/.cudamatrix-ready holds the change still: the next command makes it\n"
              "  fix: make it possible to write there, then run the command again\n");
    CHECK(without_ours(tree_of(folder.out())) == all.older);
    REQUIRE(recover_output(folder.out()).ok());
    CHECK(tree_of(folder.out()) == all.newer);
}

TEST_CASE(
    "where taking back fails, too, it is said what is not in its place, and the next command finishes") {
    const auto all = trees();
    std::size_t mixed = 0, pairs = 0;
    for (int first = 1; first <= all.renames; ++first) {
        for (int second = first + 1;; ++second) {
            OutFolder folder;
            REQUIRE(write_artifacts(folder.out(), kOlder).ok());
            const auto written =
                render_anew(folder.out(), [=](int number) { return number == first || number == second; });
            REQUIRE_FALSE(written.ok());
            if (faults.renames < second) break;  // nothing was left to fail
            CAPTURE(first);
            CAPTURE(second);
            ++pairs;
            const auto& said = written.failure().diagnostics.front();
            if (said.notes.front() != folder.out().string() + " is as it was before") {
                ++mixed;
                CHECK(said.message.find(" could not be taken back") != std::string::npos);
                CHECK(said.fix ==
                      "make it possible to write there, then run the command again: it finishes the "
                      "change");
                check_notes(folder.out(), said.notes, all);
                CHECK(StagedTree::is_unfinished(folder.out()));
                REQUIRE(recover_output(folder.out()).ok());
                CHECK(tree_of(folder.out()) == all.newer);
            } else {
                CHECK(without_ours(tree_of(folder.out())) == all.older);
            }
            REQUIRE(write_artifacts(folder.out(), kNewer, {true, {}}).ok());
            CHECK(tree_of(folder.out()) == all.newer);
        }
    }
    MESSAGE(pairs << " pairs, " << mixed << " of them leave a mixed tree");
    CHECK(mixed > 20);
}

TEST_CASE("where every rename fails from some moment on, all that is not in its place is named") {
    const auto all = trees();
    for (int first = 1; first <= all.renames; ++first) {
        CAPTURE(first);
        OutFolder folder;
        REQUIRE(write_artifacts(folder.out(), kOlder).ok());
        const auto written = render_anew(folder.out(), [first](int number) { return number >= first; });
        REQUIRE_FALSE(written.ok());
        const auto& notes = written.failure().diagnostics.front().notes;
        if (notes.front() != folder.out().string() + " is as it was before")
            check_notes(folder.out(), notes, all);
        // Nor can the next command finish it, until renames work again.
        const auto again = render_anew(folder.out(), [](int) { return true; });
        REQUIRE_FALSE(again.ok());
        REQUIRE(write_artifacts(folder.out(), kNewer, {true, {}}).ok());
        CHECK(tree_of(folder.out()) == all.newer);
    }
}

TEST_CASE("killed while a change is taken back: after the next command the old tree or the new one") {
    const auto all = trees();
    std::size_t were_old = 0, were_new = 0;
    for (int fails = 1; fails <= all.renames; ++fails) {
        for (int at = 1;; ++at) {
            OutFolder folder;
            REQUIRE(write_artifacts(folder.out(), kOlder).ok());
            const auto child = ::fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                int after = 0;  // steps since the failure
                static_cast<void>(render_anew(
                    folder.out(), [=](int number) { return number == fails; }, EIO,
                    [&] {
                        if (faults.renames >= fails && ++after == at) ::raise(SIGKILL);
                    }));
                ::_exit(0);
            }
            int status = 0;
            REQUIRE(::waitpid(child, &status, 0) == child);
            if (!WIFSIGNALED(status)) break;
            REQUIRE(recover_output(folder.out()).ok());
            const auto tree = tree_of(folder.out());
            were_old += tree == all.older ? 1 : 0;
            were_new += tree == all.newer ? 1 : 0;
            CHECK((tree == all.older || tree == all.newer));
        }
    }
    MESSAGE("the old tree " << were_old << " times, the new one " << were_new << " times");
    CHECK(were_new > 20);
}

TEST_CASE("a killed render that the next command cannot finish is told") {
    OutFolder folder;
    REQUIRE(write_artifacts(folder.out(), kOlder).ok());
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const Step step = [&] {
            if (StagedTree::is_unfinished(folder.out())) ::raise(SIGKILL);
        };
        static_cast<void>(write_artifacts(folder.out(), kNewer, {true, step}));
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    const auto again = render_anew(folder.out(), [](int number) { return number == 2; });
    REQUIRE_FALSE(again.ok());
    const auto& said = again.failure().diagnostics.front();
    CHECK(said.notes == std::vector{folder.out().string() +
                                    " is what an interrupted command left: some files old, others new"});
    CHECK(said.fix == "make it possible to write there, then run the command again: it goes on");
    REQUIRE(recover_output(folder.out()).ok());
    CHECK(tree_of(folder.out()) == trees().newer);
}
