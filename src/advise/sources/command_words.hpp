// What the readers of commands share (private to advise/sources).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advise/sources/installers.hpp"

namespace cudamatrix::sources {

using Words = std::vector<Word>;

struct Argument {
    std::string name;  ///< of an option; empty: a word by itself
    Word value;
};
/// Options with values, flags (without) and words, from that word on.
[[nodiscard]] std::vector<Argument> arguments_of(const Words& words, std::size_t from,
                                                 std::span<const std::string_view> with_value);
/// Where a command begins.
[[nodiscard]] Location whole(const Words& words);

[[nodiscard]] bool is_python(std::string_view program);
[[nodiscard]] bool is_pip(std::string_view program);

/// pip, and `uv pip`, from the word behind it on; `python`: the command names one.
void read_pip(const Command& command, std::string_view tool, std::string python, std::size_t from,
              std::vector<Step>& steps, std::vector<Skipped>& skipped);
void read_uv(const Command& command, std::size_t from, std::vector<Step>& steps,
             std::vector<Skipped>& skipped);
/// An environment made from the lock file that lies in the project's folder.
void read_lock(const Words& words, std::string_view tool, std::string_view file, std::vector<Step>& steps);

/// What nvcc and CMake are told to compile for.
void add_gencode(const Command& command, std::vector<Step>& steps);

}  // namespace cudamatrix::sources
