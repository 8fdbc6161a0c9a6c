#pragma once

#include <string>
#include <vector>

#include "kernels/interpreter/lexer.hpp"

namespace cudamatrix::suite::ptx {

/// The tokens of a module, one after the other. The last one, `end`, is never passed.
class TokenReader {
  public:
    explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    [[nodiscard]] const Token& peek() const { return tokens_[at_]; }
    [[nodiscard]] const Token& peek_second() const {
        return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_];
    }
    const Token& next() { return peek().kind == TokenKind::end ? peek() : tokens_[at_++]; }

    [[nodiscard]] bool is(const char* text) const {
        return peek().text == text && (peek().kind == TokenKind::character || peek().kind == TokenKind::word);
    }
    bool take(const char* text) {
        if (!is(text)) return false;
        next();
        return true;
    }
    void need(const char* text) {
        if (!take(text)) fail_at(peek(), std::string("\"") + text + "\"");
    }
    /// A word that is no directive.
    const Token& name(const char* what) {
        if (peek().kind != TokenKind::word || peek().text[0] == '.') fail_at(peek(), what);
        return next();
    }
    std::uint64_t integer(const char* what) {
        if (peek().kind != TokenKind::integer) fail_at(peek(), what);
        return next().value;
    }
    /// An integer of at least `least` and at most `most`.
    std::uint64_t integer(const char* what, std::uint64_t least, std::uint64_t most) {
        const Token token = peek();
        const std::uint64_t value = integer(what);
        if (value < least || value > most)
            fail_at(token,
                    std::string(what) + " of " + std::to_string(least) + " to " + std::to_string(most));
        return value;
    }
    /// An integer with an optional sign.
    std::int64_t offset() {
        const bool negative = take("-");
        const std::uint64_t value = integer("a number");
        return static_cast<std::int64_t>(negative ? ~value + 1 : value);
    }
    void skip_line() {
        const std::uint32_t line = peek().line;
        while (peek().kind != TokenKind::end && peek().line == line)
            next();
    }
    void skip_past(const char* text) {
        while (!take(text)) {
            if (peek().kind == TokenKind::end) fail_at(peek(), std::string("\"") + text + "\"");
            next();
        }
    }

  private:
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
};

}  // namespace cudamatrix::suite::ptx
