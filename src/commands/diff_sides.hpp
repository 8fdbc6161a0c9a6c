// What `diff` and the like compare: each side from a name on the command line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "advise/diff/diff.hpp"
#include "commands/common.hpp"
#include "commands/github_files.hpp"

namespace cudamatrix {

enum class SideKind : std::uint8_t { matrix, lock, facts, run };
[[nodiscard]] std::string_view to_string(SideKind kind);

/// A side with what its verdicts are looked up in; it stays where it is.
struct LoadedSide {
    SideKind kind = SideKind::matrix;
    diff::Side side;
    std::optional<Matrix> matrix = {};
    std::optional<Judgement> judgement = {};
};

struct SideOptions {
    std::string on;      ///< --on DATE; empty: today
    std::string matrix;  ///< --matrix FILE: what is judged with each of two folders of facts
};

/// `name` is a matrix file, which is judged and has the lock beside it; a *.lock; a *.json that `run` wrote;
/// a folder of facts; or REV:PATH, one of these in a commit, as git takes it. A matrix file is judged with
/// `facts`. Fails as their readers do.
[[nodiscard]] Result<std::unique_ptr<LoadedSide>> load_side(const std::string& name, const Facts& facts,
                                                            const SideOptions& options, const World& world);

/// What `diff` is asked for: two sides by their names, and how to print them.
struct DiffOptions {
    std::string before, now;
    std::string facts;
    SideOptions sides;
    std::string format;
    std::string out;
    bool verbose = false;
    StepSummary step_summary;

    /// All of it but the sides and --facts.
    void add(const Arguments& app);
};

/// Prints what moved between the sides; exit code 1 where something did.
[[nodiscard]] Result<ExitCode> print_diff(const DiffOptions& options, const World& world);

}  // namespace cudamatrix
