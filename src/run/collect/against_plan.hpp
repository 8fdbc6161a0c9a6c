// Results held against the plan that they must be of.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "report/run_document.hpp"
#include "run/collect/suite_log.hpp"
#include "run/job/job.hpp"

namespace cudamatrix::collect {

class AgainstPlan {
  public:
    AgainstPlan(const RunInput& input, const RunSettings& settings, const job::Plan& plan);

    /// The plan as a report like the others: what nobody answered.
    [[nodiscard]] report::ReadRun planned() const;

    /// Of a report that fits only what it adds to the plan. Input failures: another origin, images that were
    /// made of other files, images and cells that the plan does not have or has otherwise.
    [[nodiscard]] Result<report::ReadRun> take(report::ReadRun run) const;

    /// The result of one attempt. Input failures: a cell that the plan does not have, another plan id.
    [[nodiscard]] Result<report::ReadRun> take(const std::string& file, const SuiteAttempt& attempt) const;

  private:
    struct Cell {
        const CellResult* result = nullptr;
        std::string with_gpu, without_gpu;  ///< plan ids; empty: it has no image
    };

    [[nodiscard]] Failure refusal(const std::string& file, std::size_t line, const std::string& what) const;
    [[nodiscard]] Status check(const report::ReadRun& run, const ImageResult& image) const;
    [[nodiscard]] Status check(const report::ReadRun& run, const CellResult& cell,
                               const report::ImagesById& images) const;
    [[nodiscard]] CellResult judge(const Cell& cell, const SuiteAttempt& attempt, bool with_gpu) const;

    const RunInput& input_;
    const job::Plan& plan_;
    report::ReadRun planned_;
    std::unordered_map<std::string_view, const ImageResult*> images_;
    std::unordered_map<std::string_view, Cell> cells_;
};

}  // namespace cudamatrix::collect
