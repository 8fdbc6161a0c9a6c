#include "kernels/runner/verdict.hpp"

#include <cmath>
#include <csignal>
#include <cstring>

#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

json::Value line_of(const Record& record, const Planned& planned) {
    return to_json(record, planned.test->id, planned.part);
}

json::Value broken(const Planned& planned, const char* reason, std::string summary) {
    return line_of(Record::broken(reason, std::move(summary)), planned);
}

void add_tails(json::Value& line, const ProcessResult& result) {
    if (result.err.empty() && result.out.empty()) return;
    json::Value evidence = line.find("evidence") != nullptr ? *line.find("evidence") : json::Value::object();
    if (!result.err.empty()) evidence.set("stderr_tail", result.err);
    if (!result.out.empty()) evidence.set("stdout_tail", result.out);
    line.set("evidence", std::move(evidence));
}

/// The process did not come to an end of its own.
json::Value ended_badly(const Planned& planned, const ProcessResult& result) {
    Record record;
    const std::string wall = std::to_string(std::lround(result.wall_s));
    if (result.timed_out) {
        record.status = Status::timeout;
        record.reason = result.unkillable ? "unkillable" : "time_limit";
        record.summary = "no end after " + wall + " s";
        record.hint = result.cpu_s > result.wall_s / 2 ? "it was computing all the time" : "it was waiting";
    } else {
        record.status = Status::crash;
        record.reason = "signal";
        record.summary = std::string("ended by signal ") + std::to_string(result.signal) + " (" +
                         ::strsignal(result.signal) + ")";
    }
    return line_of(record, planned);
}

/// What makes a record unbelievable; "" when nothing does.
std::string contradiction(const Planned& planned, const json::Value& record, Status status, int exit) {
    if (record.text_of("id") != planned.test->id || record.text_of("part") != planned.part) {
        return "the record is of " + record.text_of("id") + "/" + record.text_of("part");
    }
    if (status == Status::crash || status == Status::timeout) return "the record says how the process ended";
    if (exit_code(status) != exit) {
        return "the record says " + record.text_of("status") + ", the exit code is " + std::to_string(exit);
    }
    const json::Value* metrics = record.find("metrics");
    if (metrics != nullptr && !metrics->items().empty() && planned.part != "gpu")
        return "the record of a part that needs no GPU has metrics";
    const json::Value* checks = record.find("checks");
    if (status != Status::pass) return "";
    if (checks == nullptr || checks->items().empty()) return "the record says pass and lists no checks";
    for (const json::Value& check : checks->items()) {
        const json::Value* ok = check.find("ok");
        if (ok == nullptr || !ok->is_true()) {
            return "the record says pass and its check " + check.text_of("name") + " does not hold";
        }
    }
    return "";
}

/// A skip that the cell did not predict is a failure.
json::Value judge_skip(const Planned& planned, const Context& context, json::Value record) {
    const std::string reason = record.text_of("reason");
    if (!known_skip_reason(reason)) return broken(planned, "unknown_skip", "skipped for '" + reason + "'");
    const bool promised_gpu = reason == "no_device" && context.gpu_is_promised();
    if (reason != "lib_absent" && !promised_gpu) return record;
    record.set("status", to_text(Status::fail));
    return record;
}

}  // namespace

json::Value judge_process(const Planned& planned, const Context& context, const ProcessResult& result) {
    if (!result.start_error.empty()) return broken(planned, "not_started", result.start_error);
    if (result.interrupted) return broken(planned, "interrupted", "the run was told to stop");
    if (result.timed_out || result.signal != 0) {
        json::Value line = ended_badly(planned, result);
        add_tails(line, result);
        return line;
    }
    std::string error;
    json::Value line;
    const auto record = json::parse(result.record, error);
    Status status = Status::error;
    if (result.record.empty()) {
        line =
            broken(planned, "no_record", "exit code " + std::to_string(result.exit_code) + " and no record");
    } else if (result.record_cut || !record || !status_from_text(record->text_of("status"), status)) {
        line = broken(planned, "bad_record", error.empty() ? "the record cannot be read" : error);
    } else if (const std::string why = contradiction(planned, *record, status, result.exit_code);
               !why.empty()) {
        line = broken(planned, "bad_record", why);
    } else {
        line = status == Status::skip ? judge_skip(planned, context, *record) : *record;
    }
    if (status_of(line) != Status::pass && status_of(line) != Status::skip) add_tails(line, result);
    return line;
}

json::Value result_line(const json::Value& judged, const Context& context, const json::Value& gpu,
                        const ProcessResult* result) {
    json::Value line = json::Value::object();
    line.set("v", 1);
    line.set("run", context.run);
    line.set("cell", context.cell);
    for (const char* name : {"id", "part", "status", "reason", "fault", "summary"}) {
        if (const json::Value* value = judged.find(name)) line.set(name, *value);
    }
    line.set("t_ms", result != nullptr ? std::lround(result->wall_s * 1000) : 0L);
    if (const json::Value* setup = judged.find("setup_ms")) line.set("setup_ms", *setup);
    line.set("attempt", 1);
    if (!gpu.is(json::Value::Type::null)) line.set("gpu", gpu);
    for (const char* name : {"checks", "metrics", "error"}) {
        if (const json::Value* value = judged.find(name)) line.set(name, *value);
    }
    if (result != nullptr) {
        line.set("exit", result->exit_code);
        line.set("signal", result->signal);
    }
    for (const char* name : {"hint", "evidence"}) {
        if (const json::Value* value = judged.find(name)) line.set(name, *value);
    }
    return line;
}

Status status_of(const json::Value& line) {
    Status status = Status::error;
    return status_from_text(line.text_of("status"), status) ? status : Status::error;
}

}  // namespace cudamatrix::suite
