// One run of the suite for one cell, wherever it runs: its lines are read as they come, its log is kept, its
// end judged.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "base/result.hpp"
#include "render/image/image.hpp"
#include "report/results.hpp"
#include "run/job/suite_output.hpp"

namespace cudamatrix::job {

using OnLine = std::function<void(std::string_view line, bool is_stderr)>;

struct SuiteCall {
    SuiteExpectation expectation;
    bool gpu = false;           ///< a GPU was handed in
    std::string why_no_gpu;     ///< why this machine's GPU was not; empty where there is none
    std::filesystem::path out;  ///< output folder: the log goes to logs/CELL.log below it
    std::function<Result<Outcome>(const OnLine&)> start;  ///< runs the suite to its end
};

/// Fills outcome, reason, proof, tests and log of `cell`. What keeps every cell from being tried is a
/// Failure; an interrupt leaves the cell planned, with that reason.
[[nodiscard]] Status run_suite(const SuiteCall& call, CellResult& cell);

/// The tests that a plan must hold for `image`: those of the suite's registry.
[[nodiscard]] std::set<std::string> required_tests(const Image& image);

/// A cell's result against the rules' word: where the code that was found in the image runs by another road
/// than the rules expect, the cell gets a finding and is red.
void compare_with_rules(const Image& image, std::string_view compute, CellResult& cell);

}  // namespace cudamatrix::job
