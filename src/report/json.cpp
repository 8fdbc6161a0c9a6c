#include "report/json.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.hpp"

namespace cudamatrix::report {

JsonDocument::JsonDocument(const ToolInfo& tool, int schema_version) {
    member("schema_version", schema_version);
    member("tool", "cudamatrix");
    member("version", tool.version);
    Json facts{{"date", tool.facts_date}, {"hash", tool.facts_hash}};
    if (!tool.facts_warning.empty()) facts["warning"] = tool.facts_warning;
    member("facts", facts);
}

void JsonDocument::key(std::string_view name) {
    out_ += first_member_ ? "\n  " : ",\n  ";
    first_member_ = false;
    out_ += to_text(Json(name), false) + ": ";
}

void JsonDocument::member(std::string_view name, const Json& value) {
    key(name);
    out_ += to_text(value, false);
}

void JsonDocument::begin_array(std::string_view name) {
    key(name);
    out_ += "[";
    first_element_ = true;
}

void JsonDocument::element(const Json& value) {
    element_text(to_text(value, false));
}

void JsonDocument::element_text(std::string_view text) {
    out_ += first_element_ ? "\n    " : ",\n    ";
    first_element_ = false;
    out_ += text;
}

void JsonDocument::end_array() {
    out_ += first_element_ ? "]" : "\n  ]";
}

std::string JsonDocument::finish() && {
    out_ += "\n}\n";
    return std::move(out_);
}

namespace {

constexpr std::array kOrder{Verdict::accepted, Verdict::degraded, Verdict::rejected, Verdict::unknown};

Json value_json(const FieldInfo& field, const Value& value) {
    if (field.syntax == Syntax::string_map) {
        auto out = Json::object();
        for (const auto& [name, text] : value.items)
            out[name] = text;
        return out;
    }
    if (field.syntax == Syntax::name_list) {
        auto out = json_list(value.items, [&](const auto& item) { return item.first; });
        if (value.items.empty()) out.push_back(value.text);  // one name is a list of one
        return out;
    }
    return value.text;
}

Json values_by_field(const std::vector<std::pair<Field, std::string>>& values) {
    auto out = Json::object();
    for (const auto& [field, text] : values)
        out[std::string(info(field).name)] = text;
    return out;
}

}  // namespace

Json facts_json(const std::vector<FactRef>& facts) {
    auto out = Json::array();
    for (const auto& fact : facts) {
        auto& one =
            out.emplace_back(Json{{"id", fact.id},
                                  {"source", fact.sources.empty() ? std::string() : fact.sources.front()},
                                  {"sources", fact.sources},
                                  {"as_of", fact.as_of},
                                  {"confidence", to_string(fact.confidence)}});
        if (fact.is_old) one["old"] = true;
    }
    return out;
}

Json fixes_json(const Finding& finding) {
    return json_list(finding.fixes, [&](const auto& fix) {
        return Json{
            {"text", fix.text}, {"set", values_by_field(fix.set)}, {"exclude", values_by_field(fix.exclude)}};
    });
}

Json finding_json(const Finding& finding) {
    Json out{{"rule", finding.rule},
             {"stage", to_string(finding.stage)},
             {"severity", to_string(finding.severity)},
             {"message", finding.message},
             {"fix", finding.fix_text()},
             {"fixes", fixes_json(finding)},
             {"facts", facts_json(finding.facts)}};
    if (finding.severity == Severity::notice) {
        out["lifecycle"] = Json{{"end", nullptr}, {"successor", finding.fix_text()}};
        if (!finding.ended.empty()) out["lifecycle"]["end"] = finding.ended;
    }
    return out;
}

Json stages_json(const JudgedCell& cell) {
    auto out = Json::object();
    for (std::size_t stage = 0; stage < kStageCount; ++stage)
        out[std::string(to_string(static_cast<Stage>(stage)))] = to_string(cell.stages[stage]);
    return out;
}

Json fields_json(const Cell& cell) {
    auto out = Json::object();
    for (const auto& field : all_fields()) {
        if (const auto* value = cell.get(field.field))
            out[std::string(field.name)] = value_json(field, *value);
    }
    return out;
}

std::string field_text(const Value& value) {
    if (value.items.empty()) return value.text;
    std::vector<std::string> parts;
    for (const auto& [name, text] : value.items)
        parts.push_back(text.empty() ? name : name + "=" + text);
    return text::join(parts, ", ");
}

std::string fields_line(const Cell& cell) {
    std::vector<std::string> parts;
    for (const auto& field : all_fields()) {
        if (const auto* value = cell.get(field.field))
            parts.push_back(fmt::format("{}: {}", field.name, field_text(*value)));
    }
    return text::join(parts, "; ");
}

Json verdicts_json(const std::array<std::uint64_t, 4>& verdicts) {
    auto out = Json::object();
    for (const auto verdict : kOrder)
        out[std::string(to_string(verdict))] = verdicts[static_cast<std::size_t>(verdict)];
    return out;
}

Json matrix_json(const CheckReport& report) {
    Json out{
        {"name", report.matrix.name}, {"path", report.matrix.path}, {"cells", cell_count(report.judgement)}};
    if (!report.matrix.stages.empty()) out["stages"] = report.matrix.stages;
    return out;
}

Json diagnostics_json(const std::vector<Diagnostic>& diagnostics) {
    return json_list(diagnostics, [&](const auto& diagnostic) {
        return Json{{"severity", to_string(diagnostic.severity)},
                    {"message", diagnostic.message},
                    {"file", diagnostic.where.file},
                    {"line", diagnostic.where.line},
                    {"column", diagnostic.where.column},
                    {"notes", diagnostic.notes},
                    {"fix", diagnostic.fix}};
    });
}

Json metric_json(const Metric& metric) {
    Json out{{"name", metric.name},
             {"value", metric.value},
             {"unit", metric.unit},
             {"n", metric.n},
             {"rsd", metric.rsd}};
    if (metric.roof.empty()) return out;
    out["roof"] = metric.roof;
    out["roof_value"] = metric.roof_value;
    out["ratio"] = metric.ratio;
    if (metric.goal > 0) out["goal"] = metric.goal;
    return out;
}

Json test_json(const TestResult& test) {
    return Json{{"id", test.id},
                {"part", test.part},
                {"status", to_string(test.status)},
                {"reason", test.reason},
                {"fault", test.fault},
                {"summary", test.summary},
                {"hint", test.hint},
                {"code_path", test.code_path},
                {"fatbin", test.fatbin},
                {"milliseconds", finite_seconds(test.milliseconds)},
                {"metrics", json_list(test.metrics, metric_json)},
                {"evidence", test.evidence}};
}

Json host_json(const HostInfo& host) {
    auto out = Json::object();
    for (const auto& line : host.lines) {
        Json entry{{"value", nullptr}, {"from", line.from}, {"used", line.used}};
        if (!line.value.empty()) entry["value"] = line.value;
        out[line.what] = std::move(entry);
    }
    out["notes"] = host.notes;
    return out;
}

std::string host_text(const HostInfo* host) {
    if (host == nullptr) return {};
    auto out = text::printable(host->who) + "\n";
    for (const auto& line : host->lines) {
        const auto said = line.value.empty()
                              ? fmt::format("not found: {}", line.from)
                              : fmt::format("{} ({}{})", line.value, line.from,
                                            line.used ? "" : "; not used: cells run in images");
        out += fmt::format("  {:<13}  {}\n", line.what, text::printable(said));
    }
    for (const auto& note : host->notes)
        out += "  note: " + text::printable(note) + "\n";
    return out + "\n";
}

std::uint64_t cell_count(const Judgement& judgement) {
    return std::accumulate(judgement.verdicts.begin(), judgement.verdicts.end(), std::uint64_t{0});
}

std::string verdict_counts(const std::array<std::uint64_t, 4>& verdicts) {
    std::vector<std::string> parts;
    for (const auto verdict : kOrder) {
        const auto cells = verdicts[static_cast<std::size_t>(verdict)];
        if (cells != 0) parts.push_back(fmt::format("{} {}", cells, to_string(verdict)));
    }
    return text::join(parts, ", ");
}

std::string verdicts_text(const Judgement& judgement) {
    const auto head = text::count(cell_count(judgement), "cell");
    const auto counts = verdict_counts(judgement.verdicts);
    return counts.empty() ? head : head + ": " + counts;
}

Json finding_json(const FindingGroup& group) {
    auto out = finding_json(group.finding);
    out["field"] = info(group.finding.primary).name;
    out["file"] = group.where.file;
    out["line"] = group.where.line;
    out["column"] = group.where.column;
    if (group.waived) {
        out["waived"] = Json{{"because", group.waived->because},
                             {"until", group.waived->until},
                             {"line", group.waived->where.line}};
    }
    return out;
}

}  // namespace cudamatrix::report
