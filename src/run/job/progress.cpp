#include "run/job/progress.hpp"

#include <algorithm>
#include <system_error>

#include "base/text.hpp"
#include "report/layout.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::size_t kMostLive = 12;  // lines of running steps on a terminal

std::string clock_text(double seconds) {
    const auto whole = static_cast<long>(std::max(0.0, seconds));
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string about(double seconds) {
    if (seconds < 90) return fmt::format("about {} s", (static_cast<long>(seconds) + 9) / 10 * 10);
    return fmt::format("about {} min", (static_cast<long>(seconds) + 59) / 60);
}

// GitHub's runner takes "##[" anywhere in a line of its log for a command, and "::" at its start; no line
// here starts so but our own (github:actions/runner, src/Runner.Common/ActionCommand.cs).
std::string no_command(std::string_view line) {
    return text::replace_all(line, "##[", "# #[");
}

// ... and reads what stands behind a command with these in place of others.
std::string command_text(std::string_view text) {
    return text::replace_all(no_command(text::printable(text)), "%", "%25");
}

}  // namespace

Board::Board(Screen screen) : screen_(std::move(screen)) {
    if (!screen_.terminal || screen_.clock) return;
    try {
        ticker_ = std::thread([this] { tick(); });
    } catch (const std::system_error&) {
        // Without it the lines are as old as the last thing that happened.
    }
}

Board::~Board() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        running_.clear();
        steps_.clear();
        if (drawn_ != 0) draw({});
    }
    closing_.notify_all();
    if (ticker_.joinable()) ticker_.join();
}

double Board::seconds() const {
    if (screen_.clock) return screen_.clock();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Board::say(std::string_view line) {
    const std::lock_guard lock(mutex_);
    tell({stamped(line)});
}

void Board::expect(std::vector<Node> steps, std::vector<unsigned> slots, std::vector<double> seconds) {
    const std::lock_guard lock(mutex_);
    steps_ = std::move(steps);
    slots_ = std::move(slots);
    expected_ = std::move(seconds);
    done_ = failed_ = 0;
}

void Board::begin(std::size_t step, std::string_view what) {
    const std::lock_guard lock(mutex_);
    running_.push_back({step, std::string(what), {}, seconds()});
    if (screen_.terminal) {
        draw({});
    } else {
        tell({stamped(what)});
    }
}

void Board::detail(std::size_t step, std::string_view text) {
    const std::lock_guard lock(mutex_);
    auto* found = running(step);
    if (found == nullptr) return;
    if (screen_.terminal) {
        found->now = text::printable(text);
        draw({});
    } else if (screen_.groups) {
        found->said.push_back(stamped(text));
    } else {
        tell({stamped(fmt::format("  {}: {}", found->what.substr(found->what.rfind(' ') + 1), text))});
    }
}

void Board::end(std::size_t step, bool good, std::string_view text, const std::vector<std::string>& tail) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> lines;
    const auto* found = running(step);
    const bool grouped = screen_.groups && found != nullptr && !found->said.empty();
    if (grouped) {
        lines.push_back("::group::" + command_text(stamped(text)));
        lines.insert(lines.end(), found->said.begin(), found->said.end());
        lines.emplace_back("::endgroup::");
    } else {
        lines.push_back(stamped(text));
    }
    if (!good) {
        for (const auto& line : tail)
            lines.push_back("    | " + text::printable(line));
        if (screen_.groups) lines.push_back("::error::" + command_text(text));
    }
    std::erase_if(running_, [&](const Running& one) { return one.step == step; });
    ++(good ? done_ : failed_);
    if (step < expected_.size()) expected_[step] = 0;
    tell(lines);
}

Board::Running* Board::running(std::size_t step) {
    const auto found = std::ranges::find(running_, step, &Running::step);
    return found == running_.end() ? nullptr : &*found;
}

std::string Board::stamped(std::string_view line) const {
    return fmt::format("[{:>5}] {}", clock_text(seconds()), text::printable(line));
}

void Board::tell(const std::vector<std::string>& lines) {
    if (screen_.terminal) {
        draw(lines);
        return;
    }
    if (!screen_.line) return;
    for (const auto& line : lines)
        screen_.line(screen_.groups ? no_command(line) : line);
}

// Above the lines of what runs, which are drawn anew below them.
void Board::draw(const std::vector<std::string>& lines) {
    std::string out;
    if (drawn_ != 0) out += fmt::format("\x1b[{}A", drawn_);
    out += "\r\x1b[J";
    for (const auto& line : lines)
        out += line + "\n";
    const auto now = live();
    for (const auto& line : now)
        out += line + "\n";
    drawn_ = now.size();
    screen_.terminal(out);
}

std::vector<std::string> Board::live() const {
    std::vector<std::string> lines;
    for (const auto& one : running_) {
        if (lines.size() == kMostLive) {
            lines.push_back(fmt::format("  and {} more", running_.size() - kMostLive));
            break;
        }
        const auto line = fmt::format("  {:>6}  {}{}{}", clock_text(seconds() - one.since), one.what,
                                      one.now.empty() ? "" : ": ", one.now);
        lines.push_back(report::clipped(line, std::max<std::size_t>(screen_.columns, 20) - 1));
    }
    if (!steps_.empty()) lines.push_back(totals());
    return lines;
}

std::string Board::totals() const {
    auto line = fmt::format("{} of {} steps done", done_, steps_.size());
    if (failed_ != 0) line += fmt::format(", {} failed", failed_);
    line += fmt::format(", {} running", running_.size());
    const auto left = time_left();
    return left.empty() ? line : line + ", " + left;
}

// By what each step took last time.
std::string Board::time_left() const {
    if (expected_.size() != steps_.size()) return {};
    if (std::ranges::any_of(expected_, [](double each) { return each < 0; })) return {};
    auto seconds_left = expected_;
    for (const auto& one : running_)
        seconds_left[one.step] = std::max(1.0, seconds_left[one.step] - (seconds() - one.since));
    const auto left = time_needed(steps_, slots_, seconds_left);
    return left < 1 ? std::string() : about(left) + " left";
}

void Board::tick() {
    std::unique_lock lock(mutex_);
    while (!closing_.wait_for(lock, std::chrono::seconds(1), [this] { return closed_; })) {
        if (drawn_ != 0 || !running_.empty()) draw({});
    }
}

}  // namespace cudamatrix::job
