#include "run/job/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "report/json.hpp"
#include "run/job/suite_metrics.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::uint64_t kLargestJournal = 256u << 20;

double number_or_zero(const Json& json, const char* name) {
    return json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0.0;
}

std::optional<TestResult> test_from(const Json& json) {
    if (!json.is_object()) return std::nullopt;
    const auto status = value_named(string_or(json, "status"), kTestStatuses);
    auto metrics = metrics_from(json);
    if (!status || !metrics) return std::nullopt;
    TestResult test{string_or(json, "id"),
                    string_or(json, "part"),
                    *status,
                    string_or(json, "reason"),
                    string_or(json, "fault"),
                    string_or(json, "summary"),
                    string_or(json, "hint"),
                    string_or(json, "code_path"),
                    {},
                    string_or(json, "evidence"),
                    number_or_zero(json, "milliseconds"),
                    std::move(*metrics)};
    if (json.contains("fatbin") && json["fatbin"].is_array()) {
        for (const auto& code : json["fatbin"]) {
            if (code.is_string()) test.fatbin.push_back(code.get<std::string>());
        }
    }
    return test;
}

std::optional<CellResult> result_from(const Json& json) {
    if (!json.is_object() || !json.contains("v") || json["v"] != 1) return std::nullopt;
    const auto outcome = value_named(string_or(json, "outcome"), kCellOutcomes);
    const auto proof = value_named(string_or(json, "proof"), kProofs);
    if (!outcome || !proof || !json.contains("tests") || !json["tests"].is_array()) return std::nullopt;
    CellResult result;
    result.id = string_or(json, "cell");
    result.outcome = *outcome;
    result.proof = *proof;
    result.reason = string_or(json, "reason");
    result.log = string_or(json, "log");
    result.seconds = number_or_zero(json, "seconds");
    for (const auto& test : json["tests"]) {
        auto one = test_from(test);
        if (!one) return std::nullopt;
        result.tests.push_back(std::move(*one));
    }
    return result;
}

std::optional<StepRecord> step_from(const Json& json) {
    if (!json.is_object() || !json.contains("v") || json["v"] != 1) return std::nullopt;
    if (!json.contains("good") || !json["good"].is_boolean()) return std::nullopt;
    StepRecord step{string_or(json, "step"), string_or(json, "of"), json["good"].get<bool>(),
                    report::finite_seconds(number_or_zero(json, "seconds"))};
    if (step.kind.empty() || step.of.empty()) return std::nullopt;
    return step;
}

std::string step_key(std::string_view kind, std::string_view of) {
    return fmt::format("{} {}", kind, of);
}

// One write: a line is there or it is not, unless the machine dies in the middle of it.
bool write_line(const std::filesystem::path& path, std::string_view line) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return false;
    bool good = true;
    while (good && !line.empty()) {
        const ssize_t put = ::write(fd, line.data(), line.size());
        if (put < 0 && errno == EINTR) continue;
        good = put > 0;
        if (good) line.remove_prefix(static_cast<std::size_t>(put));
    }
    good = good && ::fsync(fd) == 0;
    const int error = errno;
    // Where the line is not safe, what close says of it comes too late.
    const bool closed = ::close(fd) == 0;
    if (!good) errno = error;
    return good && closed;
}

}  // namespace

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      entries_(std::move(other.entries_)),
      steps_(std::move(other.steps_)),
      torn_(other.torn_) {}

Result<Journal> Journal::open(std::filesystem::path path) {
    Journal journal(std::move(path));
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(journal.path_, error))) return journal;
    const auto content = file::read(journal.path_, kLargestJournal);
    if (!content.ok()) {
        auto failure = content.failure();
        failure.code = ExitCode::environment;
        return failure;
    }
    journal.load(*content);
    return journal;
}

void Journal::load(std::string_view content) {
    torn_ = !content.empty() && content.back() != '\n';
    for (const auto& line : text::split(content, '\n')) {
        if (line.empty()) continue;
        const auto json = parse_json(line, "journal");
        if (!json.ok()) continue;
        if (auto step = step_from(*json)) {
            auto key = step_key(step->kind, step->of);
            steps_.insert_or_assign(std::move(key), std::move(*step));
        }
        auto result = result_from(*json);
        if (!result) continue;
        auto id = result->id;
        const bool good = report::has_passed(result->outcome);
        steps_.insert_or_assign(step_key("test", id), StepRecord{"test", id, good, result->seconds});
        entries_.insert_or_assign(std::move(id), Entry{string_or(*json, "key"), std::move(*result)});
    }
}

const CellResult* Journal::find(std::string_view cell_id, std::string_view key) const {
    const auto found = entries_.find(cell_id);
    return found != entries_.end() && found->second.key == key ? &found->second.result : nullptr;
}

const CellResult* Journal::last(std::string_view cell_id) const {
    const auto found = entries_.find(cell_id);
    return found == entries_.end() ? nullptr : &found->second.result;
}

const StepRecord* Journal::last_step(std::string_view kind, std::string_view of) const {
    const auto found = steps_.find(step_key(kind, of));
    return found == steps_.end() ? nullptr : &found->second;
}

double Journal::usual_seconds(std::string_view kind) const {
    double sum = 0;
    std::size_t number = 0;
    for (const auto& [key, step] : steps_) {
        if (step.kind != kind || !step.good) continue;
        sum += step.seconds;
        ++number;
    }
    return number == 0 ? -1 : sum / static_cast<double>(number);
}

Status Journal::append(const StepRecord& step) {
    return write(to_text(Json{{"v", 1},
                              {"step", step.kind},
                              {"of", step.of},
                              {"good", step.good},
                              {"seconds", report::finite_seconds(step.seconds)}},
                         false));
}

Status Journal::append(const CellResult& result, std::string_view key) {
    auto tests = Json::array();
    for (const auto& test : result.tests)
        tests.push_back(report::test_json(test));
    const Json entry{{"v", 1},
                     {"cell", result.id},
                     {"key", key},
                     {"outcome", to_string(result.outcome)},
                     {"reason", result.reason},
                     {"proof", to_string(result.proof)},
                     {"log", result.log},
                     {"seconds", result.seconds},
                     {"tests", std::move(tests)}};
    return write(to_text(entry, false));
}

Status Journal::write(std::string line) {
    const std::lock_guard lock(mutex_);
    line = (torn_ ? "\n" : "") + std::move(line) + "\n";
    if (!write_line(path_, line)) {
        const auto reason = std::generic_category().message(errno);
        torn_ = true;  // a part of the line may be there
        return environment_failure(
            fmt::format("cannot write {}: {}", text::printable(path_.string()), reason));
    }
    torn_ = false;
    return Done{};
}

}  // namespace cudamatrix::job
