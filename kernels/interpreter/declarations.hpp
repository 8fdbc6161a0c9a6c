#pragma once

#include "kernels/interpreter/module.hpp"
#include "kernels/interpreter/token_reader.hpp"

namespace cudamatrix::suite::ptx {

/// Bytes of one variable: more is refused as hostile.
inline constexpr std::uint64_t kMostVariable = 1ULL << 32;
/// Bytes of the parameters of a function (PTX ISA: 4352, 32764 from 8.1 on) and of all calls in it.
inline constexpr std::uint64_t kMostParam = 1U << 20;

/// Reads a declaration behind its state space: alignment, type, name, size, initial value. Throws ParseError.
[[nodiscard]] Variable read_variable(TokenReader& tokens, Space space);

/// Gives `variable` a place behind `top`, which moves.
void place(Variable& variable, std::uint64_t& top);

/// Reads the body of a function, "{" to "}", into `function`. Throws ParseError.
void read_body(TokenReader& tokens, Module& module, Function& function);

}  // namespace cudamatrix::suite::ptx
