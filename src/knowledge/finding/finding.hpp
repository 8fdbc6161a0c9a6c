// What can be said of a cell, and how people read it: stages, verdicts, findings and the fixes they offer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "knowledge/facts/facts.hpp"
#include "matrix/field.hpp"

namespace cudamatrix {

/// Where a fault would strike, in the order in which a user meets it.
enum class Stage : std::uint8_t {
    driver_load,
    image_pull,
    container_start,
    install,
    build,
    runtime,
    torch_compile
};
inline constexpr std::size_t kStageCount = 7;
[[nodiscard]] std::string_view to_string(Stage stage);
[[nodiscard]] std::optional<Stage> stage_named(std::string_view name);

/// In order of severity: a cell's verdict is the worst of its rules.
enum class Verdict : std::uint8_t { accepted, degraded, unknown, rejected };
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// One way out: the fields to set, and how it reads ("driver >= 525.60.13"). Applied to the cell it makes the
/// finding vanish. The last resort of a rejection is to leave the combination out: `exclude` then holds what
/// the condition would say and `set` is empty.
struct FixOption {
    std::string text;
    std::vector<std::pair<Field, std::string>> set;
    std::vector<std::pair<Field, std::string>> exclude = {};
};

/// What would satisfy the rule that made a finding. Which values do is searched for (`rules::evaluate`): the
/// rule itself is asked about each of `rules::candidates`.
struct Bound {
    enum class Kind : std::uint8_t {
        exactly,   ///< `option`, whatever the facts know
        other,     ///< any other value of the field
        at_least,  ///< a newer one, the oldest that will do
        at_most,   ///< an older one, the newest that will do
        one_of,    ///< one of `values`, the nearest that will do: an older one, else a newer one
        without    ///< the cell without that package
    };
    Kind kind = Kind::exactly;
    Field field = Field::driver;
    std::string package = {};  ///< of Field::packages: which one
    FixOption option = {};
    std::vector<std::string> values = {};  ///< of `other` torch: the variant that it must have, if any
    bool accepted_only = false;            ///< not one of which the rule says something milder, or nothing
    std::string note = {};                 ///< follows the value in the text: "with this driver"

    [[nodiscard]] bool sets(Field other) const;
};

/// One rule's answer for one projection.
struct Finding {
    /// error: rejected, warning: degraded, unknown; note, and notice for an end of life: no verdict
    Severity severity = Severity::error;
    Stage stage = Stage::runtime;
    std::string_view rule;
    std::string aspect = {};  ///< which of the rule's questions this answers ("image", "wheel"); often empty
    Field primary = Field::driver;  ///< whose value the caret points at
    std::string message;            ///< names both halves of the conflict
    std::vector<Bound> bounds;      ///< what would satisfy the rule, best first
    std::vector<FixOption> fixes;   ///< what does satisfy it, best first; may be empty for unknown and notes
    std::vector<FactRef> facts;     ///< what the answer rests on
    std::vector<Field> about;       ///< the halves of the conflict, `primary` among them
    std::string ended = {};         ///< of a notice: YYYY-MM-DD or YYYY-MM; empty where no fact names the day
    std::string gap = {};  ///< of an unknown: "no fact knows gpu RTX 9090"; other rules may lack the same

    [[nodiscard]] Verdict verdict() const;
    /// Nothing that would satisfy it sets the field any more.
    void drop_bounds(Field field);
    /// "driver >= 525.60.13, or cuda 11.8.0 with this driver".
    [[nodiscard]] std::string fix_text() const;
};

/// Why a finding does not count: the entry of `waive` that accepts it.
struct Waived {
    std::string because;
    std::string until;  ///< YYYY-MM-DD, the last day
    Location where;
};

/// A finding with all the cells that share it. The same finding is two groups where only some of its cells
/// are waived.
struct FindingGroup {
    Finding finding;
    Location where;
    std::uint64_t cells = 0;
    std::string first_cell;
    std::optional<Waived> waived = {};

    /// What it makes of its cells: a waived finding leaves them accepted.
    [[nodiscard]] Verdict verdict() const { return waived ? Verdict::accepted : finding.verdict(); }
};

/// The rule of the finding that says that a waiver has ended.
inline constexpr std::string_view kWaiverExpired = "waiver-expired";

namespace rules {

using Findings = std::vector<Finding>;

/// What a rule found to be as it should, and what that rests on.
struct Acceptance {
    std::string_view rule;
    std::string aspect;
    Stage stage = Stage::runtime;
    std::vector<Field> about;
    std::string sentence;  ///< "driver 550.54.15 runs CUDA 12.4.1": true as it stands
    std::vector<FactRef> facts;
};
using Acceptances = std::vector<Acceptance>;

}  // namespace rules

/// As a compiler prints it, with the evidence and the fix; `source` is the text of the matrix file (excerpt
/// with a caret):
///     matrix.yaml:4:12: error: driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13
///     [driver-supports-cuda, at runtime]
///       4 |   driver: ["470.161.03", "550.54.15"]
///         |            ^~~~~~~~~~~~
///       note: 6 cells, first drv470.161.03-t4-cu12.4.1
///       note: fact cuda-family-12, https://docs.nvidia.com/... (as of 2026-11-21)
///       fix: driver >= 525.60.13, or cuda 11.8.0 with this driver
[[nodiscard]] std::string render_finding(const FindingGroup& group, std::string_view source,
                                         bool colour = false);

/// One note for each fact that it rests on: "fact cuda-family-12, https://... (as of 2026-11-21)".
[[nodiscard]] std::vector<std::string> fact_notes(const Finding& finding);

/// In one line: "error: driver ... is too old ... [driver-supports-cuda, at runtime]".
[[nodiscard]] std::string finding_line(const Finding& finding);

/// "fact cuda-family-12, https://... and 2 more (as of 2026-11-21)"; ", old" beside the date where it is.
[[nodiscard]] std::string fact_note(const FactRef& fact);

}  // namespace cudamatrix
