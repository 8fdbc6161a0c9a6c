// Two states beside each other: cells and their verdicts, what locks pin, facts, sizes of images.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/diff/fact_changes.hpp"
#include "advise/diff/verdict_changes.hpp"
#include "knowledge/facts/facts.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix::diff {

/// A matrix file with the lock beside it, a lock, a folder of facts, or a run: what each of them has.
struct Side {
    std::string name;
    std::optional<Verdicts> cells = {};
    std::optional<Lock> lock = {};
    std::optional<Facts> facts = {};                  ///< of a folder: its own rows are compared
    std::map<std::string, std::uint64_t> bytes = {};  ///< of images that were built, by their id
};

/// 0: it was not built.
struct SizeChange {
    std::string image;
    std::uint64_t before = 0, now = 0;
};

struct Diff {
    std::string before, now;  ///< names of the sides
    std::optional<VerdictChanges> cells;
    std::vector<std::string> pins;   ///< lock_changes of all but the verdicts
    std::vector<FactChange> facts;   ///< in the order of their tables
    std::vector<SizeChange> sizes;   ///< in the order of their ids; they are no news by themselves
    std::vector<std::string> notes;  ///< what only one side has
    bool compared = false;           ///< false: no thing that both have

    /// Whether a cell, a pin or what a row says is another one. A row that was looked at again is no news.
    [[nodiscard]] bool is_news() const;
};

/// Both sides have a thing in common, or `notes` says which of them lacks it.
[[nodiscard]] Diff compare(const Side& before, const Side& now);

}  // namespace cudamatrix::diff
