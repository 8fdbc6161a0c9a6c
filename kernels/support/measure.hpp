#pragma once

#include <string>
#include <vector>

#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// How fast a GPU is: the arithmetic of it, and what is said. The clocks are in exec/measure.cuh.
namespace cudamatrix::suite {

inline constexpr int kMeasuredRounds = 5;
inline constexpr int kMeasuredTries = 3;       ///< where the rounds differ too much
inline constexpr double kBatchSeconds = 0.05;  ///< what is timed at once lasts so long
inline constexpr int kMostRuns = 20000;        ///< ... or so many runs
inline constexpr double kNoisy = 0.05;         ///< relative deviation from which rounds are noisy
/// What a measured roof is to a theoretical peak where both are believed.
inline constexpr double kLeastCredible = 0.5;
inline constexpr double kMostCredible = 1.1;

/// Seconds of one run, round by round; `roof` is empty where there is none.
struct Rounds {
    std::vector<double> own;
    std::vector<double> roof;
};

/// 0 of no values.
[[nodiscard]] double median(std::vector<double> values);
/// Standard deviation (of a sample) over mean; 0 of less than two values.
[[nodiscard]] double relative_deviation(const std::vector<double>& values);
[[nodiscard]] bool is_noisy(const Rounds& rounds);
/// How many runs of `seconds` make a batch.
[[nodiscard]] int runs_of_batch(double seconds);

/// What a run does, in billions: 4.2 (GB) with the unit "GB/s", in 10^12 with "TFLOP/s". The roof may do
/// other work than the kernel.
struct Work {
    double own = 0;
    double roof = 0;
};
/// A rate: more is better. The roof is left out where no round of it was timed.
[[nodiscard]] Metric rate_metric(const char* name, const char* unit, const Work& work, const Rounds& rounds,
                                 const char* roof, double goal);
/// Microseconds of a run: less is better, and the goal is the most that it may be of the roof.
[[nodiscard]] Metric time_metric(const char* name, const Rounds& rounds, const char* roof, double goal);
/// The same measurement against a peak that is known from elsewhere; 0: it is not known, and there is no
/// roof.
[[nodiscard]] Metric against(Metric metric, const char* suffix, const char* roof, double peak, double goal);

/// GB/s of memory with two transfers a clock; 0 where an attribute is not known.
[[nodiscard]] double memory_peak(int clock_khz, int bus_bits);
/// TFLOP/s of fused multiply-adds in float32; 0 where anything is not known.
[[nodiscard]] double fp32_peak(int major, int minor, int multiprocessors, int clock_khz);

/// Only the part "gpu", and only after what it checks is right: all other speed says nothing of a GPU.
[[nodiscard]] bool may_measure(const Context& context, const Record& record);

/// What was measured, and what is to be said of it. Nothing here makes a test red.
class Performance {
  public:
    /// `peak`: what the roof would be in theory, in the metric's unit; 0 = unknown.
    void add(Metric metric, double peak = 0);
    void note(std::string text) { notes_.push_back(std::move(text)); }
    /// Metrics, and as evidence the warnings and notes. No effect where may_measure() says no.
    void tell(const Context& context, Record& record) const;

  private:
    std::vector<Metric> metrics_;
    std::vector<std::string> warnings_;
    std::vector<std::string> notes_;
};

}  // namespace cudamatrix::suite
