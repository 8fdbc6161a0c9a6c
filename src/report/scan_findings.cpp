#include "base/text.hpp"
#include "report/scan_report.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::string_view kRule = "library-has-code-for-gpu";

std::string without_none(std::string_view text) {
    constexpr std::string_view none = "none: ";
    if (text.starts_with(none)) text.remove_prefix(none.size());
    return std::string(text);
}

bool only_lto(const scan::Library& library) {
    return library.codes().empty() && library.has_kernels();
}

// Its PTX would do for the GPU, if the driver knew the ISA.
bool ptx_too_new(const scan::Library& library, const scan::Question& question) {
    if (!question.ptx_isa) return false;
    return fatbin::cover(library.codes(), question.arch, std::nullopt).road == fatbin::Road::ptx_jit;
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

}  // namespace cudamatrix::report
