#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cudamatrix::suite {

/// fail = the test ran and something is wrong; error = it could not be judged.
enum class Status { pass, fail, skip, error, timeout, crash };

/// One statement of a test that is true or false. Numeric ones carry value and limit.
struct Check {
    std::string name;
    bool ok = false;
    bool numeric = false;
    double value = 0;
    double limit = 0;
    std::string note;  ///< what was found instead, of a check that does not hold
};

/// A failed call of some library.
struct ApiError {
    std::string api;
    int code = 0;
    std::string name;
};

/// How fast a GPU was: the median of some rounds, and what it is compared with. It never makes a test red.
struct Metric {
    std::string name;
    double value = 0;
    std::string unit;       ///< "GB/s"; of a rate more is better, of a time ("us") less
    int n = 0;              ///< rounds
    double rsd = 0;         ///< relative standard deviation of the rounds
    std::string roof;       ///< "cudaMemcpy"; empty: compared with nothing
    double roof_value = 0;  ///< in the same unit
    double goal = 0;        ///< of value / roof_value; 0 = reported only

    [[nodiscard]] double ratio() const { return roof_value > 0 ? value / roof_value : 0; }
};

/// What a test says about itself. The runner adds run, cell, times and how the process ended.
struct Record {
    Status status = Status::error;
    std::string reason;  ///< for skip one of the closed set, otherwise a short word; empty for pass
    std::string fault;   ///< a code of the fault catalogue, or empty
    std::string summary;
    std::vector<Check> checks;
    std::vector<Metric> metrics;  ///< of the part "gpu" only: the others' speed says nothing about a GPU
    ApiError error;               ///< `api` empty = none
    std::string hint;
    double setup_ms = 0;
    /// Further facts as (member name, JSON text), kept as text so that code compiled by nvcc needs no JSON
    /// headers.
    std::vector<std::pair<std::string, std::string>> evidence;

    [[nodiscard]] static Record pass(std::string summary) {
        return make(Status::pass, "", std::move(summary));
    }
    [[nodiscard]] static Record fail(std::string reason, std::string fault, std::string summary) {
        Record record = make(Status::fail, std::move(reason), std::move(summary));
        record.fault = std::move(fault);
        return record;
    }
    [[nodiscard]] static Record skip(std::string reason, std::string summary) {
        return make(Status::skip, std::move(reason), std::move(summary));
    }
    [[nodiscard]] static Record broken(std::string reason, std::string summary) {
        return make(Status::error, std::move(reason), std::move(summary));
    }

    void check(std::string name, bool ok, std::string note = "") {
        Check entry;
        entry.name = std::move(name);
        entry.ok = ok;
        if (!ok) entry.note = std::move(note);
        checks.push_back(std::move(entry));
    }
    /// True when value <= limit; a NaN is never within a limit.
    void check_limit(std::string name, double value, double limit) {
        Check entry;
        entry.name = std::move(name);
        entry.numeric = true;
        entry.value = value;
        entry.limit = limit;
        entry.ok = value <= limit;
        checks.push_back(std::move(entry));
    }
    [[nodiscard]] const Check* first_failed() const {
        for (const Check& entry : checks) {
            if (!entry.ok) return &entry;
        }
        return nullptr;
    }

  private:
    static Record make(Status status, std::string reason, std::string summary) {
        Record record;
        record.status = status;
        record.reason = std::move(reason);
        record.summary = std::move(summary);
        return record;
    }
};

/// Pass when every check holds, otherwise fail with `reason`, naming the first that does not.
/// No check at all is an error: a test that compared nothing proved nothing.
[[nodiscard]] Record judge(Record record, const std::string& reason, const std::string& passed_summary);

}  // namespace cudamatrix::suite
