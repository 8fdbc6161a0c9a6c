#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/interpreter/module.hpp"

namespace cudamatrix::suite::ptx {

/// A module, or what is wrong with its text: "PTX line 7: expected a type, found \"foo\"".
struct ParseResult {
    std::unique_ptr<Module> module;
    std::string error;
};

/// Reads PTX (PTX ISA, "Syntax" and "Directives"). Any text gives a module or an error. An instruction that
/// is not known, or not in its form, is no error here: it fails when it is executed (Function::messages).
[[nodiscard]] ParseResult parse_module(std::string_view text);

}  // namespace cudamatrix::suite::ptx
