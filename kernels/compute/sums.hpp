#pragma once

#include <algorithm>

#include "kernels/compute/check.hpp"
#include "kernels/support/philox.hpp"

/// Sums of two vectors, and how they are checked: wherever a test needs a kernel whose result is known
/// exactly.
namespace cudamatrix::suite {

struct SumInputs {
    std::vector<float> a;
    std::vector<float> b;
};

/// Signs and magnitudes mixed, so that sums have to be rounded; exact sums would hide a wrong rounding.
inline SumInputs sum_inputs(const char* id, std::size_t length) {
    const Philox philox(seed_of(id));
    SumInputs inputs;
    inputs.a.resize(length);
    inputs.b.resize(length);
    for (std::size_t i = 0; i < length; ++i) {
        inputs.a[i] = philox.uniform(i, 0) * 1024.0F;
        inputs.b[i] = philox.uniform(i, 1);
    }
    return inputs;
}

/// `c` is longer than the inputs (blank_output): what lies beyond must stay as it was.
inline void check_sums(Record& record, const std::vector<float>& a, const std::vector<float>& b,
                       const std::vector<float>& c, const RunFlag& flag, int blocks) {
    const std::size_t n = a.size();
    check_ran(record, flag, blocks);
    check_written(record, c, n);
    const Mismatches wrong = mismatches(std::min(n, c.size()), [&](std::size_t i) {
        // Rounding a float64 sum of two floats to float gives the correctly rounded sum: 53 >= 2 * 24 + 2.
        return bits_of(c[i]) ==
               bits_of(static_cast<float>(static_cast<double>(a[i]) + static_cast<double>(b[i])));
    });
    record.check("exact", wrong.count == 0,
                 std::to_string(wrong.count) + " of " + std::to_string(n) + " sums differ, the first at " +
                     std::to_string(wrong.first));
}

}  // namespace cudamatrix::suite
