#include "kernels/support/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

std::string three_digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

bool is_time(const Metric& metric) {
    return metric.unit == "us";
}

bool is_believed(const Metric& metric, double peak) {
    return peak <= 0 ||
           (metric.roof_value >= kLeastCredible * peak && metric.roof_value <= kMostCredible * peak);
}

/// float32 lanes of a multiprocessor: NVIDIA, cuda-samples, Common/helper_cuda.h, _ConvertSMVer2Cores.
struct Lanes {
    int major;
    int minor;
    int count;
};
constexpr Lanes kLanes[] = {{6, 0, 64},   {6, 1, 128},  {6, 2, 128},  {7, 0, 64},   {7, 2, 64},  {7, 5, 64},
                            {8, 0, 64},   {8, 6, 128},  {8, 7, 128},  {8, 9, 128},  {9, 0, 128}, {10, 0, 128},
                            {10, 1, 128}, {10, 3, 128}, {11, 0, 128}, {12, 0, 128}, {12, 1, 128}};

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double relative_deviation(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    const auto n = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values)
        mean += value / n;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return mean > 0 ? std::sqrt(squares / (n - 1)) / mean : 0;
}

bool is_noisy(const Rounds& rounds) {
    return relative_deviation(rounds.own) > kNoisy || relative_deviation(rounds.roof) > kNoisy;
}

int runs_of_batch(double seconds) {
    if (!(seconds > kBatchSeconds / kMostRuns)) return kMostRuns;
    return std::max(1, static_cast<int>(std::ceil(kBatchSeconds / seconds)));
}

Metric rate_metric(const char* name, const char* unit, const Work& work, const Rounds& rounds,
                   const char* roof, double goal) {
    Metric metric = time_metric(name, rounds, roof, goal);
    const auto rate = [](double amount, const std::vector<double>& seconds) {
        const double typical = median(seconds);
        return typical > 0 ? amount / typical : 0;
    };
    metric.unit = unit;
    metric.value = rate(work.own, rounds.own);
    metric.roof_value = rate(work.roof, rounds.roof);
    return metric;
}

Metric time_metric(const char* name, const Rounds& rounds, const char* roof, double goal) {
    constexpr double kMicroseconds = 1e6;
    Metric metric;
    metric.name = name;
    metric.unit = "us";
    metric.value = median(rounds.own) * kMicroseconds;
    metric.n = static_cast<int>(rounds.own.size());
    metric.rsd = relative_deviation(rounds.own);
    if (rounds.roof.empty()) return metric;
    metric.roof = roof;
    metric.roof_value = median(rounds.roof) * kMicroseconds;
    metric.goal = goal;
    return metric;
}

Metric against(Metric metric, const char* suffix, const char* roof, double peak, double goal) {
    metric.name += suffix;
    metric.roof = peak > 0 ? roof : "";
    metric.roof_value = peak > 0 ? peak : 0;
    metric.goal = peak > 0 ? goal : 0;
    return metric;
}

double memory_peak(int clock_khz, int bus_bits) {
    if (clock_khz <= 0 || bus_bits <= 0) return 0;
    constexpr double kTransfers = 2;
    return kTransfers * clock_khz * 1e3 * (bus_bits / 8.0) / 1e9;
}

double fp32_peak(int major, int minor, int multiprocessors, int clock_khz) {
    if (multiprocessors <= 0 || clock_khz <= 0) return 0;
    constexpr double kOperations = 2;
    for (const Lanes& lanes : kLanes) {
        if (lanes.major == major && lanes.minor == minor)
            return kOperations * lanes.count * multiprocessors * clock_khz * 1e3 / 1e12;
    }
    return 0;
}

bool may_measure(const Context& context, const Record& record) {
    return context.part == "gpu" && record.status == Status::pass;
}

void Performance::add(Metric metric, double peak) {
    if (!(metric.value > 0) || !std::isfinite(metric.value) || metric.n <= 0)
        return note(metric.name + ": nothing was timed");
    if (!metric.roof.empty() && !(metric.roof_value > 0 && std::isfinite(metric.roof_value))) {
        note(metric.name + ": " + metric.roof + " could not be timed");
        metric = against(std::move(metric), "", "", 0, 0);
    }
    if (metric.rsd > kNoisy)
        warnings_.push_back(metric.name + ": noisy, its rounds differ by " + three_digits(100 * metric.rsd) +
                            " %");
    const double ratio = metric.ratio();
    if (!metric.roof.empty() && !is_believed(metric, peak)) {
        warnings_.push_back("denominator_suspect: " + metric.roof + " made " +
                            three_digits(metric.roof_value) + " " + metric.unit +
                            ", the device's attributes promise " + three_digits(peak));
    } else if (metric.goal > 0 && (is_time(metric) ? ratio > metric.goal : ratio < metric.goal)) {
        warnings_.push_back(metric.name + ": " + three_digits(ratio) + " of " + metric.roof +
                            ", the goal is " + (is_time(metric) ? "at most " : "at least ") +
                            three_digits(metric.goal));
    }
    metrics_.push_back(std::move(metric));
}

void Performance::tell(const Context& context, Record& record) const {
    if (!may_measure(context, record)) return;
    record.metrics = metrics_;
    json::Value facts = json::Value::object();
    if (!warnings_.empty()) facts.set("warnings", warnings_);
    if (!notes_.empty()) facts.set("notes", notes_);
    if (!facts.members().empty()) add_evidence(record, "performance", facts);
}

}  // namespace cudamatrix::suite
