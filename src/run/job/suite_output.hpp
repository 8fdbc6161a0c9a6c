// Reads what the suite printed inside an image. The image is not trusted: every line is bounded, checked
// against the plan and against what we asked for, and cleaned of control characters; what does not fit makes
// the cell red, never green.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/results.hpp"
#include "run/host/nvidia_smi.hpp"

namespace cudamatrix::job {

/// What we asked the suite for; a line about anything else is not its answer.
struct SuiteExpectation {
    std::string run_id;
    std::string cell_id;
    std::set<std::string> required;  ///< tests that the plan must hold, whatever the image says
};

struct SuiteOutput {
    std::vector<TestResult> tests;      ///< in the order of their lines, at most one for each test and part
    std::vector<std::string> problems;  ///< why the output as a whole cannot be believed; empty: it can
    bool gpu = false;                   ///< the suite says that it ran on a GPU
    std::string device;                 ///< what it says about that GPU, for messages
    probe::Gpu gpu_seen;                ///< the same in parts; its index is unknown
};

/// Takes the lines of standard output one by one; `finish` after the last, with the exit code of the runner
/// (nullopt: it did not end by itself).
class SuiteReader {
  public:
    explicit SuiteReader(SuiteExpectation expectation);

    /// `number`: what messages call it; 0: it is counted.
    void take(std::string_view line, std::size_t number = 0);
    [[nodiscard]] SuiteOutput finish(std::optional<int> exit_code) &&;

    /// Tests planned, and results so far: for progress.
    [[nodiscard]] std::size_t planned() const { return plan_.size(); }
    [[nodiscard]] std::size_t results() const { return output_.tests.size(); }
    /// The exit code that the totals say; nothing without totals.
    [[nodiscard]] std::optional<int> stated_exit() const;

  private:
    struct Line;
    void take_plan(const Line& line);
    void take_totals(const Line& line);
    void take_result(const Line& line);
    void problem(std::string text);

    SuiteExpectation expectation_;
    SuiteOutput output_;
    std::set<std::pair<std::string, std::string>> plan_;  ///< test and part
    std::set<std::pair<std::string, std::string>> seen_;
    std::int64_t stated_exit_ = 0;
    bool planned_ = false;
    bool totalled_ = false;
    std::size_t lines_ = 0;
    std::size_t number_ = 0;  ///< of the line that is looked at
};

/// Outcome, proof and reason of a cell from what its suite said. `gpu_given`: a GPU was handed to the
/// container.
void conclude(const SuiteOutput& output, bool gpu_given, CellResult& cell);

}  // namespace cudamatrix::job
