#include <algorithm>

#include "base/text.hpp"
#include "knowledge/finding/finding_text.hpp"
#include "report/layout.hpp"
#include "report/scan_report.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kLines = 12;    // of one list of targets
constexpr std::size_t kNotRead = 10;  // files that are named: a folder that nobody may read has thousands
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
    if (!library.error.empty()) out += wrapped("damaged: " + library.error, kIndent, width, kLines);
    if (library.entries == 0 && library.error.empty()) out += wrapped("no device code", kIndent, width, 1);
    if (library.entries != 0) out += wrapped(where_line(library), kIndent, width, kLines);
    for (const bool kernels : {true, false}) {
        for (const auto kind :
             {fatbin::Kind::sass, fatbin::Kind::ptx, fatbin::Kind::lto, fatbin::Kind::other}) {
            const auto line = kind_line(library, kind, kernels);
            if (!line.empty())
                out += wrapped(kernels ? line : "without kernels: " + line, kIndent, width, kLines);
        }
    }
    for (const auto& answer : report.answers[scan_index]) {
        if (answer.library != index) continue;
        const auto& question = report.questions[answer.question];
        const auto on = question.driver.empty() ? question.gpu : question.gpu + ", " + question.driver;
        out += wrapped(fmt::format("{}: {}", on, answer.text), kIndent, width, kLines);
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

}  // namespace cudamatrix::report
