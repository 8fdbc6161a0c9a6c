#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::suite::ptx {

/// What is wrong with a module, with the line: the parser's way out, caught by parse_module().
struct ParseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class TokenKind : std::uint8_t {
    word,       ///< a name, a directive or an opcode with its dots: add.s32, .reg, %r1, $L__BB0_1
    integer,    ///< `value`
    single,     ///< 0f3F800000: `value` holds the bits
    real,       ///< 0d... or 1.5: `value` holds the bits of a double
    text,       ///< "..." without its quotes
    character,  ///< one of ( ) [ ] { } < > , ; : + - * / ! | @ =
    end,
};

/// A view into the text, which must outlive it.
struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;
    std::uint64_t value = 0;
    std::uint32_t line = 0;
};

/// Bytes of PTX text that are taken; more are refused.
inline constexpr std::size_t kMostText = 64U << 20;

/// The tokens of a module (PTX ISA, "Syntax"), the last one of kind `end`. Comments are dropped; a NUL byte
/// ends the text, as nvcc writes one. Throws ParseError.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

/// "expected X, found Y" with the line of `token`.
[[noreturn]] void fail_at(const Token& token, const std::string& expected);
/// The token as messages name it.
[[nodiscard]] std::string found(const Token& token);

}  // namespace cudamatrix::suite::ptx
