// How this process deals with the memory that it no longer needs.
#pragma once

namespace cudamatrix {

/// Blocks of a megabyte and more go back to the system as soon as they are freed. Left to itself the C
/// library keeps freed blocks of up to 32 MiB in its heap, and a command that streams files through buffers
/// of some megabytes then holds twice what it uses. For commands that stream; nothing where the C library is
/// another one than glibc.
void give_large_blocks_back();

}  // namespace cudamatrix
