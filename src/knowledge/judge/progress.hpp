// Asks now and then whether long work may go on (private to src/rules).
#pragma once

#include "knowledge/judge/judge.hpp"

namespace cudamatrix::rules {

class Progress {
  public:
    /// `on_progress` is kept by reference; an empty one never says stop.
    explicit Progress(const OnProgress& on_progress) : on_progress_(on_progress) {}

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
        if (!stopped_ && on_progress_) stopped_ = !on_progress_(now_);
        return !stopped_;
    }

    const OnProgress& on_progress_;
    JudgingProgress now_;
    std::uint64_t ticks_ = 0;
    bool stopped_ = false;
};

/// What a judgement that was stopped ends with.
[[nodiscard]] inline Failure interrupted() {
    return Failure{ExitCode::interrupted, {}};
}

}  // namespace cudamatrix::rules
