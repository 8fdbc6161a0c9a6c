#include "report/formats.hpp"

#include <array>

#include "report/check.hpp"
#include "report/run.hpp"

namespace cudamatrix::report {

std::span<const CheckFormat> check_formats() {
    static constexpr std::array formats{
        CheckFormat{"text", "findings as a compiler prints them, and a table", check_text,
                    check_summary_text},
        CheckFormat{"json", "one JSON document", check_json, check_summary_json},
        CheckFormat{"github", "annotations of a GitHub workflow", check_github, nullptr},
    };
    return formats;
}

std::span<const ListFormat> list_formats() {
    static constexpr std::array formats{
        ListFormat{"text", "every cell with its verdict and fields",
                   [](const CheckReport& report) { return Result<std::string>(list_text(report)); },
                   [](const CheckReport& report, const ImagePlan& plan) {
                       return Result<std::string>(list_images_text(report, plan));
                   }},
        ListFormat{"json", "one JSON document",
                   [](const CheckReport& report) { return Result<std::string>(list_json(report)); },
                   [](const CheckReport& report, const ImagePlan& plan) {
                       return Result<std::string>(list_images_json(report, plan));
                   }},
        ListFormat{"github-matrix", "the accepted and degraded cells on one line, for fromJSON",
                   list_github_matrix, list_images_github_matrix},
    };
    return formats;
}

std::span<const RunFormat> run_formats() {
    static constexpr std::array formats{
        RunFormat{"text", "tables that fit a terminal", run_text},
        RunFormat{"json", "one JSON document",
                  [](const RunReport& report, const TextOptions&) { return run_json(report); }},
        RunFormat{"junit", "JUnit XML",
                  [](const RunReport& report, const TextOptions&) { return junit(report); }},
    };
    return formats;
}

std::span<const RejectionFormat> rejection_formats() {
    static constexpr std::array formats{
        RejectionFormat{"text", "a paragraph for each rejection", rejections_text},
        RejectionFormat{
            "json", "one JSON document",
            [](const RejectionReport& report, const TextOptions&) { return rejections_json(report); }},
        RejectionFormat{
            "junit", "JUnit XML",
            [](const RejectionReport& report, const TextOptions&) { return rejections_junit(report); }},
    };
    return formats;
}

std::span<const FactsFormat> facts_formats() {
    static constexpr std::array formats{
        FactsFormat{"text", "tables that fit a terminal", facts_text, fact_text, facts_search_text,
                    facts_check_text},
        FactsFormat{"json", "one JSON document", facts_json, fact_json, facts_search_json, facts_check_json},
    };
    return formats;
}

std::span<const RulesFormat> rules_formats() {
    static constexpr std::array formats{
        RulesFormat{"text", "a table, or one rule in words", rules_text, rule_text},
        RulesFormat{"json", "one JSON document", rules_json, rule_json},
    };
    return formats;
}

std::span<const ReportFormat<ScanReport>> scan_formats() {
    using Format = ReportFormat<ScanReport>;
    static constexpr std::array formats{
        Format{"text", "every library with its code, then the findings", scan_text},
        Format{"json", "one JSON document", scan_json},
    };
    return formats;
}

std::span<const ReportFormat<SuggestReport>> suggest_formats() {
    using Format = ReportFormat<SuggestReport>;
    static constexpr std::array formats{
        Format{"text", "stacks with their limits and rows, or why there is none", suggest_text},
        Format{"json", "one JSON document", suggest_json},
    };
    return formats;
}

std::span<const ReportFormat<ExplainReport>> explain_formats() {
    using Format = ReportFormat<ExplainReport>;
    static constexpr std::array formats{
        Format{"text", "a chain of facts, cell by cell", explain_text},
        Format{"json", "one JSON document", explain_json},
    };
    return formats;
}

std::span<const ReportFormat<LintReport>> lint_formats() {
    using Format = ReportFormat<LintReport>;
    static constexpr std::array formats{
        Format{"text", "findings as a compiler prints them", lint_text},
        Format{"json", "one JSON document, with the edits that fix each finding", lint_json},
        Format{"github", "annotations of a GitHub workflow", lint_github},
    };
    return formats;
}

std::string_view file_ending(std::string_view format) {
    struct Row {
        std::string_view format, ending;
    };
    static constexpr std::array rows{Row{"text", "txt"}, Row{"json", "json"}, Row{"junit", "xml"},
                                     Row{"github", "github.txt"}, Row{"github-matrix", "github-matrix.json"}};
    for (const auto& row : rows) {
        if (row.format == format) return row.ending;
    }
    return "txt";
}

}  // namespace cudamatrix::report
