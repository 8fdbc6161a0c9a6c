// Work that a kill of this process does not stop half-way.
#pragma once

#include <functional>

namespace cudamatrix {

/// Runs `work` in a child process with a session of its own and waits for it: whoever kills this process
/// (kill -9 too), or all that its terminal started, does not stop the work. Nothing that `work` changes in
/// memory comes back. Returns whether it ran to its end and said true; false as well where no child could be
/// made or the child was killed: the caller does the work, or what is left of it, itself. To be called while
/// no other thread runs.
[[nodiscard]] bool done_apart(const std::function<bool()>& work);

}  // namespace cudamatrix
