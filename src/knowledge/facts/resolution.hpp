// What pip's resolver is asked and what it answered (`resolutions`): a set of pins for one machine.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"

namespace cudamatrix {

struct PipQuestion {
    std::vector<std::string> pins;  ///< sorted: "torch==2.6.0+cu118", "vllm" where no release is pinned
    std::string python;             ///< "3.12", "3.13t"
    std::string arch;               ///< x86_64, aarch64
    std::string glibc;              ///< "2.35"; empty: the system is not named

    /// "torch==2.6.0, vllm for python 3.12 on x86_64", with "(glibc 2.35)" behind it where that is known.
    [[nodiscard]] std::string text() const;
    /// The same without the pins: "python 3.12 on x86_64".
    [[nodiscard]] std::string machine() const;
    /// One of them has no release: what pip takes for it changes with the day.
    [[nodiscard]] bool is_open() const;
    /// Of its row: "resolution-" and a hash of all that is asked.
    [[nodiscard]] std::string id() const;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of <=> for a pointer
    friend auto operator<=>(const PipQuestion&, const PipQuestion&) = default;
};

namespace lookup {

/// The row with the answer.
[[nodiscard]] std::optional<Row> resolution(const Facts& facts, const PipQuestion& question);

}  // namespace lookup
}  // namespace cudamatrix
