#pragma once

#include <string>
#include <vector>

#include "kernels/compute/float_product.hpp"
#include "kernels/stress/sustained_body.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// stress.sustained: what was computed right once is computed right for as long as it takes to get hot.
namespace cudamatrix::suite {

inline constexpr const char* kSustainedId = "stress.sustained";
inline constexpr int kSustainedCompareThreads = 256;
inline constexpr int kSustainedCompareBlocks = 64;

/// How much, and how long.
struct SustainedPlan {
    int m = 1021;
    int n = 1019;
    int k = 1031;
    int copies = 16;     ///< of the product in one launch: enough blocks for every multiprocessor there is
    double seconds = 0;  ///< 0: `rounds` of them instead
    long rounds = 3;
};

/// 30 s, at level full 60, at level soak as long as it says. On the interpreter three rounds of a small
/// product.
[[nodiscard]] SustainedPlan sustained_plan(const Context& context);

struct SustainedOutputs {
    SustainedTally blank;      ///< of memory that no round wrote: all of it must be found wrong
    std::vector<float> first;  ///< the product of the first round, which the others are compared with
    long rounds = 0;
    long wrong_rounds = 0;
    long first_wrong = 0;        ///< number of the first of them
    SustainedTally tally;        ///< of all rounds
    std::vector<float> guard;    ///< behind the last copy
    RunFlag products;            ///< blocks of all products
    RunFlag comparisons;         ///< ... and of all comparisons, the blank one included
    std::vector<long> quarters;  ///< rounds in each quarter of the time; empty without a time
};

[[nodiscard]] SgemmInputs sustained_inputs(const SustainedPlan& plan);
/// Adds a round's tally to the outputs.
void sustained_note(SustainedOutputs& outputs, const SustainedTally& tally);
/// A round that differs is fault F15 on a GPU ("GPU" as `backend`).
[[nodiscard]] Record sustained_check(const SustainedPlan& plan, const SgemmInputs& inputs,
                                     const SustainedOutputs& outputs, const std::string& backend);

}  // namespace cudamatrix::suite
