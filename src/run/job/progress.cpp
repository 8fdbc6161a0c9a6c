#include "run/job/progress.hpp"

#include "base/text.hpp"

namespace cudamatrix::job {

double Ticker::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Ticker::say(std::string_view line) {
    if (!sink_) return;
    const auto elapsed = static_cast<long>(seconds());
    const std::lock_guard lock(mutex_);
    sink_(fmt::format("[{:2}:{:02}] {}", elapsed / 60, elapsed % 60, text::printable(line)));
}

std::string BuildNarrator::tell(std::string_view line) {
    // "#7 [devel 2/4] RUN apt-get update ...": the number of the vertex, then its name in brackets.
    if (line.empty() || line.front() != '#') return {};
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return {};
    const auto rest = line.substr(blank + 1);
    const bool error = rest.substr(0, 6) == "ERROR:";
    if (!error && (rest.empty() || rest.front() != '[' || rest.substr(0, 10) == "[internal]")) return {};
    constexpr std::size_t kWidth = 100;
    auto told = text::printable(rest.substr(0, kWidth));
    if (told == last_) return {};
    last_ = told;
    return told;
}

}  // namespace cudamatrix::job
