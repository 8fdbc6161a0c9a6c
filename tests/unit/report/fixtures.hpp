// The data that the tests of all report writers share: a judged matrix and a run, made by hand.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/inputs.hpp"
#include "report/results.hpp"

namespace fixtures {

using namespace cudamatrix;

inline bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// How often `part` stands in `text`.
[[nodiscard]] std::size_t times(std::string_view text, std::string_view part);

inline const report::ToolInfo kTool{"0.1.0", "2026-11-21", "0123456789ab"};

/// Three cells: one rejected by two rules, one degraded, one accepted. Addresses into `values` must stay.
class Judged {
  public:
    Judged();
    Judged(const Judged&) = delete;
    Judged& operator=(const Judged&) = delete;

    [[nodiscard]] report::CheckReport report(std::size_t width = 80, bool colour = false) const {
        return {matrix, judgement, kTool, {colour, width}};
    }
    /// Adds a cell with these values and this verdict.
    JudgedCell& add(const std::string& id, const std::vector<std::pair<Field, Value>>& fields,
                    Verdict verdict);

    Matrix matrix;
    Judgement judgement;

  private:
    std::deque<Value> values_;
};

[[nodiscard]] FindingGroup driver_too_old();
[[nodiscard]] FindingGroup python_end_of_life();

/// Two images, two cells that passed without a GPU, one that failed, one rejected, one unknown.
[[nodiscard]] RunReport run();
/// Two cells that passed without a GPU and one rejected.
[[nodiscard]] RunReport green_run();

/// Everything that must not reach a terminal, an XML parser or a workflow log as it is.
[[nodiscard]] const std::vector<std::string>& hostile_texts();

/// tests/golden_reports/NAME; a missing file fails the test.
[[nodiscard]] std::string golden(std::string_view name);

/// Columns of the longest line.
[[nodiscard]] std::size_t widest_line(std::string_view text);

/// True when `text` has no control character but line ends, is UTF-8 and has no mark that changes its
/// direction.
[[nodiscard]] bool terminal_safe(std::string_view text);

}  // namespace fixtures
