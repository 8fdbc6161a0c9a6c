#include "run/job/build_output.hpp"

#include <algorithm>
#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {
namespace {

bool names_an_error(std::string_view line) {
    const auto low = text::lower(line);
    for (const std::string_view sign : {"error:", "fatal:", "no matching distribution", "cannot connect"}) {
        if (low.find(sign) != std::string::npos) return true;
    }
    return low.starts_with("e: ");  // apt
}

// The last line that names an error, with the causes that uv names below it.
class LastError {
  public:
    void take(std::string_view line) {
        constexpr std::string_view kCause = "cause: ";
        if (names_an_error(line)) {
            text_ = line;
        } else if (!text_.empty() && line.starts_with(kCause)) {
            text_ += fmt::format(": {}", line.substr(kCause.size()));
        }
    }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
};

// BuildKit's plain progress: "#6 0.120 /bin/sh: useradd: not found", "#6 ERROR: ...". The number names the
// step.
struct StepLine {
    std::string_view step;
    std::string_view text;
    bool failed = false;  ///< BuildKit's own ERROR, not a word of the step
};

std::optional<StepLine> step_line(std::string_view line) {
    const auto space = line.find(' ');
    if (!line.starts_with('#') || space == std::string_view::npos) return std::nullopt;
    StepLine out{line.substr(0, space), text::trim(line.substr(space + 1))};
    const auto time_end = out.text.find(' ');
    const auto first = out.text.substr(0, time_end);
    if (!first.empty() && first.find_first_not_of("0123456789.") == std::string_view::npos) {
        out.text =
            time_end == std::string_view::npos ? std::string_view() : text::trim(out.text.substr(time_end));
    } else {
        out.failed = out.text.starts_with("ERROR: ");
    }
    return out;
}

// What the failed step itself said: its last error, else its last line.
std::string failed_step(const std::vector<std::string>& lines) {
    std::string_view failed;
    for (const auto& line : lines) {
        if (const auto at = step_line(line); at && at->failed) failed = at->step;
    }
    std::string last;
    LastError error;
    for (const auto& line : lines) {
        const auto at = step_line(line);
        if (failed.empty() || !at || at->step != failed || at->text.empty() || at->failed ||
            at->text.starts_with("sha256:")) {
            continue;
        }
        last = at->text;
        error.take(at->text);
    }
    return error.text().empty() ? last : error.text();
}

// What python, apt, uv and curl (which dnf and git use) say of a certificate that they do not trust; often
// lines before the one on which the build ends ("No matching distribution found").
std::string refused_certificate(std::string_view output) {
    const auto low = text::lower(output);
    for (const std::string_view sign : {"certificate verify failed", "certificate verification failed",
                                        "invalid peer certificate", "ssl certificate problem"}) {
        const auto at = low.find(sign);
        if (at == std::string::npos) continue;
        const auto said = output.substr(at, 120);
        return text::printable(text::trim(said.substr(0, said.find_first_of("'\"()[]\n", sign.size()))));
    }
    return {};
}

std::string deciding_line(std::string_view output) {
    const auto lines = text::split(output, '\n');
    if (auto said = failed_step(lines); !said.empty()) return said;
    std::string last, summary;
    LastError error;
    for (const auto& line : lines) {
        // podman's own summary, behind what the step wrote to stderr and before all that went to stdout.
        if (summary.empty() && line.find("building at STEP") != std::string::npos) {
            summary = last.empty() ? text::trim(line) : last;
            continue;
        }
        // BuildKit repeats the failed step as an excerpt between dashes; its own summary comes last and says
        // least.
        const auto trimmed = text::trim(line);
        if (trimmed.empty() || trimmed.starts_with("---")) continue;
        last = trimmed;
        if (trimmed.find("executor failed running") == std::string::npos &&
            trimmed.find("did not complete successfully") == std::string::npos) {
            error.take(trimmed);
        }
    }
    if (!error.text().empty()) return error.text();
    return summary.empty() ? last : summary;
}

}  // namespace

std::string BuildNarrator::tell(std::string_view line) {
    // podman: "[2/4] STEP 3/7: RUN apt-get update ..."; BuildKit: "#7 [devel 2/4] RUN apt-get update ...",
    // the number of the vertex, then its name in brackets.
    if (line.empty()) return {};
    const auto blank = line.find(' ');
    const bool step =
        line.starts_with("STEP ") || (line.front() == '[' && line.find("] STEP ") != std::string_view::npos);
    if (!step && (line.front() != '#' || blank == std::string_view::npos)) return {};
    const auto rest = step ? line : line.substr(blank + 1);
    const bool error = rest.substr(0, 6) == "ERROR:";
    if (!step && !error && (rest.empty() || rest.front() != '[' || rest.substr(0, 10) == "[internal]"))
        return {};
    constexpr std::size_t kWidth = 100;
    auto told = text::printable(rest.substr(0, kWidth));
    if (told == last_) return {};
    last_ = told;
    return told;
}

std::string build_error(std::string_view output) {
    auto said = text::printable(deciding_line(output).substr(0, 300));
    if (const auto refused = refused_certificate(output); !refused.empty()) {
        said += fmt::format("; a certificate was not trusted ({}): name your site's by --ca-bundle FILE",
                            refused);
    }
    return said;
}

bool heals_by_itself(std::string_view output) {
    const auto low = text::lower(output);
    for (const std::string_view sign : {"toomanyrequests",
                                        "too many requests",
                                        "internal server error",
                                        "bad gateway",
                                        "service unavailable",
                                        "gateway time",
                                        "connection reset by peer",
                                        "connection timed out",
                                        "connection refused",
                                        "i/o timeout",
                                        "tls handshake timeout",
                                        "temporary failure in name resolution",
                                        "temporary failure resolving",
                                        "unexpected eof",
                                        "network is unreachable",
                                        "read timed out",
                                        "operation timed out",
                                        "could not connect to",
                                        "error sending request",
                                        "curl: (56)",
                                        "curl: (28)",
                                        "curl: (18)"}) {
        if (low.find(sign) != std::string::npos) return true;
    }
    return false;
}

std::vector<std::string> last_lines(const std::filesystem::path& log, std::size_t most) {
    const auto content = file::read(log, kLargestLog);
    if (!content.ok()) return {};
    return text::last_lines(*content, most);
}

}  // namespace cudamatrix::job
