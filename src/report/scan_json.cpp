#include <algorithm>
#include <set>

#include "report/cell_json.hpp"
#include "report/json_document.hpp"
#include "report/scan_report.hpp"

namespace cudamatrix::report {
namespace {

std::string_view kind_name(fatbin::Kind kind) {
    switch (kind) {
        case fatbin::Kind::sass:
            return "sass";
        case fatbin::Kind::ptx:
            return "ptx";
        case fatbin::Kind::lto:
            return "lto";
        case fatbin::Kind::other:
            break;
    }
    return "other";
}

std::string_view road_name(fatbin::Road road) {
    switch (road) {
        case fatbin::Road::sass:
            return "sass";
        case fatbin::Road::sass_same_major:
            return "sass_same_major";
        case fatbin::Road::ptx_jit:
            return "ptx_jit";
        case fatbin::Road::none:
            break;
    }
    return "none";
}

std::string_view outcome_name(scan::Outcome outcome) {
    switch (outcome) {
        case scan::Outcome::runs:
            return "runs";
        case scan::Outcome::no_code:
            return "no_code";
        case scan::Outcome::unknown:
            return "unknown";
        case scan::Outcome::no_kernels:
            break;
    }
    return "no_kernels";
}

// Architectures of one kind that are in containers with kernels, each once.
Json archs_of(const scan::Library& library, fatbin::Kind kind) {
    std::set<fatbin::Arch> archs;
    for (const auto& target : library.targets) {
        if (target.kind == kind && target.kernels) archs.insert(target.arch);
    }
    auto out = Json::array();
    for (const auto& arch : archs)
        out.push_back(fatbin::to_text(arch));
    return out;
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
    out["road"] = road_name(answer.cover.road);
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
        out[std::string(kind_name(kind))] = archs_of(library, kind);
    auto targets = Json::array();
    for (const auto& target : library.targets)
        targets.push_back(target_json(target));
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
    auto not_read = Json::array();
    for (const auto& each : scan.not_read)
        not_read.push_back(Json{{"path", each.path}, {"why", each.why}});
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
    document.begin_array("targets");
    for (const auto& scan : report.scans)
        document.element(scan_target_json(scan));
    document.end_array();
    document.begin_array("libraries");
    for (std::size_t i = 0; i < report.scans.size(); ++i) {
        for (std::size_t j = 0; j < report.scans[i].libraries.size(); ++j)
            document.element(library_json(report, i, j));
    }
    document.end_array();
    if (!report.questions.empty()) {
        document.begin_array("gpus");
        for (const auto& question : report.questions)
            document.element(question_json(question));
        document.end_array();
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
