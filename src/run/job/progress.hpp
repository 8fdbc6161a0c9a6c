// What a command tells while it works: lines, and on a terminal what runs just now.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "run/job/schedule.hpp"

namespace cudamatrix::job {

/// Where it is told.
struct Screen {
    Progress line = {};  ///< takes whole lines; empty: nothing is told
    /// Of a terminal: takes bytes as they are, escape sequences among them. Empty: it is none.
    std::function<void(std::string_view)> terminal = {};
    std::size_t columns = 80;            ///< of the terminal
    bool groups = false;                 ///< GitHub's log: what a step says is a group that can be opened
    std::function<double()> clock = {};  ///< seconds since the start; empty: the steady clock, and the
                                         ///< terminal is drawn anew every second
};

/// Lines with their time. Safe from several threads.
class Board {
  public:
    explicit Board(Screen screen);
    ~Board();
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    /// "[ 0:12] line": minutes and seconds since the start. Control characters are replaced.
    void say(std::string_view line);
    [[nodiscard]] double seconds() const;

    /// The steps that are to come, and how long each of them took last time (negative: nobody knows).
    void expect(std::vector<Node> steps, std::vector<unsigned> slots, std::vector<double> seconds);
    /// `what`: "build debian12-cu11.8.0". From here to `end` it is one of the running ones.
    void begin(std::size_t step, std::string_view what);
    /// What it does now: a line in a pipe, on a terminal the end of the step's own line.
    void detail(std::size_t step, std::string_view text);
    /// `text`: what came of it. `tail`: the last lines of its log, told where it failed.
    void end(std::size_t step, bool good, std::string_view text, const std::vector<std::string>& tail = {});

  private:
    struct Running {
        std::size_t step = 0;
        std::string what;
        std::string now;
        double since = 0;
        std::vector<std::string> said = {};  ///< for its group
    };

    [[nodiscard]] std::string stamped(std::string_view line) const;
    [[nodiscard]] std::vector<std::string> live() const;
    [[nodiscard]] std::string totals() const;
    [[nodiscard]] std::string time_left() const;
    Running* running(std::size_t step);
    void tell(const std::vector<std::string>& lines);
    void draw(const std::vector<std::string>& lines);
    void tick();

    Screen screen_;
    mutable std::mutex mutex_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::vector<Running> running_;
    std::vector<Node> steps_;
    std::vector<unsigned> slots_;
    std::vector<double> expected_;  ///< seconds; 0: the step has ended
    std::size_t done_ = 0;
    std::size_t failed_ = 0;
    std::size_t drawn_ = 0;  ///< lines of the terminal that are drawn anew
    std::condition_variable closing_;
    bool closed_ = false;
    std::thread ticker_;
};

}  // namespace cudamatrix::job
