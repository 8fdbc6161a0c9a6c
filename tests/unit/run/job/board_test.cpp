#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.hpp"
#include "run/job/progress.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

// A screen whose clock stands where it is put, and what was shown on it.
struct Shown {
    double now = 0;
    std::string text;

    Screen lines(bool groups = false) {
        Screen screen;
        screen.line = [this](std::string_view line) { text += std::string(line) + "\n"; };
        screen.groups = groups;
        screen.clock = [this] { return now; };
        return screen;
    }
    Screen terminal(std::size_t columns = 60) {
        Screen screen;
        screen.terminal = [this](std::string_view bytes) { text += text::replace_all(bytes, "\x1b", "^"); };
        screen.columns = columns;
        screen.clock = [this] { return now; };
        return screen;
    }
};

// Two builds one after the other, beside a third.
const std::vector<Node> kThree{{}, {{0}}, {}};

void go_through(Board& board, Shown& shown) {
    board.begin(0, "[build 1/2] a");
    shown.now = 61;
    board.detail(0, "RUN one");
    board.end(0, true, "[build 1/2] a: built in 61 s");
    board.begin(1, "[build 2/2] b");
    board.end(1, false, "[build 2/2] b: FAILED", {"E: no such package", "exit code 100"});
}

}  // namespace

TEST_CASE("board: a line carries minutes and seconds, and nothing that drives a terminal") {
    Shown shown;
    Board board(shown.lines());
    shown.now = 3725;
    board.say("one\x1b[31m");
    CHECK(shown.text == "[62:05] one?[31m\n");
    Board silent({});
    silent.say("nobody listens");
}

TEST_CASE("board: in a pipe each step is a line at its start, its details and its end, with what failed") {
    Shown shown;
    {
        Board board(shown.lines());
        board.expect(kThree, {2}, {1, 1, 1});
        go_through(board, shown);
    }
    CHECK(shown.text ==
          "[ 0:00] [build 1/2] a\n"
          "[ 1:01]   a: RUN one\n"
          "[ 1:01] [build 1/2] a: built in 61 s\n"
          "[ 1:01] [build 2/2] b\n"
          "[ 1:01] [build 2/2] b: FAILED\n"
          "    | E: no such package\n"
          "    | exit code 100\n");
}

TEST_CASE(
    "board: on GitHub what a step says is a group, a failure is an annotation, no output is a command") {
    Shown shown;
    Board board(shown.lines(true));
    go_through(board, shown);
    board.begin(2, "[test 1/1] c");
    board.detail(2, "##[group]open");
    board.detail(2, "::add-mask::x");
    board.end(2, false, "c: 100% ##[error]", {"::stop-commands::x"});
    CHECK(shown.text ==
          "[ 0:00] [build 1/2] a\n"
          "::group::[ 1:01] [build 1/2] a: built in 61 s\n"
          "[ 1:01] RUN one\n"
          "::endgroup::\n"
          "[ 1:01] [build 2/2] b\n"
          "[ 1:01] [build 2/2] b: FAILED\n"
          "    | E: no such package\n"
          "    | exit code 100\n"
          "::error::[build 2/2] b: FAILED\n"
          "[ 1:01] [test 1/1] c\n"
          "::group::[ 1:01] c: 100%25 # #[error]\n"
          "[ 1:01] # #[group]open\n"
          "[ 1:01] ::add-mask::x\n"
          "::endgroup::\n"
          "    | ::stop-commands::x\n"
          "::error::c: 100%25 # #[error]\n");
}

TEST_CASE("board: a terminal shows what runs, the totals and the time that is left, and leaves what ended") {
    Shown shown;
    {
        Board board(shown.terminal());
        board.expect(kThree, {2}, {100, 50, 30});
        board.begin(0, "[build 1/2] a");
        CHECK(shown.text == "\r^[J    0:00  [build 1/2] a\n0 of 3 steps done, 1 running, about 3 min left\n");
        shown.text.clear();
        shown.now = 65;
        board.detail(0, "RUN something that is much longer than the terminal is wide");
        CHECK(shown.text ==
              "^[2A\r^[J    1:05  [build 1/2] a: RUN something that is much long...\n"
              "0 of 3 steps done, 1 running, about 90 s left\n");
        shown.text.clear();
        board.end(0, true, "[build 1/2] a: built in 65 s");
        CHECK(shown.text ==
              "^[2A\r^[J[ 1:05] [build 1/2] a: built in 65 s\n"
              "1 of 3 steps done, 0 running, about 50 s left\n");
        shown.text.clear();
        board.begin(2, "[test 1/1] c");
        board.end(2, false, "[test 1/1] c: 1 failed", {"cmp.vadd fail: wrong"});
        CHECK(shown.text ==
              "^[1A\r^[J    0:00  [test 1/1] c\n1 of 3 steps done, 1 running, about 50 s left\n"
              "^[2A\r^[J[ 1:05] [test 1/1] c: 1 failed\n    | cmp.vadd fail: wrong\n"
              "1 of 3 steps done, 1 failed, 0 running, about 50 s left\n");
        shown.text.clear();
    }
    CHECK(shown.text == "^[1A\r^[J");  // nothing is left of it
}

TEST_CASE("board: where nobody knows how long a step takes no time is told") {
    Shown shown;
    Board board(shown.terminal());
    board.expect(kThree, {2}, {100, -1, 30});
    board.begin(0, "a");
    CHECK(shown.text == "\r^[J    0:00  a\n0 of 3 steps done, 1 running\n");
}

TEST_CASE("board: many running steps do not fill the terminal") {
    Shown shown;
    Board board(shown.terminal());
    for (std::size_t i = 0; i < 30; ++i)
        board.begin(i, fmt::format("step {}", i));
    const auto last = shown.text.substr(shown.text.rfind("^[J"));
    CHECK(std::count(last.begin(), last.end(), '\n') == 13);
    CHECK(last.find("  and 18 more\n") != std::string::npos);
}
