#include "kernels/support/record_json.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace cudamatrix::suite {
namespace {

constexpr std::string_view kStatusNames[] = {"pass", "fail", "skip", "error", "timeout", "crash"};

std::string shortest(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

json::Value to_json(const Check& check) {
    json::Value value = json::Value::object();
    value.set("name", check.name);
    if (check.numeric) {
        value.set("value", check.value);
        value.set("limit", check.limit);
    }
    if (!check.note.empty()) value.set("note", check.note);
    value.set("ok", check.ok);
    return value;
}

json::Value to_json(const Metric& metric) {
    json::Value value = json::Value::object();
    value.set("name", metric.name);
    value.set("value", metric.value);
    value.set("unit", metric.unit);
    value.set("n", metric.n);
    value.set("median", true);
    value.set("rsd", metric.rsd);
    if (metric.roof.empty()) return value;
    value.set("roof", metric.roof);
    value.set("roof_value", metric.roof_value);
    value.set("ratio", metric.ratio());
    if (metric.goal <= 0) return value;
    value.set("goal", metric.goal);
    value.set("gate", "warn");
    return value;
}

}  // namespace

std::string_view to_text(Status status) {
    return kStatusNames[static_cast<std::size_t>(status)];
}

bool status_from_text(std::string_view text, Status& status) {
    for (std::size_t i = 0; i < std::size(kStatusNames); ++i) {
        if (kStatusNames[i] == text) {
            status = static_cast<Status>(i);
            return true;
        }
    }
    return false;
}

int exit_code(Status status) {
    switch (status) {
        case Status::pass:
            return 0;
        case Status::fail:
            return 1;
        case Status::skip:
            return 77;
        case Status::error:
        case Status::timeout:
        case Status::crash:
            return 3;
    }
    return 3;
}

json::Value to_json(const Record& record, std::string_view id, std::string_view part) {
    json::Value line = json::Value::object();
    line.set("id", id);
    line.set("part", part);
    line.set("status", to_text(record.status));
    if (!record.reason.empty()) line.set("reason", record.reason);
    if (!record.fault.empty()) line.set("fault", record.fault);
    line.set("summary", record.summary);
    if (record.setup_ms > 0) line.set("setup_ms", record.setup_ms);
    json::Value checks = json::Value::array();
    for (const Check& check : record.checks)
        checks.push_back(to_json(check));
    line.set("checks", std::move(checks));
    json::Value metrics = json::Value::array();
    for (const Metric& metric : record.metrics)
        metrics.push_back(to_json(metric));
    line.set("metrics", std::move(metrics));
    if (!record.error.api.empty()) {
        json::Value error = json::Value::object();
        error.set("api", record.error.api);
        error.set("code", record.error.code);
        error.set("name", record.error.name);
        line.set("error", std::move(error));
    }
    if (!record.hint.empty()) line.set("hint", record.hint);
    json::Value evidence = json::Value::object();
    for (const auto& [name, text] : record.evidence) {
        std::string error;
        const auto value = json::parse(text, error);
        evidence.set(name, value ? *value : json::Value(text));
    }
    if (!evidence.members().empty()) line.set("evidence", std::move(evidence));
    return line;
}

bool write_record(int fd, const Record& record, std::string_view id, std::string_view part) {
    const std::string line = to_json(record, id, part).dump() + "\n";
    std::size_t done = 0;
    while (done < line.size()) {
        const ssize_t n = ::write(fd, line.data() + done, line.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

void add_evidence(Record& record, std::string name, const json::Value& value) {
    record.evidence.emplace_back(std::move(name), value.dump());
}

bool known_skip_reason(std::string_view reason) {
    static constexpr std::string_view kReasons[] = {
        "no_device",   "cc_too_low",         "cuda_too_old",  "driver_too_old", "lib_absent", "not_in_cell",
        "no_nvcc",     "needs_2_gpus",       "mig",           "no_nvml",        "level",      "deselected",
        "quarantined", "wrong_arch_variant", "prereq_failed", "no_compiler"};
    return std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
}

Record judge(Record record, const std::string& reason, const std::string& passed_summary) {
    if (record.checks.empty()) {
        record.status = Status::error;
        record.reason = "nothing_checked";
        record.summary = "the test compared nothing";
        return record;
    }
    const Check* failed = record.first_failed();
    if (failed == nullptr) {
        record.status = Status::pass;
        record.summary = passed_summary;
        return record;
    }
    record.status = Status::fail;
    record.reason = reason;
    record.summary = failed->name;
    if (failed->numeric) {
        record.summary += " " + shortest(failed->value) + " > " + shortest(failed->limit);
    } else if (!failed->note.empty()) {
        record.summary += ": " + failed->note;
    }
    return record;
}

}  // namespace cudamatrix::suite
