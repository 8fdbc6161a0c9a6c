#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

/// Which instructions are in which kernel, out of the text of a program.
namespace cudamatrix::suite {

/// Opcodes of each kernel by its name, without predicates and operands: "wmma.mma.sync...", "HMMA.16816.F32".
using Listing = std::map<std::string, std::set<std::string>>;

/// Of PTX: the bodies of its `.entry` functions, not of what they call.
[[nodiscard]] Listing list_ptx(std::string_view text);

/// Of what nvdisasm writes about a cubin: its sections .text.NAME.
[[nodiscard]] Listing list_sass(std::string_view text);

/// Does the pattern of a WantedOpcode describe it?
[[nodiscard]] bool opcode_matches(std::string_view pattern, std::string_view opcode);

}  // namespace cudamatrix::suite
