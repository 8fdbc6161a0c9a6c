// What a user asks for, as words, made into slots and demands; words that no fact knows are refused with what
// is near.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::solve {

/// What a user asks for.
struct Wishes {
    /// A value, a range (">=1.12,<2"), or a pattern ("A100*"); each field at most once.
    std::vector<std::pair<Field, std::string>> fields;
    /// "transformers==4.27.4", "timm>=0.6", "accelerate": a package of the Python index, any of its known
    /// releases where none is named.
    std::vector<std::string> needs;
};

/// The fields that may be asked for.
[[nodiscard]] const std::vector<Field>& wish_fields();

/// The most wishes: every subset of them may have to be looked at.
inline constexpr std::size_t kMostWishes = 12;

struct Wanted {
    std::vector<Slot> slots;      ///< torch, python and the driver always; the rest where it was asked for
    std::vector<Demand> demands;  ///< in the order of `wishes`
};

/// Input failures, all of them at once: malformed values, values and packages that no fact knows, ranges that
/// no known value meets, the same package twice, nothing at all, too much.
[[nodiscard]] Result<Wanted> wanted(const Facts& facts, const Wishes& wishes);

}  // namespace cudamatrix::solve
