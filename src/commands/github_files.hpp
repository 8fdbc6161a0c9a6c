// The files by which a step of GitHub Actions hands on what it made: outputs, and a summary in Markdown.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "commands/command.hpp"

namespace cudamatrix {

/// --github-output NAME: one line becomes that output of the step.
struct GithubOutput {
    std::string name;  ///< empty: not given

    void add(const Arguments& app);
    /// An input failure where it is wanted and GITHUB_OUTPUT names no file: asked before the work.
    [[nodiscard]] Status ready(const World& world) const;
    /// `value` is one line, with its newline.
    [[nodiscard]] Status append(const World& world, std::string_view value) const;
};

/// --step-summary: the report goes to the page of the job, too, as Markdown.
struct StepSummary {
    static constexpr std::size_t kLimit = 1u << 20;  ///< bytes of a step: of more GitHub shows nothing

    bool wanted = false;

    Argument add(const Arguments& app);
    /// An input failure where it is wanted and GITHUB_STEP_SUMMARY names no file: asked before the work.
    [[nodiscard]] Status ready(const World& world) const;
    /// What `markdown` gives, behind what earlier commands of the step wrote. What is beyond the limit is
    /// left out, and a sentence of the summary says so; where not even that fits, one on stderr.
    [[nodiscard]] Status append(const World& world, const std::function<std::string()>& markdown) const;
};

}  // namespace cudamatrix
