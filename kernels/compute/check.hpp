#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/philox.hpp"
#include "kernels/support/record.hpp"

/// What the checkers of compute and memory tests share.
namespace cudamatrix::suite {

/// Elements behind the end of an output that a kernel must not touch.
inline constexpr std::size_t kGuard = 1024;

/// A signalling NaN that no arithmetic produces: an element that still holds it was never written.
inline constexpr std::uint32_t kBlankBits = 0x7fa5a5a5;

inline std::uint32_t bits_of(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of(std::uint32_t bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// Whether every 32 bits of an element are as they were before the kernel ran.
template <typename T>
bool is_blank(const T& element) {
    static_assert(sizeof(T) % sizeof kBlankBits == 0, "blank outputs are filled 32 bits at a time");
    for (std::size_t at = 0; at < sizeof(T); at += sizeof kBlankBits) {
        if (std::memcmp(reinterpret_cast<const char*>(&element) + at, &kBlankBits, sizeof kBlankBits) != 0)
            return false;
    }
    return true;
}

/// An output of n elements and its guard, all blank. Filled by bits: a float NaN might lose them on its way.
template <typename T = float>
std::vector<T> blank_output(std::size_t n) {
    static_assert(sizeof(T) % sizeof kBlankBits == 0, "blank outputs are filled 32 bits at a time");
    std::vector<T> output(n + kGuard);
    auto* bytes = reinterpret_cast<char*>(output.data());
    for (std::size_t at = 0; at < output.size() * sizeof(T); at += sizeof kBlankBits)
        std::memcpy(bytes + at, &kBlankBits, sizeof kBlankBits);
    return output;
}

struct Mismatches {
    std::size_t count = 0;
    std::size_t first = 0;
};

/// Of the elements below n those of which `is_right(i)` is false.
template <typename IsRight>
Mismatches mismatches(std::size_t n, IsRight is_right) {
    Mismatches found;
    for (std::size_t i = 0; i < n; ++i) {
        if (is_right(i)) continue;
        if (found.count++ == 0) found.first = i;
    }
    return found;
}

/// Checks that the kernel ran in every block, and that no element is blank within n or touched beyond.
inline void check_ran(Record& record, const RunFlag& flag, int blocks) {
    record.check("ran_flag", flag.blocks == static_cast<unsigned>(blocks) && flag.arch != 0,
                 std::to_string(flag.blocks) + " of " + std::to_string(blocks) +
                     " blocks reported, code for " + std::to_string(flag.arch));
}

template <typename T>
void check_written(Record& record, const std::vector<T>& output, std::size_t n,
                   const std::string& prefix = "") {
    std::size_t blank = 0;
    std::size_t touched = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
        if (i < n) blank += is_blank(output[i]) ? 1 : 0;
        if (i >= n) touched += is_blank(output[i]) ? 0 : 1;
    }
    record.check(prefix + "all_written", blank == 0, std::to_string(blank) + " elements were never written");
    record.check(prefix + "nothing_beyond", touched == 0 && output.size() == n + kGuard,
                 std::to_string(touched) + " elements beyond the end were written");
}

/// Three checks of what came back: its size, that `is_right(i)` holds for each of its n values, of which
/// `where` says where the first wrong one is, and that nothing was written behind them. False when the size
/// is wrong: then no value is read.
template <typename T, typename IsRight, typename Where>
bool check_values(Record& record, const std::string& name, const std::vector<T>& found, std::size_t n,
                  IsRight is_right, Where where) {
    record.check(name + "_size", found.size() == n + kGuard,
                 std::to_string(found.size()) + " values came back");
    if (found.size() != n + kGuard) return false;
    const Mismatches wrong = mismatches(n, is_right);
    record.check(name, wrong.count == 0,
                 std::to_string(wrong.count) + " values are wrong, the first " + where(wrong.first));
    const Mismatches touched = mismatches(kGuard, [&](std::size_t i) { return is_blank(found[n + i]); });
    record.check(name + "_nothing_beyond", touched.count == 0,
                 std::to_string(touched.count) + " values beyond the end were written");
    return true;
}

/// Random bits that are a test's own, for the first n of `words`.
inline void draw_bits(std::vector<std::uint32_t>& words, std::size_t n, const char* id) {
    const Philox philox(seed_of(id));
    for (std::size_t i = 0; i < n; ++i)
        words[i] = bits_of(philox.uniform(i, 0));
}

}  // namespace cudamatrix::suite
