#pragma once

#include <cstdint>

#include "kernels/interpreter/access.hpp"

namespace cudamatrix::suite::ptx {

/// `release`: an atomic access behind which others are ordered that see it.
enum class AccessKind : std::uint8_t { read, write, atomic, release };

/// Remembers an access and looks for an earlier one of another thread that nothing orders with it, one of the
/// two being a write (PTX ISA, "Memory Consistency Model": a data race). Throws Fault when there is one.
/// Does nothing where RunOptions::races is off.
/// `silent`: a write of what is there already, which nobody can see, and which is usual for flags.
void record_access(Warp& warp, int lane, const Place& place, unsigned size, AccessKind kind,
                   bool silent = false);

}  // namespace cudamatrix::suite::ptx
