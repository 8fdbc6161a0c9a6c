// The structure of a Dockerfile, read by rules of its own: what no value may change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The words of one shell command line after quotes are taken off; operators stand alone as "OP:&&". nullopt
/// where a quote is not closed. An unquoted expansion ($, `, *, ?, [, ~) marks its word with a leading
/// "EXPANDS:".
std::optional<std::vector<std::string>> shell_tokens(std::string_view line);

/// The words of a Dockerfile instruction that is not a shell command (double quotes, backslash; $ expands in
/// those in which BuildKit replaces variables).
std::optional<std::vector<std::string>> instruction_tokens(std::string_view line, bool replaced = true);

/// One entry for each instruction: its keyword, flags, and what its words are: "RUN 3 words, OP:&&, 2 words".
/// "BROKEN" where it cannot be read.
std::vector<std::string> dockerfile_structure(std::string_view text);
