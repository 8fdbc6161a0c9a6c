#include "run/job/suite_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.hpp"
#include "base/text.hpp"
#include "run/job/suite_metrics.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::size_t kMostLines = 4000;
constexpr std::size_t kMostTests = 1000;
constexpr std::size_t kMostProblems = 20;
constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kMostCodes = 200;

// Why a test may be skipped: a closed set, so that an image cannot invent an excuse.
constexpr std::array<std::string_view, 16> kSkipReasons{
    "no_device",  "cc_too_low",   "cuda_too_old",  "driver_too_old", "lib_absent", "not_in_cell",
    "no_nvcc",    "needs_2_gpus", "mig",           "no_nvml",        "level",      "wrong_arch_variant",
    "deselected", "quarantined",  "prereq_failed", "no_compiler"};

// Fit for reports and terminals: printable, bounded.
std::string clean(std::string_view text) {
    auto cut = text.substr(0, kLongestText);
    // Not in the middle of a character.
    while (!cut.empty() && cut.size() < text.size() &&
           (static_cast<unsigned char>(text[cut.size()]) & 0xC0) == 0x80) {
        cut.remove_suffix(1);
    }
    return text::printable(cut);
}

bool is_test_id(std::string_view id) {
    return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    });
}

double milliseconds(const Json& json) {
    if (!json.contains("t_ms") || !json["t_ms"].is_number()) return 0;
    const double value = json["t_ms"].get<double>();
    return std::isfinite(value) && value >= 0 && value < 1e9 ? value : 0;
}

const Json* member(const Json& json, const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return found == json.end() ? nullptr : &*found;
}

// Evidence as text: strings as they are, everything else as JSON.
std::string evidence_text(const Json& evidence) {
    std::string text;
    for (const auto& [name, value] : evidence.items()) {
        if (name == "fatbin" || name == "code_path" || name == "files") continue;
        if (!text.empty()) text += "; ";
        text += name + ": " + (value.is_string() ? value.get<std::string>() : to_text(value, false));
        if (text.size() > kLongestText) break;
    }
    return clean(text);
}

void take_codes(const Json& holder, TestResult& test) {
    const auto* codes = member(holder, "fatbin");
    if (codes == nullptr || !codes->is_array()) return;
    for (const auto& code : *codes) {
        if (code.is_string() && test.fatbin.size() < kMostCodes)
            test.fatbin.push_back(clean(code.get<std::string>()));
    }
}

// The device code that a test found: its own programs', else that of the first file it was asked to look
// into.
void take_code(const Json& evidence, TestResult& test) {
    test.code_path = clean(string_or(evidence, "code_path"));
    take_codes(evidence, test);
    if (const auto* library = member(evidence, "libtorch_cuda")) take_codes(*library, test);
    const auto* files = member(evidence, "files");
    if (files == nullptr || !files->is_array()) return;
    for (const auto& file : *files) {
        if (test.code_path.empty()) test.code_path = clean(string_or(file, "code_path"));
        if (test.fatbin.empty()) take_codes(file, test);
    }
}

// Only a GPU shows how fast a GPU is. A pass must say what it compared, and all of it must hold.
std::string contradiction(const Json& json, TestStatus status) {
    const auto metrics = metrics_from(json);
    if (!metrics) return "has metrics that cannot be read";
    if (!metrics->empty() && string_or(json, "part") != "gpu") return "has metrics and ran on no GPU";
    if (status != TestStatus::pass) return {};
    const auto* checks = member(json, "checks");
    if (checks == nullptr || !checks->is_array() || checks->empty()) return "says pass and lists no check";
    for (const auto& check : *checks) {
        const auto* ok = member(check, "ok");
        if (ok == nullptr || *ok != true)
            return "says pass, and its check " + clean(string_or(check, "name")) + " does not hold";
    }
    return {};
}

TestResult result_from(const Json& json, TestStatus status) {
    TestResult test;
    test.id = string_or(json, "id");
    test.part = clean(string_or(json, "part"));
    test.status = status;
    test.reason = clean(string_or(json, "reason"));
    test.fault = clean(string_or(json, "fault"));
    test.summary = clean(string_or(json, "summary"));
    test.hint = clean(string_or(json, "hint"));
    test.milliseconds = milliseconds(json);
    if (test.part == "gpu") test.metrics = metrics_from(json).value_or(std::vector<Metric>{});
    if (const auto* evidence = member(json, "evidence"); evidence != nullptr && evidence->is_object()) {
        take_code(*evidence, test);
        test.evidence = evidence_text(*evidence);
    }
    return test;
}

}  // namespace

struct SuiteReader::Line {
    Json json;
};

SuiteReader::SuiteReader(SuiteExpectation expectation) : expectation_(std::move(expectation)) {}

void SuiteReader::problem(std::string text) {
    if (output_.problems.size() < kMostProblems) output_.problems.push_back(std::move(text));
}

void SuiteReader::take(std::string_view line, std::size_t number) {
    if (++lines_ > kMostLines) {
        if (lines_ == kMostLines + 1) problem(fmt::format("more than {} lines", kMostLines));
        return;
    }
    number_ = number != 0 ? number : lines_;
    if (text::trim(line).empty()) return;
    if (line.size() >= kLongestLine) return problem(fmt::format("line {} is longer than 64 KiB", number_));
    auto json = parse_json(line, "suite");
    if (!json.ok() || !json->is_object()) {
        return problem(fmt::format("line {} is not a JSON object: {}", number_, clean(line.substr(0, 80))));
    }
    const auto* v = member(*json, "v");
    if (v == nullptr || *v != 1) return problem(fmt::format("line {} is not of version 1", number_));
    if (totalled_) return problem(fmt::format("line {} comes after the totals", number_));
    if (string_or(*json, "run") != expectation_.run_id || string_or(*json, "cell") != expectation_.cell_id) {
        return problem(fmt::format("line {} is about another run or cell", number_));
    }
    const Line parsed{std::move(*json)};
    if (parsed.json.contains("plan")) return take_plan(parsed);
    if (!planned_) return problem(fmt::format("line {} comes before the plan", number_));
    if (parsed.json.contains("totals")) return take_totals(parsed);
    take_result(parsed);
}

void SuiteReader::take_plan(const Line& line) {
    if (planned_) return problem(fmt::format("line {} is a second plan", number_));
    planned_ = true;
    const auto& plan = line.json["plan"];
    if (!plan.is_array() || plan.size() > kMostTests) return problem("the plan is not a list of tests");
    const auto* parts = member(line.json, "parts");
    for (const auto& item : plan) {
        const auto id = item.is_string() ? item.get<std::string>() : std::string{};
        const auto* of_test = parts == nullptr ? nullptr : member(*parts, id.c_str());
        if (!is_test_id(id) || of_test == nullptr || !of_test->is_array() || of_test->empty()) {
            problem("the plan holds something that is not a test with its parts");
            continue;
        }
        for (const auto& part : *of_test) {
            const auto name = part.is_string() ? part.get<std::string>() : std::string{};
            if (!is_test_id(name) || plan_.size() >= kMostTests || !plan_.insert({id, name}).second) {
                problem(fmt::format("the plan of {} cannot be read", id));
            }
        }
    }
    for (const auto& id : expectation_.required) {
        const auto of_test = plan_.lower_bound({id, ""});
        if (of_test == plan_.end() || of_test->first != id) problem(fmt::format("the plan lacks {}", id));
    }
}

void SuiteReader::take_totals(const Line& line) {
    totalled_ = true;
    const auto& totals = line.json["totals"];
    if (!totals.is_object()) return problem("the totals are not an object");
    const auto* exit = member(line.json, "exit");
    if (exit == nullptr || !exit->is_number_integer()) return problem("the totals do not say the exit code");
    stated_exit_ = exit->get<std::int64_t>();
    for (const auto status : kTestStatuses) {
        const auto counted = std::ranges::count_if(
            output_.tests, [&](const TestResult& test) { return test.status == status; });
        const auto* stated = member(totals, std::string(to_string(status)).c_str());
        const bool agrees =
            stated == nullptr ? counted == 0 : stated->is_number_integer() && *stated == counted;
        if (!agrees) {
            problem(fmt::format("the totals say {} {}, the lines say {}",
                                stated == nullptr ? "no" : clean(to_text(*stated, false)), to_string(status),
                                counted));
        }
    }
}

void SuiteReader::take_result(const Line& line) {
    const auto& json = line.json;
    const auto id = string_or(json, "id");
    if (!is_test_id(id)) return problem(fmt::format("line {} has no test's id", number_));
    const auto part = string_or(json, "part");
    if (plan_.count({id, part}) == 0) {
        return problem(fmt::format("{} was not planned", clean(part.empty() ? id : id + "/" + part)));
    }
    const auto status = value_named(string_or(json, "status"), kTestStatuses);
    if (!status)
        return problem(fmt::format("{} has no known status: {}", id, clean(string_or(json, "status"))));
    auto test = result_from(json, *status);
    if (output_.tests.size() >= kMostTests) return problem("too many results");
    if (!seen_.insert({id, part}).second) return problem(fmt::format("{}/{} has two results", id, part));
    if (const auto why = contradiction(json, *status); !why.empty())
        problem(fmt::format("{}/{} {}", id, part, why));
    if (test.status == TestStatus::skip &&
        std::ranges::find(kSkipReasons, test.reason) == kSkipReasons.end()) {
        problem(fmt::format("{} was skipped for a reason that does not exist: {}", id, test.reason));
    }
    if (const auto* gpu = member(json, "gpu"); gpu != nullptr && gpu->is_object()) {
        output_.gpu = true;
        output_.gpu_seen = {0, clean(string_or(*gpu, "name", "GPU")), clean(string_or(*gpu, "cc", "?")),
                            clean(string_or(*gpu, "driver", "?"))};
        const auto& seen = output_.gpu_seen;
        output_.device =
            fmt::format("{}, compute capability {}, driver {}", seen.name, seen.compute, seen.driver);
    }
    output_.tests.push_back(std::move(test));
}

std::optional<int> SuiteReader::stated_exit() const {
    if (!totalled_ || stated_exit_ < 0 || stated_exit_ > 255) return std::nullopt;
    return static_cast<int>(stated_exit_);
}

SuiteOutput SuiteReader::finish(std::optional<int> exit_code) && {
    if (!planned_) {
        problem(lines_ == 0 ? "the suite printed nothing" : "there is no plan");
    } else {
        for (const auto& item : plan_) {
            if (seen_.count(item) == 0) {
                problem(fmt::format("{}/{} was planned and has no result", item.first, item.second));
            }
        }
        if (!totalled_) problem("the totals are missing: the suite did not come to its end");
    }
    // The exit code is a second witness: 0 and 4 say that nothing was red.
    if (exit_code && totalled_ && stated_exit_ != *exit_code) {
        problem(fmt::format("the totals say exit code {}, it was {}", stated_exit_, *exit_code));
    }
    const bool red = std::ranges::any_of(output_.tests, [](const TestResult& test) {
        return test.status != TestStatus::pass && test.status != TestStatus::skip;
    });
    if (exit_code && !red && *exit_code != 0 && *exit_code != 4) {
        problem(fmt::format("no test is red, but the suite ended with exit code {}", *exit_code));
    }
    if (exit_code && red && (*exit_code == 0 || *exit_code == 4)) {
        problem(fmt::format("a test is red, but the suite ended with exit code {}", *exit_code));
    }
    return std::move(output_);
}

void conclude(const SuiteOutput& output, bool gpu_given, CellResult& cell) {
    cell.tests = output.tests;
    const auto first = [&](auto&& wanted) {
        return std::ranges::find_if(output.tests,
                                    [&](const TestResult& test) { return wanted(test.status); });
    };
    const auto text = [](const TestResult& test) {
        return fmt::format("{}{}: {}", test.id, test.fault.empty() ? "" : " (" + test.fault + ")",
                           test.summary.empty() ? std::string(to_string(test.status)) : test.summary);
    };
    const auto failed = first([](TestStatus s) {
        return s == TestStatus::fail || s == TestStatus::crash || s == TestStatus::timeout;
    });
    const auto errored = first([](TestStatus s) { return s == TestStatus::error; });
    if (failed != output.tests.end()) {
        cell.outcome = CellOutcome::failed;
        cell.reason = text(*failed);
        return;
    }
    if (!output.problems.empty()) {
        cell.outcome = CellOutcome::failed;
        cell.reason = fmt::format("the suite's output cannot be believed: {}", output.problems.front());
        if (output.problems.size() > 1)
            cell.reason += fmt::format(" (and {} more)", output.problems.size() - 1);
        return;
    }
    if (errored != output.tests.end()) {
        cell.outcome = CellOutcome::errored;
        cell.reason = text(*errored);
        return;
    }
    const bool any_passed = first([](TestStatus s) { return s == TestStatus::pass; }) != output.tests.end();
    if (!any_passed) {
        cell.outcome = CellOutcome::failed;
        cell.reason = "every test was skipped: nothing was proved";
        return;
    }
    const auto passed_on = [&](std::string_view part) {
        return std::ranges::any_of(output.tests, [&](const TestResult& test) {
            return test.part == part && test.status == TestStatus::pass && !test.id.starts_with("dev.");
        });
    };
    const bool ran = gpu_given && passed_on("gpu");
    cell.outcome = ran ? CellOutcome::passed : CellOutcome::passed_without_gpu;
    cell.proof = ran ? Proof::ran : passed_on("interpreted") ? Proof::interpreted : Proof::loaded;
}

}  // namespace cudamatrix::job
