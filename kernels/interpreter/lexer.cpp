#include "kernels/interpreter/lexer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace cudamatrix::suite::ptx {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool starts_word(char c) {
    return is_letter(c) || c == '_' || c == '$' || c == '%' || c == '.';
}
bool in_word(char c) {
    return starts_word(c) || is_digit(c);
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text.substr(0, text.find('\0'))) {}

    std::vector<Token> run() {
        if (text_.size() > kMostText)
            throw ParseError("PTX of " + std::to_string(text_.size()) + " bytes: at most " +
                             std::to_string(kMostText) + " are read");
        while (skip_blank())
            tokens_.push_back(next());
        tokens_.push_back({TokenKind::end, {}, 0, line_});
        return std::move(tokens_);
    }

  private:
    [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

    [[noreturn]] void fail(const std::string& what) const {
        throw ParseError("PTX line " + std::to_string(line_) + ": " + what);
    }

    /// False at the end of the text.
    bool skip_blank() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '\n') ++line_;
            if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
                ++at_;
            } else if (c == '/' && at(at_ + 1) == '/') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (c == '/' && at(at_ + 1) == '*') {
                skip_comment();
            } else {
                return true;
            }
        }
        return false;
    }

    void skip_comment() {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail("a comment /* has no end");
        for (; at_ < end + 2; ++at_) {
            if (text_[at_] == '\n') ++line_;
        }
    }

    Token next() {
        const std::size_t begin = at_;
        const char c = text_[at_];
        Token token{TokenKind::character, {}, 0, line_};
        if (c == '"') {
            const std::size_t end = text_.find('"', at_ + 1);
            if (end == std::string_view::npos ||
                text_.substr(at_, end - at_).find('\n') != std::string_view::npos)
                fail("a string has no end");
            token.kind = TokenKind::text;
            token.text = text_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
            return token;
        }
        if (is_digit(c)) return number();
        if (starts_word(c)) {
            while (in_word(at(at_)) || (at(at_) == ':' && at(at_ + 1) == ':' && in_word(at(at_ + 2))))
                at_ += at(at_) == ':' ? 2 : 1;
            token.kind = TokenKind::word;
        } else if (std::strchr("()[]{}<>,;:+-*/!|@=", c) != nullptr) {
            ++at_;
        } else {
            fail("unexpected byte " + found({TokenKind::character, text_.substr(at_, 1), 0, line_}));
        }
        token.text = text_.substr(begin, at_ - begin);
        return token;
    }

    /// PTX ISA, "Constants".
    Token number() {
        Token token{TokenKind::integer, {}, 0, line_};
        std::size_t end = at_;
        while (in_word(at(end)) && at(end) != '$' && at(end) != '%')
            ++end;
        if ((at(end) == '+' || at(end) == '-') && (at(end - 1) == 'e' || at(end - 1) == 'E') &&
            is_decimal_real(end))
            while (is_digit(at(++end))) {
            }
        token.text = text_.substr(at_, end - at_);
        at_ = end;
        std::string_view digits = token.text;
        const char mark = digits.size() > 1 && digits[0] == '0' ? digits[1] : '\0';
        if ((mark == 'f' || mark == 'F') && digits.size() == 10) {
            token.kind = TokenKind::single;
            token.value = integer(digits.substr(2), 16, token);
        } else if ((mark == 'd' || mark == 'D') && digits.size() == 18) {
            token.kind = TokenKind::real;
            token.value = integer(digits.substr(2), 16, token);
        } else if (digits.find('.') != std::string_view::npos) {
            token.kind = TokenKind::real;
            token.value = decimal(token);
        } else {
            if (digits.back() == 'U') digits.remove_suffix(1);
            const bool hex = mark == 'x' || mark == 'X';
            const bool binary = mark == 'b' || mark == 'B';
            token.value = integer(digits.substr(hex || binary ? 2 : 0),
                                  hex            ? 16
                                  : binary       ? 2
                                  : mark != '\0' ? 8
                                                 : 10,
                                  token);
        }
        return token;
    }

    [[nodiscard]] bool is_decimal_real(std::size_t end) const {
        return text_.substr(at_, end - at_).find('.') != std::string_view::npos;
    }

    [[nodiscard]] std::uint64_t integer(std::string_view digits, unsigned base, const Token& token) const {
        constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t value = 0;
        for (const char c : digits) {
            const int digit = is_digit(c) ? c - '0' : is_letter(c) ? (c | 0x20) - 'a' + 10 : 99;
            if (digit >= static_cast<int>(base)) fail("invalid number " + found(token));
            const auto add = static_cast<std::uint64_t>(digit);
            if (value > (kMost - add) / base) fail("number " + found(token) + " does not fit into 64 bits");
            value = value * base + add;
        }
        if (digits.empty()) fail("invalid number " + found(token));
        return value;
    }

    [[nodiscard]] std::uint64_t decimal(const Token& token) const {
        const std::string copy(token.text);
        char* end = nullptr;
        const double value = std::strtod(copy.c_str(), &end);
        if (end != copy.c_str() + copy.size()) fail("invalid number " + found(token));
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
    return Lexer(text).run();
}

std::string found(const Token& token) {
    constexpr std::size_t kMost = 60;
    if (token.kind == TokenKind::end) return "the end of the text";
    std::string shown;
    for (const char c : token.text.substr(0, kMost)) {
        constexpr const char* kHex = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f) {
            shown += c;
        } else {
            shown += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        }
    }
    return "\"" + shown + (token.text.size() > kMost ? "..." : "") + "\"";
}

void fail_at(const Token& token, const std::string& expected) {
    throw ParseError("PTX line " + std::to_string(token.line) + ": expected " + expected + ", found " +
                     found(token));
}

}  // namespace cudamatrix::suite::ptx
