// What the JSON of all reports shares: the document itself, and cells and findings in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// What `write` makes of each element of `range`.
template <class Range, class Writer>
[[nodiscard]] Json json_list(const Range& range, const Writer& write) {
    auto out = Json::array();
    for (const auto& each : range)
        out.push_back(write(each));
    return out;
}

/// Takes a document member by member.
class DocumentSink {
  public:
    DocumentSink() = default;
    DocumentSink(const DocumentSink&) = default;
    DocumentSink& operator=(const DocumentSink&) = default;
    virtual ~DocumentSink() = default;

    virtual void member(std::string_view name, const Json& value) = 0;
    virtual void begin_array(std::string_view name) = 0;
    virtual void element(const Json& value) = 0;
    virtual void end_array() = 0;
};

/// One JSON document, written member by member: pretty at the top, one line for each element of a long array,
/// so that a report of 100,000 cells needs no tree in memory and two reports can be compared by line.
class JsonDocument final : public DocumentSink {
  public:
    /// Starts the document with schema_version, tool, version and facts.
    explicit JsonDocument(const ToolInfo& tool, int schema_version = 1);

    void member(std::string_view name, const Json& value) override;
    void begin_array(std::string_view name) override;
    void element(const Json& value) override;
    /// An element that is already JSON text on one line.
    void element_text(std::string_view text);
    void end_array() override;
    template <class Range, class Writer>
    void array(std::string_view name, const Range& range, const Writer& write) {
        begin_array(name);
        for (const auto& each : range)
            element(write(each));
        end_array();
    }
    /// The whole document with a newline at its end. Nothing can be added afterwards.
    [[nodiscard]] std::string finish() &&;

  private:
    void key(std::string_view name);

    std::string out_ = "{";
    bool first_member_ = true;
    bool first_element_ = true;
};

/// {"driver": "550.54.15", "uses": ["THC"], "packages": {"timm": "0.6.13"}}: what the matrix says about the
/// cell, as it is written there (versions stay text), in the order of the fields.
[[nodiscard]] Json fields_json(const Cell& cell);

/// The text of a field's value for people: "550.54.15", "THC, ptx-only", "timm=0.6.13".
[[nodiscard]] std::string field_text(const Value& value);

/// "driver: 550.54.15; gpu: T4": every field of the cell, on one line.
[[nodiscard]] std::string fields_line(const Cell& cell);

/// [{"id", "source", "sources", "as_of", "confidence", "old": true where it is}]
[[nodiscard]] Json facts_json(const std::vector<FactRef>& facts);

/// [{"text", "set": {...}, "exclude": {...}}]: each is one way out, the fields to set or the condition to put
/// under exclude.
[[nodiscard]] Json fixes_json(const Finding& finding);

/// {"rule", "stage", "severity", "message", "fix", "fixes", "facts"}
[[nodiscard]] Json finding_json(const Finding& finding);

/// {"runtime": "rejected", ...}: every stage.
[[nodiscard]] Json stages_json(const JudgedCell& cell);

/// {"accepted": N, "degraded": N, "rejected": N, "unknown": N}
[[nodiscard]] Json verdicts_json(const std::array<std::uint64_t, 4>& verdicts);

/// {"name": ..., "path": ..., "cells": N, "stages": [...]}; stages only where the file restricts them.
[[nodiscard]] Json matrix_json(const CheckReport& report);

/// A finding as `check` and `scan` write it: rule, stage, severity, message, fixes, facts, place.
[[nodiscard]] Json finding_json(const FindingGroup& group);

/// The warnings of the reader: [{"severity", "message", "file", "line", "column", "notes", "fix"}]
[[nodiscard]] Json diagnostics_json(const std::vector<Diagnostic>& diagnostics);

/// {"name", "value", "unit", "n", "rsd"}, and where there is one "roof", "roof_value", "ratio", "goal".
[[nodiscard]] Json metric_json(const Metric& metric);

/// What the suite said of one test; the journal keeps it in the same words.
[[nodiscard]] Json test_json(const TestResult& test);

/// {"driver": {"value": ..., "from": ..., "used": true}, "toolkit": {"value": null, "from": why}, ...,
/// "notes": []}
[[nodiscard]] Json host_json(const HostInfo& host);

/// A line for each thing that was looked for on this machine; empty without --host.
[[nodiscard]] std::string host_text(const HostInfo* host);

[[nodiscard]] std::uint64_t cell_count(const Judgement& judgement);

/// "22 accepted, 3 rejected": cells by Verdict; empty where there is none.
[[nodiscard]] std::string verdict_counts(const std::array<std::uint64_t, 4>& verdicts);
/// "3 cells: 1 accepted, 2 rejected": what is zero is left out, but never everything.
[[nodiscard]] std::string verdicts_text(const Judgement& judgement);

}  // namespace cudamatrix::report
