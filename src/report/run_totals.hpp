// What a run comes to: counts, and the one word for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "report/results.hpp"

namespace cudamatrix::report {

/// `fail`: a cell or an image failed. `pass`: every attempted cell ran on a GPU; never without one.
/// `pass-static`: all passed, some or all of them only as far as possible without a GPU. `built`, `rendered`:
/// no more was asked for. `incomplete`: some passed and some were never tested (interrupted). `nothing`: no
/// cell was attempted.
enum class RunResult : std::uint8_t { pass, pass_static, fail, built, rendered, incomplete, nothing };
[[nodiscard]] std::string_view to_string(RunResult result);

struct RunTotals {
    std::array<std::size_t, 6> outcomes{};  ///< results by CellOutcome
    std::size_t attempted = 0;              ///< results that were not skipped
    std::size_t again = 0;                  ///< of those: further images of their cells
    std::size_t cells = 0;
    std::size_t accepted = 0;  ///< cells by verdict
    std::size_t degraded = 0;
    std::size_t rejected = 0;
    std::size_t unknown = 0;
    std::size_t not_rendered = 0;  ///< accepted or degraded, and yet no image can be rendered for them
    std::size_t failed_images = 0;
    RunResult result = RunResult::nothing;

    [[nodiscard]] std::size_t by(CellOutcome outcome) const {
        return outcomes[static_cast<std::size_t>(outcome)];
    }
};

[[nodiscard]] RunTotals totals(const RunReport& report);

/// "pass-static: 8 cells proved as far as possible without a GPU, 8 rejected, 0 unknown"
[[nodiscard]] std::string closing_line(const RunReport& report);

/// Whether the test makes its cell red: everything but pass and skip.
[[nodiscard]] bool is_failure(TestStatus status);

/// The images of a report by id, for who asks for that of each cell; the report has to outlive it.
class ImagesById {
  public:
    explicit ImagesById(const RunReport& report);

    /// The image of the cell, nullptr when it has none.
    [[nodiscard]] const ImageResult* of(const CellResult& cell) const;

  private:
    std::unordered_map<std::string_view, const ImageResult*> images_;
};

/// A duration as JSON and XML take it: what is not a positive finite number is 0.
[[nodiscard]] double finite_seconds(double seconds);

}  // namespace cudamatrix::report
