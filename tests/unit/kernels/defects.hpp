#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/compute/check.hpp"
#include "kernels/support/record.hpp"

/// Planted defects: what a checker must turn red on.
namespace cudamatrix::suite::test {

inline bool red(const Record& record) {
    return record.status == Status::fail;
}
inline bool green(const Record& record) {
    return record.status == Status::pass;
}

inline float flipped(float value, int bit) {
    return float_of(bits_of(value) ^ (1U << bit));
}

/// The number so many steps above.
template <class T>
T moved(T value, int ulps) {
    for (int i = 0; i < ulps; ++i)
        value = std::nextafter(value, std::numeric_limits<T>::infinity());
    return value;
}

/// As if elements had never been written.
template <class T>
void blank(std::vector<T>& values, std::size_t from, std::size_t n) {
    std::copy_n(blank_output<T>(n).begin(), n, values.begin() + static_cast<std::ptrdiff_t>(from));
}

/// Outputs with a planted defect.
template <class Outputs>
struct Defect {
    const char* name;
    std::function<void(Outputs&)> plant;  // into good outputs
};

/// The good outputs are green, and red with each of the defects.
template <class Inputs, class Outputs>
void check_defects(Record (*check)(const Inputs&, const Outputs&, const char*), const Inputs& in,
                   const Outputs& good, const std::vector<Defect<Outputs>>& defects) {
    CHECK(green(check(in, good, "CPU")));
    for (const auto& defect : defects) {
        CAPTURE(defect.name);
        auto out = good;
        defect.plant(out);
        CHECK(red(check(in, out, "CPU")));
    }
}

}  // namespace cudamatrix::suite::test
