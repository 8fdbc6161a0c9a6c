#pragma once

#include <cstdint>
#include <functional>

#include "kernels/interpreter/access.hpp"

namespace cudamatrix::suite::ptx {

/// `release`: an atomic access behind which others are ordered that see it.
enum class AccessKind : std::uint8_t { read, write, atomic, release };

/// Looks for an earlier access of another thread that nothing orders with this one, one of the two being a
/// write (PTX ISA, "Memory Consistency Model": a data race). Throws Fault when there is one. Does nothing
/// where RunOptions::races is off.
/// `is_silent`: whether a write finds its value there already, which nobody can see, and which is usual for
/// flags. Asked when an earlier access is known, since blocks run at once.
void check_access(Warp& warp, int lane, const Place& place, unsigned size, AccessKind kind,
                  const std::function<bool()>& is_silent = {});

/// Remembers an access for those after it. A store comes before: who sees the record sees the value.
void publish_access(Warp& warp, int lane, const Place& place, unsigned size, AccessKind kind);

/// Both, where nobody can be silent.
void record_access(Warp& warp, int lane, const Place& place, unsigned size, AccessKind kind);

}  // namespace cudamatrix::suite::ptx
