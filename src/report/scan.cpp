#include "report/run_reports.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::string_view kRule = "library-has-code-for-gpu";

std::string without_none(std::string_view text) {
    constexpr std::string_view none = "none: ";
    if (text.starts_with(none)) text.remove_prefix(none.size());
    return std::string(text);
}

bool only_lto(const scan::Library& library) {
    return library.offer.all().empty() && library.has_kernels();
}

// Its PTX would do for the GPU, if the driver knew the ISA.
bool ptx_too_new(const scan::Library& library, const scan::Question& question) {
    if (!question.ptx_isa) return false;
    return fatbin::cover(library.offer, question.arch, std::nullopt).code_path == fatbin::CodePath::ptx_jit;
}

Finding finding_of(const scan::Library& library, const scan::Question& question, const scan::Answer& answer) {
    Finding finding;
    finding.rule = kRule;
    finding.stage = Stage::runtime;
    finding.primary = Field::gpu;
    finding.about = {Field::gpu};
    const auto name = text::printable(library.path);
    const auto on = question.driver.empty() ? question.gpu : question.gpu + ", " + question.driver;
    if (answer.outcome == scan::Outcome::unknown) {
        finding.severity = Severity::unknown;
        finding.message =
            fmt::format("{}: whether it has code for {} is unknown: {}", name, on,
                        library.error.empty() ? "no fact says which PTX the driver compiles, and it has "
                                                "nothing else (" +
                                                    answer.cover.text + ")"
                                              : library.error);
        return finding;
    }
    finding.severity = only_lto(library) ? Severity::warning : Severity::error;
    finding.message = fmt::format("{} has no code for {}: {}", name, on, without_none(answer.text));
    const auto number = fatbin::sm_number(question.arch);
    finding.fixes.push_back(
        {fmt::format("a build of it with sm_{}, or with PTX of compute_{} or lower", number, number), {}});
    return finding;
}

}  // namespace

std::vector<ScanFinding> scan_findings(const ScanReport& report, const std::vector<FactRef>& ptx_facts) {
    std::vector<ScanFinding> findings;
    for (std::size_t i = 0; i < report.scans.size(); ++i) {
        for (const auto& answer : report.answers[i]) {
            if (answer.outcome != scan::Outcome::no_code && answer.outcome != scan::Outcome::unknown)
                continue;
            const auto& library = report.scans[i].libraries[answer.library];
            const auto& question = report.questions[answer.question];
            ScanFinding found{{finding_of(library, question, answer), Location{library.path}, 1, {}, {}},
                              i,
                              answer.library,
                              answer.question};
            auto& facts = found.group.finding.facts;
            facts = report.question_facts[answer.question];
            if (ptx_too_new(library, question)) facts.insert(facts.end(), ptx_facts.begin(), ptx_facts.end());
            findings.push_back(std::move(found));
        }
    }
    return findings;
}

namespace {

constexpr std::size_t kScanIndent = 4;
constexpr std::size_t kScanLines = 12;  // of one list of targets
constexpr std::size_t kNotRead = 10;    // files that are named: a folder that nobody may read has thousands
constexpr std::string_view kCompressed = "COMPRESSED";

std::string code_text(const scan::Target& target) {
    if (target.kind == fatbin::Kind::other)
        return fmt::format("other 0x{:x} {}", target.raw_kind, fatbin::to_text(target.arch));
    return fatbin::to_text(fatbin::Code{target.kind, target.arch, target.isa});
}

// "sass 7.5, 8.0, 9.0a": all of one kind on one line, without their entries.
std::string kind_line(const scan::Library& library, fatbin::Kind kind, bool kernels) {
    std::string head;
    std::vector<std::string> parts;
    for (const auto& target : library.targets) {
        if (target.kind != kind || target.kernels != kernels) continue;
        const auto text = code_text(target);
        const auto blank = text.find(' ');
        head = text.substr(0, blank);
        parts.push_back(text.substr(blank + 1));
    }
    return parts.empty() ? std::string() : head + " " + text::join(parts, ", ");
}

std::string where_line(const scan::Library& library) {
    auto out = fmt::format("{} in {} of {}", text::human_bytes(library.bytes),
                           library.entries == 1 ? "1 entry" : fmt::format("{} entries", library.entries),
                           text::count(library.containers, "container"));
    if (!library.sections.empty()) out += " (" + text::join(library.sections, ", ") + ")";
    if (library.hidden_containers != 0)
        out += fmt::format(", {} outside of the usual sections", library.hidden_containers);
    if (library.containers_without_kernels != 0)
        out += fmt::format(", {} without kernels", library.containers_without_kernels);
    if (library.members != 0)
        out += fmt::format("; {} of {} have code", library.members_with_code,
                           text::count(library.members, "member"));
    return out;
}

std::string library_text(const ScanReport& report, std::size_t scan_index, std::size_t index) {
    const auto& library = report.scans[scan_index].libraries[index];
    const auto width = report.text.width;
    auto out = text::printable(library.path) + "\n";
    if (!library.error.empty()) out += wrapped("damaged: " + library.error, kScanIndent, width, kScanLines);
    if (library.entries == 0 && library.error.empty())
        out += wrapped("no device code", kScanIndent, width, 1);
    if (library.entries != 0) out += wrapped(where_line(library), kScanIndent, width, kScanLines);
    for (const bool kernels : {true, false}) {
        for (const auto kind :
             {fatbin::Kind::sass, fatbin::Kind::ptx, fatbin::Kind::lto, fatbin::Kind::other}) {
            const auto line = kind_line(library, kind, kernels);
            if (!line.empty())
                out += wrapped(kernels ? line : "without kernels: " + line, kScanIndent, width, kScanLines);
        }
    }
    for (const auto& answer : report.answers[scan_index]) {
        if (answer.library != index) continue;
        const auto& question = report.questions[answer.question];
        const auto on = question.driver.empty() ? question.gpu : question.gpu + ", " + question.driver;
        out += wrapped(fmt::format("{}: {}", on, answer.text), kScanIndent, width, kScanLines);
    }
    return out;
}

std::string target_table(const scan::Library& library, const TextOptions& options) {
    TextTable table({{"CODE"}, {"ENTRIES", true}, {"SIZE", true}, {std::string(kCompressed), true}});
    for (const auto& target : library.targets) {
        table.add({code_text(target) + (target.kernels ? "" : " (without kernels)"),
                   std::to_string(target.entries), text::human_bytes(target.bytes),
                   std::to_string(target.compressed)});
    }
    return table.render(options.width, options.colour);
}

std::string heading(const scan::Scan& scan) {
    std::uint64_t bytes = 0;
    std::size_t libraries = 0;
    for (const auto& library : scan.libraries) {
        bytes += library.bytes;
        if (library.entries != 0) ++libraries;
    }
    return fmt::format("{} ({}): {}, {} with device code, {} of it\n", text::printable(scan.target),
                       scan.kind, text::count(scan.files, "file"), libraries, text::human_bytes(bytes));
}

std::string not_read_text(const scan::Scan& scan) {
    std::string out;
    for (std::size_t i = 0; i < std::min(scan.not_read.size(), kNotRead); ++i) {
        out += fmt::format("not read: {}: {}\n", text::printable(scan.not_read[i].path),
                           text::printable(scan.not_read[i].why));
    }
    if (scan.not_read.size() > kNotRead)
        out += fmt::format("not read: {} more\n", scan.not_read.size() - kNotRead);
    return out;
}

std::string finding_text(const ScanFinding& found, bool colour) {
    const auto& finding = found.group.finding;
    Diagnostic out{finding.severity, found.group.where,
                   fmt::format("{} [{}, at {}]", finding.message, finding.rule, to_string(finding.stage)),
                   fact_notes(finding), finding.fix_text()};
    return render(out, {}, colour);
}

}  // namespace

std::string scan_text(const ScanReport& report) {
    std::string out;
    std::size_t libraries = 0;
    for (std::size_t i = 0; i < report.scans.size(); ++i) {
        const auto& scan = report.scans[i];
        if (i != 0) out += "\n";
        if (scan.kind != "file") out += heading(scan);
        for (const auto& note : scan.notes)
            out += text::printable(note) + "\n";
        out += not_read_text(scan);
        for (std::size_t j = 0; j < scan.libraries.size(); ++j)
            out += library_text(report, i, j);
        libraries += scan.libraries.size();
    }
    if (libraries == 1) {
        for (const auto& scan : report.scans) {
            if (!scan.libraries.empty() && !scan.libraries.front().targets.empty())
                out += "\n" + target_table(scan.libraries.front(), report.text);
        }
    }
    if (!report.findings.empty()) out += "\n";
    for (const auto& finding : report.findings)
        out += finding_text(finding, report.text.colour);
    return out;
}

namespace {

std::string_view kind_name(fatbin::Kind kind) {
    return std::array{"sass", "ptx", "lto", "other"}[static_cast<std::size_t>(kind)];
}

std::string_view code_path_name(fatbin::CodePath code_path) {
    return std::array{"sass", "sass_same_major", "ptx_jit", "none"}[static_cast<std::size_t>(code_path)];
}

std::string_view outcome_name(scan::Outcome outcome) {
    return std::array{"runs", "no_code", "unknown", "no_kernels"}[static_cast<std::size_t>(outcome)];
}

Json target_json(const scan::Target& target) {
    Json out{{"kind", kind_name(target.kind)}, {"arch", fatbin::to_text(target.arch)}};
    if (target.kind == fatbin::Kind::ptx) out["isa"] = fatbin::to_text(target.isa);
    if (target.kind == fatbin::Kind::other) out["number"] = target.raw_kind;
    out["entries"] = target.entries;
    out["bytes"] = target.bytes;
    out["compressed"] = target.compressed;
    out["kernels"] = target.kernels;
    return out;
}

Json answer_json(const ScanReport& report, const scan::Answer& answer) {
    const auto& question = report.questions[answer.question];
    Json out{{"gpu", question.gpu}, {"compute", fatbin::to_text(question.arch)}};
    if (!question.driver.empty()) out["driver"] = question.driver;
    out["outcome"] = outcome_name(answer.outcome);
    out["code_path"] = code_path_name(answer.cover.code_path);
    out["text"] = answer.text;
    return out;
}

Json library_json(const ScanReport& report, std::size_t scan_index, std::size_t index) {
    const auto& library = report.scans[scan_index].libraries[index];
    Json out{{"target", report.scans[scan_index].target},
             {"path", library.path},
             {"size", library.size},
             {"entries", library.entries},
             {"bytes", library.bytes},
             {"containers", library.containers},
             {"containers_without_kernels", library.containers_without_kernels},
             {"hidden_containers", library.hidden_containers},
             {"members", library.members},
             {"members_with_code", library.members_with_code},
             {"searched", library.searched},
             {"sections", library.sections}};
    for (const auto kind : {fatbin::Kind::sass, fatbin::Kind::ptx, fatbin::Kind::lto})
        out[std::string(kind_name(kind))] = library.architectures(kind);
    auto targets = json_list(library.targets, target_json);
    out["targets"] = std::move(targets);
    if (!report.questions.empty()) {
        auto answers = Json::array();
        for (const auto& answer : report.answers[scan_index]) {
            if (answer.library == index) answers.push_back(answer_json(report, answer));
        }
        out["answers"] = std::move(answers);
    }
    if (!library.error.empty()) out["error"] = library.error;
    return out;
}

Json scan_target_json(const scan::Scan& scan) {
    auto not_read = json_list(scan.not_read, [&](const auto& each) {
        return Json{{"path", each.path}, {"why", each.why}};
    });
    return Json{{"target", scan.target},
                {"kind", scan.kind},
                {"files", scan.files},
                {"not_read", std::move(not_read)},
                {"notes", scan.notes}};
}

Json question_json(const scan::Question& question) {
    Json out{{"gpu", question.gpu}, {"compute", fatbin::to_text(question.arch)}};
    if (!question.driver.empty()) out["driver"] = question.driver;
    if (question.ptx_isa) out["ptx_isa"] = fatbin::to_text(*question.ptx_isa);
    return out;
}

}  // namespace

std::string scan_json(const ScanReport& report) {
    JsonDocument document(report.tool);
    document.member("deep", report.deep);
    document.array("targets", report.scans, scan_target_json);
    document.begin_array("libraries");
    for (std::size_t i = 0; i < report.scans.size(); ++i) {
        for (std::size_t j = 0; j < report.scans[i].libraries.size(); ++j)
            document.element(library_json(report, i, j));
    }
    document.end_array();
    if (!report.questions.empty()) {
        document.array("gpus", report.questions, question_json);
        document.begin_array("findings");
        for (const auto& finding : report.findings) {
            auto out = finding_json(finding.group);
            const auto& question = report.questions[finding.question];
            out["target"] = report.scans[finding.scan].target;
            out["library"] = report.scans[finding.scan].libraries[finding.library].path;
            out["gpu"] = question.gpu;
            if (!question.driver.empty()) out["driver"] = question.driver;
            document.element(out);
        }
        document.end_array();
    }
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
