// What an engine prints while it builds, read: which step it is at, why it failed, whether that passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::job {

inline constexpr std::uint64_t kLargestLog = 64U << 20;  ///< bytes of both streams of a build

/// Tells which lines of an image build are worth a word: the beginning of each step, once ("#7 [devel 2/4]
/// RUN ..."), and errors. Gives the text to show, empty for all others.
class BuildNarrator {
  public:
    [[nodiscard]] std::string tell(std::string_view line);

  private:
    std::string last_;
};

/// Whether the output of a failed build says that the network or a server failed in a way that passes: no
/// answer, a broken connection, 429, 5xx. What is missing or refused (404, 401) does not come by waiting.
[[nodiscard]] bool heals_by_itself(std::string_view output);

/// The last `most` lines of a log, for who does not open it; empty where it cannot be read.
[[nodiscard]] std::vector<std::string> last_lines(const std::filesystem::path& log, std::size_t most);

/// The line of a build's output that says why it failed: the last one with "ERROR" or "error:", else the last
/// one at all; and the certificate that it did not trust.
[[nodiscard]] std::string build_error(std::string_view output);

}  // namespace cudamatrix::job
