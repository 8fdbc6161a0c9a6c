// Progress lines: when, which step, how many of how many. From several threads at once.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace cudamatrix::job {

class Ticker {
  public:
    explicit Ticker(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}

    /// "[ 0:12] line": minutes and seconds since the start. Control characters are replaced.
    void say(std::string_view line);
    [[nodiscard]] double seconds() const;

  private:
    std::function<void(std::string_view)> sink_;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Tells which lines of an image build are worth a word: the beginning of each step, once ("#7 [devel 2/4]
/// RUN ..."), and errors. Gives the text to show, empty for all others.
class BuildNarrator {
  public:
    [[nodiscard]] std::string tell(std::string_view line);

  private:
    std::string last_;
};

}  // namespace cudamatrix::job
