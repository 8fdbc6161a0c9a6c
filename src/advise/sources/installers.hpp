// What a command installs: pip, uv, poetry, conda, apt, dnf, and what decides which python is meant (private
// to advise/sources).
#pragma once

#include <string_view>
#include <vector>

#include "advise/sources/shell.hpp"

namespace cudamatrix::sources {

/// What a command does, as steps; what it may do and nobody knows as skipped.
void read_command(const Command& command, std::vector<Step>& steps, std::vector<Skipped>& skipped);

/// One of conda's specs: "pytorch::pytorch=2.1.0=py3.10*", "python>=3.10".
[[nodiscard]] CondaInstall::Spec conda_spec(std::string_view text, const Location& where);

/// GPUs in the words of nvcc ("arch=compute_80,code=sm_80", "sm_90a") or CMake ("80;90-virtual") as those of
/// TORCH_CUDA_ARCH_LIST; a word that is none gives nothing.
[[nodiscard]] std::vector<std::string> architectures_of(std::string_view text);

/// "3.11" of /usr/bin/python3.11, pip3.11; empty for python3 and other programs.
[[nodiscard]] std::string python_of(std::string_view program);

}  // namespace cudamatrix::sources
