#include "report/formats.hpp"

#include <array>

#include "matrix/matrix_text.hpp"
#include "report/cases.hpp"
#include "report/matrix_reports.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix::report {

std::span<const CheckFormat> check_formats() {
    static constexpr std::array formats{
        CheckFormat{"text", check_text, check_summary_text},
        CheckFormat{"json", check_json, check_summary_json},
        CheckFormat{"markdown", check_markdown, nullptr},
        CheckFormat{"github", check_github, nullptr},
        CheckFormat{"sarif", check_sarif, nullptr},
    };
    return formats;
}

std::span<const ListFormat> list_formats() {
    static constexpr std::array formats{
        ListFormat{"text", [](const CheckReport& report) { return Result<std::string>(list_text(report)); },
                   [](const CheckReport& report, const ImagePlan& plan, std::string_view /*runner*/) {
                       return Result<std::string>(list_images_text(report, plan));
                   }},
        ListFormat{"json", [](const CheckReport& report) { return Result<std::string>(list_json(report)); },
                   [](const CheckReport& report, const ImagePlan& plan, std::string_view /*runner*/) {
                       return Result<std::string>(list_images_json(report, plan));
                   }},
        ListFormat{"github-matrix", list_github_matrix, list_images_github_matrix},
        ListFormat{"matrix",
                   [](const CheckReport& report) { return Result<std::string>(matrix_text(report.matrix)); },
                   nullptr},
    };
    return formats;
}

std::span<const RunFormat> run_formats() {
    static constexpr std::array formats{
        RunFormat{"text", run_text},
        RunFormat{"json", [](const RunReport& report, const TextOptions&) { return run_json(report); }},
        RunFormat{"junit",
                  [](const RunReport& report, const TextOptions&) { return junit_text(cases_of(report)); }},
        RunFormat{"tap",
                  [](const RunReport& report, const TextOptions&) { return tap_text(cases_of(report)); }},
        RunFormat{"markdown",
                  [](const RunReport& report, const TextOptions&) { return run_markdown(report); }},
        RunFormat{"html", [](const RunReport& report, const TextOptions&) { return run_html(report); }},
    };
    return formats;
}

std::span<const RejectionFormat> rejection_formats() {
    static constexpr std::array formats{
        RejectionFormat{"text", rejections_text},
        RejectionFormat{"json", [](const RejectionReport& report,
                                   const TextOptions&) { return rejections_json(report); }},
        RejectionFormat{"junit", [](const RejectionReport& report,
                                    const TextOptions&) { return junit_text(cases_of(report)); }},
        RejectionFormat{"tap", [](const RejectionReport& report,
                                  const TextOptions&) { return tap_text(cases_of(report)); }},
    };
    return formats;
}

std::span<const FactsFormat> facts_formats() {
    static constexpr std::array formats{
        FactsFormat{"text", facts_text, fact_text, facts_search_text, facts_check_text, facts_mine_text},
        FactsFormat{"json", facts_json, fact_json, facts_search_json, facts_check_json, facts_mine_json},
    };
    return formats;
}

std::span<const RulesFormat> rules_formats() {
    static constexpr std::array formats{
        RulesFormat{"text", rules_text, rule_text},
        RulesFormat{"json", rules_json, rule_json},
    };
    return formats;
}

std::span<const KernelsFormat> kernels_formats() {
    static constexpr std::array formats{
        KernelsFormat{"text", kernels_text, kernel_text},
        KernelsFormat{"json", kernels_json, kernel_json},
    };
    return formats;
}

std::span<const ReportFormat<KernelsBuildReport>> kernels_build_formats() {
    using Format = ReportFormat<KernelsBuildReport>;
    static constexpr std::array formats{
        Format{"text", kernels_build_text},
        Format{"json", kernels_build_json},
    };
    return formats;
}

std::span<const ReportFormat<ScanReport>> scan_formats() {
    using Format = ReportFormat<ScanReport>;
    static constexpr std::array formats{
        Format{"text", scan_text},
        Format{"json", scan_json},
    };
    return formats;
}

std::span<const ReportFormat<DiffReport>> diff_formats() {
    using Format = ReportFormat<DiffReport>;
    static constexpr std::array formats{
        Format{"text", diff_text},
        Format{"json", diff_json},
        Format{"markdown", diff_markdown},
    };
    return formats;
}

std::span<const ReportFormat<UpgradeReport>> upgrade_formats() {
    using Format = ReportFormat<UpgradeReport>;
    static constexpr std::array formats{
        Format{"text", upgrade_text},
        Format{"json", upgrade_json},
        Format{"patch", upgrade_patch},
    };
    return formats;
}

std::span<const ReportFormat<ReviewReport>> review_formats() {
    using Format = ReportFormat<ReviewReport>;
    static constexpr std::array formats{
        Format{"text", review_text}, Format{"markdown", review_markdown}, Format{"html", review_html},
        Format{"json", review_json}, Format{"github-pr", review_comment},
    };
    return formats;
}

std::span<const ReportFormat<SuggestReport>> suggest_formats() {
    using Format = ReportFormat<SuggestReport>;
    static constexpr std::array formats{
        Format{"text", suggest_text},
        Format{"json", suggest_json},
    };
    return formats;
}

std::span<const ReportFormat<ExplainReport>> explain_formats() {
    using Format = ReportFormat<ExplainReport>;
    static constexpr std::array formats{
        Format{"text", explain_text},
        Format{"json", explain_json},
    };
    return formats;
}

std::span<const ReportFormat<AuditReport>> audit_formats() {
    using Format = ReportFormat<AuditReport>;
    static constexpr std::array formats{
        Format{"text", audit_text},
        Format{"json", audit_json},
        Format{"github", audit_github},
        Format{"sarif", audit_sarif},
    };
    return formats;
}

std::span<const ReportFormat<LintReport>> lint_formats() {
    using Format = ReportFormat<LintReport>;
    static constexpr std::array formats{
        Format{"text", lint_text},
        Format{"json", lint_json},
        Format{"github", lint_github},
        Format{"sarif", lint_sarif},
    };
    return formats;
}

std::span<const MeasureFormat> measure_formats() {
    static constexpr std::array formats{
        MeasureFormat{"text", measured_text, refreshed_text},
        MeasureFormat{"json", measured_json, refreshed_json},
    };
    return formats;
}

std::span<const TemplatesFormat> templates_formats() {
    static constexpr std::array formats{
        TemplatesFormat{"text", templates_text, template_text, template_check_text},
        TemplatesFormat{"json", templates_json, template_json, template_check_json},
    };
    return formats;
}

std::span<const ReportFormat<LockedReport>> lock_formats() {
    using Format = ReportFormat<LockedReport>;
    static constexpr std::array formats{Format{"text", locked_text}, Format{"json", locked_json}};
    return formats;
}

std::span<const ReportFormat<CleanReport>> clean_formats() {
    using Format = ReportFormat<CleanReport>;
    static constexpr std::array formats{Format{"text", clean_text}, Format{"json", clean_json}};
    return formats;
}

std::span<const ReportFormat<DoctorReport>> doctor_formats() {
    using Format = ReportFormat<DoctorReport>;
    static constexpr std::array formats{Format{"text", doctor_text}, Format{"json", doctor_json}};
    return formats;
}

std::span<const ReportFormat<SymptomReport>> symptom_formats() {
    using Format = ReportFormat<SymptomReport>;
    static constexpr std::array formats{Format{"text", symptom_text}, Format{"json", symptom_json}};
    return formats;
}

std::span<const ReportFormat<Rehearsal>> rehearsal_formats() {
    using Format = ReportFormat<Rehearsal>;
    static constexpr std::array formats{Format{"text", rehearsal_text}, Format{"json", rehearsal_json}};
    return formats;
}

std::span<const ReportFormat<SbomReport>> sbom_formats() {
    using Format = ReportFormat<SbomReport>;
    static constexpr std::array formats{Format{"text", sbom_text}, Format{"json", sbom_report_json}};
    return formats;
}

std::span<const ReportFormat<EmitReport>> emit_formats() {
    using Format = ReportFormat<EmitReport>;
    static constexpr std::array formats{Format{"text", emit_text}, Format{"json", emit_json}};
    return formats;
}

std::span<const ReportFormat<DriftReport>> drift_formats() {
    using Format = ReportFormat<DriftReport>;
    static constexpr std::array formats{Format{"text", drift_text}, Format{"json", drift_json}};
    return formats;
}

std::span<const ReportFormat<OriginReport>> origin_formats() {
    using Format = ReportFormat<OriginReport>;
    static constexpr std::array formats{Format{"text", origins_text}, Format{"json", origins_json}};
    return formats;
}

std::string_view file_ending(std::string_view format) {
    struct Row {
        std::string_view format, ending;
    };
    static constexpr std::array rows{Row{"text", "txt"},          Row{"json", "json"},
                                     Row{"junit", "xml"},         Row{"tap", "tap"},
                                     Row{"markdown", "md"},       Row{"html", "html"},
                                     Row{"patch", "patch"},       Row{"github-pr", "github-pr.md"},
                                     Row{"github", "github.txt"}, Row{"github-matrix", "github-matrix.json"},
                                     Row{"sarif", "sarif"},       Row{"matrix", "yaml"}};
    for (const auto& row : rows) {
        if (row.format == format) return row.ending;
    }
    return "txt";
}

}  // namespace cudamatrix::report
