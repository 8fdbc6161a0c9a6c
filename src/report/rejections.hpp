// What came of attempting what the rules reject: the data of `test --prove-rejected` and its writers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/inputs.hpp"

namespace cudamatrix {

enum class RejectionOutcome : std::uint8_t {
    proven,        ///< it failed as predicted, with the rule's signature, beside a passing control
    refuted,       ///< it works after all: a finding against the rule
    inconclusive,  ///< attempted, and shows nothing either way
    not_attempted  ///< cannot be attempted; never counts as proven
};
[[nodiscard]] std::string_view to_string(RejectionOutcome outcome);

/// One rejection: a rule's finding with all the cells that share it.
struct Rejection {
    std::string rule;
    std::string stage;
    std::string predicted;  ///< the finding's message
    std::vector<std::pair<std::string, std::string>>
        fields;                      ///< the halves of the conflict, as the first cell has them
    std::vector<std::string> cells;  ///< ids, in the order of the file
    std::string attempt;             ///< what was done: "nvcc for compute_100"
    std::string control;             ///< what passed beside it: "nvcc for compute_90"
    RejectionOutcome outcome = RejectionOutcome::not_attempted;
    std::string seen;    ///< the line with the signature; of one that works after all, what it said
    std::string reason;  ///< why it is refuted, inconclusive or not attempted; empty otherwise
    std::string log;     ///< path relative to the output folder
    double seconds = 0;
};

struct RejectionReport {
    std::string matrix;  ///< its name
    std::string where;   ///< --where as it was given; empty: every rejected cell
    std::string engine;
    std::string engine_why;
    std::string version;
    std::string facts_date;
    std::string facts_hash;
    std::string output;  ///< the output folder
    std::vector<Rejection> rejections;
    double seconds = 0;
    int exit_code = 0;

    [[nodiscard]] std::size_t count(RejectionOutcome outcome) const;
};

namespace report {

/// Refuted ones first, then what is inconclusive, proven and not attempted, and one line with the counts.
[[nodiscard]] std::string rejections_text(const RejectionReport& report, const TextOptions& options);
/// One JSON document with everything that the report holds.
[[nodiscard]] std::string rejections_json(const RejectionReport& report);
/// JUnit XML, one test case for each rejection: a failure where it works after all, an error where it is
/// inconclusive, skipped where it is not attempted.
[[nodiscard]] std::string rejections_junit(const RejectionReport& report);

}  // namespace report

}  // namespace cudamatrix
