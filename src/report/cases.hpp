// Reports as test cases, which JUnit and TAP write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/results.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix::report {

enum class CaseKind : std::uint8_t { pass, skip, fail, error };

struct Case {
    std::string classname;
    std::string name;  ///< "static.fatbin[static]"
    double seconds = 0;
    CaseKind kind = CaseKind::pass;
    std::string type;  ///< of a failure or an error
    std::string message;
    std::string details;  ///< hint and output
    std::vector<Metric> metrics = {};
};

struct CaseSuite {
    std::string name;
    double seconds = 0;
    std::vector<std::pair<std::string, std::string>> properties;
    std::vector<Case> cases;

    [[nodiscard]] std::size_t count(CaseKind kind) const;
};

struct CaseReport {
    std::string title;
    double seconds = 0;
    std::vector<CaseSuite> suites;
};

/// One suite for each cell, a case for each line of the kernel suite, and one suite for the builds of images.
/// Skipped cells are skipped test cases with the reason. A cell that failed is never green: where no test
/// case says why, one for the cell does. Code found in the image stands under the suite's properties
/// ("static.fatbin.sass"), and so does how fast a GPU was ("mem.copy.copy").
[[nodiscard]] CaseReport cases_of(const RunReport& report);
/// One case for each rejection: a failure where it works after all, an error where it is inconclusive,
/// skipped where it is not attempted.
[[nodiscard]] CaseReport cases_of(const RejectionReport& report);

/// JUnit XML.
[[nodiscard]] std::string junit_text(const CaseReport& report);
/// TAP 14: a subtest for each suite; what failed, and how fast a GPU was, in its YAML block.
[[nodiscard]] std::string tap_text(const CaseReport& report);

}  // namespace cudamatrix::report
