// A loop over many things, shared out to all processors.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.hpp"

namespace cudamatrix {

/// Runs `work(begin, end)` on parts of 0 to `count`, at most one for each processor and none with fewer than
/// `least` things, in parallel. Waits for all; the failure is that of the first part that has one. What
/// `work` throws comes out here.
[[nodiscard]] Status parallel_for(std::size_t count, std::size_t least,
                                  const std::function<Status(std::size_t begin, std::size_t end)>& work);

/// Runs `work` on `count` threads at once, or on as many as are to be had, this one among them, and waits for
/// all. Each takes what is left to do until nothing is; `work` does not throw.
void on_threads(std::size_t count, const std::function<void()>& work);

}  // namespace cudamatrix
