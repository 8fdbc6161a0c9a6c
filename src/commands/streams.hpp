// stdout and stderr: all that the program says leaves it here. What a stream does not take is no reason to
// end what the program does, and is never thrown: the stream itself remembers it, and main asks at the end.
#pragma once

#include <string_view>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "commands/command.hpp"

namespace cudamatrix {

/// First of all: a stream that the caller closed is opened on nothing, so that no file of ours takes its
/// place.
void open_streams();

/// To stdout. That it took something only in part is told on stderr, once.
void print(std::string_view text);

/// To stderr.
void tell(std::string_view text);
void tell(const Diagnostic& diagnostic, const World& world);

/// What the program ends with: `code`, or worse where a stream did not take everything.
[[nodiscard]] ExitCode after_streams(ExitCode code);

}  // namespace cudamatrix
