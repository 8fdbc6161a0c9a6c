// The reports of `scan`: the GPU code of libraries, and for which of the GPUs asked for there is none.
#pragma once

#include <string>
#include <vector>

#include "look/scan/local.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// A finding about one library of one scan.
struct ScanFinding {
    FindingGroup group;  ///< its place is the library: the path in the target, no line
    std::size_t scan = 0;
    std::size_t library = 0;
    std::size_t question = 0;
};

/// What was looked at, what was asked, and what was found.
struct ScanReport {
    std::vector<scan::Scan> scans;
    std::vector<scan::Question> questions;
    std::vector<std::vector<FactRef>> question_facts;  ///< what each of them rests on
    std::vector<std::vector<scan::Answer>> answers;    ///< of each scan, see scan::answers
    std::vector<ScanFinding> findings;
    bool deep = false;
    ToolInfo tool;
    TextOptions text;
};

/// The findings for the answers of a report: a library without code for a GPU (error), one that may have some
/// (unknown), one that holds link-time code only (warning). `ptx_facts` say why PTX newer than the driver
/// fails.
[[nodiscard]] std::vector<ScanFinding> scan_findings(const ScanReport& report,
                                                     const std::vector<FactRef>& ptx_facts);

/// Every library: how much code in which containers, its targets, one line for each answer; then the findings
/// as a compiler prints them. A single library is followed by a table of its targets.
[[nodiscard]] std::string scan_text(const ScanReport& report);

/// One JSON document: targets, gpus, libraries, findings.
[[nodiscard]] std::string scan_json(const ScanReport& report);

}  // namespace cudamatrix::report
