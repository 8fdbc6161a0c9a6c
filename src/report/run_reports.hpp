// The reports about what was run or looked at: of `build`, `test`, `run`, of `test --prove-rejected` (what
// came of attempting what the rules reject, with its data), and of `scan` (the GPU code of libraries, and for
// which of the GPUs asked for there is none), and of `clean`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "look/scan/local.hpp"
#include "report/inputs.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {

/// Tables for a terminal: cells, what failed and why, what was skipped and why, by which code each GPU would
/// run, images; then the result in one line and where everything lies.
[[nodiscard]] std::string run_text(const RunReport& report, const TextOptions& options);

/// One JSON document with everything that the report holds.
[[nodiscard]] std::string run_json(const RunReport& report);
/// The same but for the head of every document (schema_version, tool, version, facts).
class DocumentSink;
void write_run(const RunReport& report, DocumentSink& document);

/// The same for a comment on a pull request: what it came to, failures with the end of their output, images
/// and cells. No text becomes markup. Never more than GitHub takes; what does not fit is counted.
[[nodiscard]] std::string run_markdown(const RunReport& report);

/// A page that stands alone (page.hpp): the cells as a grid of two chosen axes with filters and a search, and
/// the details of each. Logs are links relative to the page. No text becomes markup.
[[nodiscard]] std::string run_html(const RunReport& report);
/// The JSON that it shows.
[[nodiscard]] std::string run_page_data(const RunReport& report);

}  // namespace cudamatrix::report

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

enum class SweptOutcome : std::uint8_t {
    removed,
    would_remove,  ///< with --dry-run
    kept,          ///< it carries our label, and its name is not ours
    failed
};
[[nodiscard]] std::string_view to_string(SweptOutcome outcome);

/// A container or an image that carries our label.
struct Swept {
    bool is_image = false;
    std::string id;
    std::string name;  ///< of an image that has lost its name: empty
    SweptOutcome outcome = SweptOutcome::removed;
    std::string reason;  ///< why it is kept, or still there
};

/// What `clean` did.
struct CleanReport {
    std::string engine;
    std::string engine_why;
    bool dry_run = false;
    std::vector<Swept> swept;

    [[nodiscard]] std::size_t count(bool images, SweptOutcome outcome) const;
};

namespace report {

/// A line for each container and image, then the counts.
[[nodiscard]] std::string clean_text(const CleanReport& report);
[[nodiscard]] std::string clean_json(const CleanReport& report);

/// Refuted ones first, then what is inconclusive, proven and not attempted, and one line with the counts.
[[nodiscard]] std::string rejections_text(const RejectionReport& report, const TextOptions& options);
/// One JSON document with everything that the report holds.
[[nodiscard]] std::string rejections_json(const RejectionReport& report);

}  // namespace report

}  // namespace cudamatrix

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
