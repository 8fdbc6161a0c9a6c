// Asks now and then whether long work may go on (private to src/rules).
#pragma once

#include "knowledge/judge/judge.hpp"

namespace cudamatrix::rules {

class Going {
  public:
    /// `go_on` is kept by reference; an empty one never says stop.
    explicit Going(const GoOn& go_on) : go_on_(go_on) {}

    void begin(std::string_view step, std::size_t all) { now_ = {step, 0, all}; }
    /// One of the step's parts is done. False: stop.
    bool next() {
        ++now_.done;
        return ask();
    }
    /// A small piece of work: not every one asks. False: stop.
    bool tick() { return ++ticks_ % kTicks == 0 ? ask() : !stopped_; }
    [[nodiscard]] bool stopped() const { return stopped_; }

  private:
    static constexpr std::uint64_t kTicks = 1024;

    bool ask() {
        if (!stopped_ && go_on_) stopped_ = !go_on_(now_);
        return !stopped_;
    }

    const GoOn& go_on_;
    JudgingProgress now_;
    std::uint64_t ticks_ = 0;
    bool stopped_ = false;
};

/// What a judgement that was stopped ends with.
[[nodiscard]] inline Failure interrupted() {
    return Failure{ExitCode::interrupted, {}};
}

}  // namespace cudamatrix::rules
