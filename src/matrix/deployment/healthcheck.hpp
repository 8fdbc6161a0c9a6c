// Commands and healthchecks, as images and services have them.
#pragma once

#include <string>
#include <vector>

#include "matrix/deployment/services.hpp"
#include "matrix/entry.hpp"

namespace cudamatrix {

[[nodiscard]] std::vector<std::string> texts(const std::vector<Word>& words);

/// A list of words; the first is a program.
[[nodiscard]] std::vector<std::string> read_argv(const Entry& entry, const yaml::Member& member);

/// A command, or a map with `test` and times.
void read_healthcheck(const Entry& entry, const yaml::Member& member, Healthcheck& check);

}  // namespace cudamatrix
