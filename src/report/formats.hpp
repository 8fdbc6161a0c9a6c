// THE list of report formats: for every kind of report its formats and their writers. A new format is one
// writer and one row.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "render/image/image_plan.hpp"
#include "report/audit.hpp"
#include "report/diff.hpp"
#include "report/doctor.hpp"
#include "report/emit.hpp"
#include "report/inputs.hpp"
#include "report/knowledge_reports.hpp"
#include "report/matrix_reports.hpp"
#include "report/rehearsal.hpp"
#include "report/results.hpp"
#include "report/review.hpp"
#include "report/run_reports.hpp"
#include "report/sbom.hpp"
#include "report/symptom.hpp"
#include "report/upgrade.hpp"

namespace cudamatrix::report {

/// One way to write a report; `Options` are what its writers want besides the report.
template <class Report, class... Options>
struct ReportFormat {
    std::string_view name;
    std::string (*write)(const Report&, const Options&...);
};

using RunFormat = ReportFormat<RunReport, TextOptions>;
using RejectionFormat = ReportFormat<RejectionReport, TextOptions>;

struct CheckFormat {
    std::string_view name;
    std::string (*write)(const CheckReport&);
    std::string (*write_summary)(const CheckReport&);  ///< nullptr: the format has no --summary
};

struct ListFormat {
    std::string_view name;
    Result<std::string> (*write)(const CheckReport&);
    /// nullptr: the format has no --images
    Result<std::string> (*write_images)(const CheckReport&, const ImagePlan&, std::string_view runner);
};

struct FactsFormat {
    std::string_view name;
    std::string (*write)(const FactsReport&);
    Result<std::string> (*write_one)(const FactsReport&, std::string_view id);
    std::string (*write_search)(const FactsReport&, const FactsFound&);
    std::string (*write_check)(const FactsReport&);  ///< of facts without a mistake
    std::string (*write_mine)(const FactsReport&, std::string_view folder);
};

struct RulesFormat {
    std::string_view name;
    std::string (*write)(const RulesReport&);
    Result<std::string> (*write_one)(const RulesReport&, std::string_view id);
};

struct KernelsFormat {
    std::string_view name;
    std::string (*write)(const KernelsReport&);
    Result<std::string> (*write_some)(const KernelsReport&, const std::vector<std::string>& ids);
};

struct TemplatesFormat {
    std::string_view name;
    std::string (*write)(const TemplatesReport&);
    std::string (*write_one)(const mustache::Library::Listed&);
    std::string (*write_check)(const TemplateCheck&);  ///< of templates without a mistake
};

struct MeasureFormat {
    std::string_view name;
    std::string (*write)(const MeasureReport&);
    std::string (*write_refresh)(const RefreshReport&);
};

/// The first format of each list is the default.
[[nodiscard]] std::span<const CheckFormat> check_formats();
[[nodiscard]] std::span<const ListFormat> list_formats();
[[nodiscard]] std::span<const RunFormat> run_formats();
/// Names of run_formats(), for one option serves both reports of `test`; not all of them.
[[nodiscard]] std::span<const RejectionFormat> rejection_formats();
[[nodiscard]] std::span<const FactsFormat> facts_formats();
[[nodiscard]] std::span<const RulesFormat> rules_formats();
[[nodiscard]] std::span<const KernelsFormat> kernels_formats();
[[nodiscard]] std::span<const ReportFormat<KernelsBuildReport>> kernels_build_formats();
[[nodiscard]] std::span<const ReportFormat<ScanReport>> scan_formats();
[[nodiscard]] std::span<const ReportFormat<DiffReport>> diff_formats();
[[nodiscard]] std::span<const ReportFormat<UpgradeReport>> upgrade_formats();
[[nodiscard]] std::span<const ReportFormat<ReviewReport>> review_formats();
[[nodiscard]] std::span<const ReportFormat<SuggestReport>> suggest_formats();
[[nodiscard]] std::span<const ReportFormat<ExplainReport>> explain_formats();
[[nodiscard]] std::span<const ReportFormat<AuditReport>> audit_formats();
[[nodiscard]] std::span<const ReportFormat<LintReport>> lint_formats();
[[nodiscard]] std::span<const MeasureFormat> measure_formats();
[[nodiscard]] std::span<const TemplatesFormat> templates_formats();
[[nodiscard]] std::span<const ReportFormat<LockedReport>> lock_formats();
[[nodiscard]] std::span<const ReportFormat<CleanReport>> clean_formats();
[[nodiscard]] std::span<const ReportFormat<DoctorReport>> doctor_formats();
/// Names of doctor_formats(), for one option serves both.
[[nodiscard]] std::span<const ReportFormat<SymptomReport>> symptom_formats();
[[nodiscard]] std::span<const ReportFormat<SbomReport>> sbom_formats();
/// Names of drift_formats(), for one option serves both.
[[nodiscard]] std::span<const ReportFormat<EmitReport>> emit_formats();
/// Of --dry-run: names of run_formats(), for one option serves both.
[[nodiscard]] std::span<const ReportFormat<Rehearsal>> rehearsal_formats();
/// Of render --check and --explain: names of run_formats(), for one option serves all three; not all of them.
[[nodiscard]] std::span<const ReportFormat<DriftReport>> drift_formats();
[[nodiscard]] std::span<const ReportFormat<OriginReport>> origin_formats();

/// How the file of a report in that format ends: "txt", "json", "xml", "github.txt".
[[nodiscard]] std::string_view file_ending(std::string_view format);

/// "text, json, github": for help and messages.
template <class Format>
[[nodiscard]] std::vector<std::string> names_of(std::span<const Format> formats) {
    std::vector<std::string> names;
    for (const auto& format : formats)
        names.emplace_back(format.name);
    return names;
}

/// The format of that name, nullptr when there is none.
template <class Format>
[[nodiscard]] const Format* format_named(std::span<const Format> formats, std::string_view name) {
    const auto found = std::ranges::find_if(formats, [&](const Format& f) { return f.name == name; });
    return found == formats.end() ? nullptr : &*found;
}

}  // namespace cudamatrix::report
