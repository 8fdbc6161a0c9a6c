// Work that may hang in the kernel or crash: done by a copy of this process, which is left behind where it
// does.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace cudamatrix {

struct Apart {
    std::string text;     ///< what `work` returned, at most 1 MiB of it
    std::string why_not;  ///< "no answer within 3 s", "killed by signal 11"; empty: `text` is whole
};

/// What `work` returns. The copy has no standard streams, writes no core file, and is killed after `limit`;
/// one that a kill does not end is not waited for. Refused while this process has another thread: a copy has
/// none of them, and what they hold stays locked in it.
[[nodiscard]] Apart run_apart(const std::function<std::string()>& work, std::chrono::milliseconds limit);

}  // namespace cudamatrix
