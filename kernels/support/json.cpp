#include "kernels/support/json.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace cudamatrix::suite::json {
namespace {

/// Length of the valid UTF-8 sequence at the front, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf && tail(1)) return 2;
    if (first >= 0xe0 && first <= 0xef && tail(1) && tail(2)) {
        const bool overlong = first == 0xe0 && byte(1) < 0xa0;
        const bool surrogate = first == 0xed && byte(1) > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xf0 && first <= 0xf4 && tail(1) && tail(2) && tail(3)) {
        const bool overlong = first == 0xf0 && byte(1) < 0x90;
        const bool too_high = first == 0xf4 && byte(1) > 0x8f;
        return overlong || too_high ? 0 : 4;
    }
    return 0;
}

void append_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text.front());
        const std::size_t length = utf8_length(text);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += text.front();
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (c < 0x20 || c == 0x7f) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else if (length == 0) {
            out += "\xef\xbf\xbd";
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
}

void append_real(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    char text[40];
    for (int digits = 6; digits <= 17; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, value);
        if (std::strtod(text, nullptr) == value) break;
    }
    out += text;
}

class Parser {
  public:
    Parser(std::string_view text, std::string& error) : text_(text), error_(error) {}

    std::optional<Value> document() {
        Value value;
        if (!parse_value(value, 0)) return std::nullopt;
        skip_blanks();
        if (at_ != text_.size()) {
            fail("text after the value");
            return std::nullopt;
        }
        return value;
    }

  private:
    bool fail(const char* what) {
        if (error_.empty()) error_ = "byte " + std::to_string(at_) + ": " + what;
        return false;
    }
    void skip_blanks() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    bool take(char c) {
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    bool take_word(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    bool parse_value(Value& value, int depth) {
        constexpr int kMaxDepth = 64;
        if (depth > kMaxDepth) return fail("nested too deeply");
        skip_blanks();
        if (at_ >= text_.size()) return fail("value expected, text ends");
        const char c = text_[at_];
        if (c == '{') return parse_object(value, depth);
        if (c == '[') return parse_array(value, depth);
        if (c == '"') {
            std::string text;
            if (!parse_string(text)) return false;
            value = Value(std::move(text));
            return true;
        }
        if (take_word("true")) return value = Value(true), true;
        if (take_word("false")) return value = Value(false), true;
        if (take_word("null")) return value = Value(), true;
        return parse_number(value);
    }

    bool parse_object(Value& value, int depth) {
        value = Value::object();
        ++at_;
        skip_blanks();
        if (take('}')) return true;
        do {
            skip_blanks();
            std::string name;
            if (at_ >= text_.size() || text_[at_] != '"') return fail("member name expected");
            if (!parse_string(name)) return false;
            skip_blanks();
            if (!take(':')) return fail("':' expected");
            if (value.find(name) != nullptr) return fail("member name used twice");
            Value member;
            if (!parse_value(member, depth + 1)) return false;
            value.set(name, std::move(member));
            skip_blanks();
        } while (take(','));
        return take('}') || fail("',' or '}' expected");
    }

    bool parse_array(Value& value, int depth) {
        value = Value::array();
        ++at_;
        skip_blanks();
        if (take(']')) return true;
        do {
            Value item;
            if (!parse_value(item, depth + 1)) return false;
            value.push_back(std::move(item));
            skip_blanks();
        } while (take(','));
        return take(']') || fail("',' or ']' expected");
    }

    bool parse_hex4(unsigned& code) {
        code = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            if (at_ >= text_.size()) return fail("\\u escape cut off");
            const char c = text_[at_];
            code *= 16;
            if (c >= '0' && c <= '9') {
                code += static_cast<unsigned>(c - '0');
            } else if (c >= 'a' && c <= 'f') {
                code += static_cast<unsigned>(c - 'a' + 10);
            } else if (c >= 'A' && c <= 'F') {
                code += static_cast<unsigned>(c - 'A' + 10);
            } else {
                return fail("\\u escape with a character that is not a hex digit");
            }
        }
        return true;
    }

    static void append_utf8(std::string& out, unsigned code) {
        const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
        if (code < 0x80) {
            put(code);
        } else if (code < 0x800) {
            put(0xc0 | (code >> 6));
            put(0x80 | (code & 0x3f));
        } else if (code < 0x10000) {
            put(0xe0 | (code >> 12));
            put(0x80 | ((code >> 6) & 0x3f));
            put(0x80 | (code & 0x3f));
        } else {
            put(0xf0 | (code >> 18));
            put(0x80 | ((code >> 12) & 0x3f));
            put(0x80 | ((code >> 6) & 0x3f));
            put(0x80 | (code & 0x3f));
        }
    }

    bool parse_escape(std::string& out) {
        static constexpr std::string_view kFrom = "\"\\/bfnrt";
        static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
        if (at_ >= text_.size()) return fail("escape cut off");
        const char c = text_[at_++];
        if (const auto i = kFrom.find(c); i != std::string_view::npos) return out += kTo[i], true;
        if (c != 'u') return fail("unknown escape");
        unsigned code = 0;
        if (!parse_hex4(code)) return false;
        if (code >= 0xdc00 && code <= 0xdfff) return fail("lone low surrogate");
        if (code >= 0xd800 && code <= 0xdbff) {
            unsigned low = 0;
            if (!take_word("\\u") || !parse_hex4(low)) return fail("high surrogate without its low one");
            if (low < 0xdc00 || low > 0xdfff) return fail("high surrogate without its low one");
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        append_utf8(out, code);
        return true;
    }

    bool parse_string(std::string& out) {
        ++at_;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"') return ++at_, true;
            if (static_cast<unsigned char>(c) < 0x20) return fail("control character in a string");
            if (c == '\\') {
                ++at_;
                if (!parse_escape(out)) return false;
                continue;
            }
            const std::size_t length = utf8_length(text_.substr(at_));
            if (length == 0) return fail("invalid UTF-8");
            out += text_.substr(at_, length);
            at_ += length;
        }
        return fail("string without its closing quote");
    }

    std::size_t take_digits() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
            ++at_;
        return at_ - begin;
    }

    bool parse_number(Value& value) {
        const std::size_t begin = at_;
        take('-');
        const bool zero = at_ < text_.size() && text_[at_] == '0';
        const std::size_t digits = take_digits();
        if (digits == 0 || (zero && digits > 1)) return fail("value expected");
        bool real = false;
        if (take('.')) {
            real = true;
            if (take_digits() == 0) return fail("digits expected after '.'");
        }
        if (take('e') || take('E')) {
            real = true;
            if (!take('+')) take('-');
            if (take_digits() == 0) return fail("digits expected in the exponent");
        }
        const std::string text(text_.substr(begin, at_ - begin));
        if (!real && digits <= 18) {
            value = Value(std::strtoll(text.c_str(), nullptr, 10));
        } else {
            value = Value(std::strtod(text.c_str(), nullptr));
        }
        return true;
    }

    std::string_view text_;
    std::string& error_;
    std::size_t at_ = 0;
};

}  // namespace

Value::Value(unsigned long value) {
    if (value <= static_cast<unsigned long>(std::numeric_limits<std::int64_t>::max())) {
        type_ = Type::integer;
        integer_ = static_cast<std::int64_t>(value);
    } else {
        type_ = Type::real;
        real_ = static_cast<double>(value);
    }
}

Value::Value(const std::vector<std::string>& values) : type_(Type::array) {
    for (const std::string& value : values)
        items_.emplace_back(value);
}

double Value::number() const {
    return type_ == Type::integer ? static_cast<double>(integer_) : real_;
}

void Value::set(std::string_view name, Value value) {
    for (Member& member : members_) {
        if (member.first == name) {
            member.second = std::move(value);
            return;
        }
    }
    members_.emplace_back(std::string(name), std::move(value));
}

void Value::erase(std::string_view name) {
    for (auto it = members_.begin(); it != members_.end(); ++it) {
        if (it->first == name) {
            members_.erase(it);
            return;
        }
    }
}

const Value* Value::find(std::string_view name) const {
    for (const Member& member : members_) {
        if (member.first == name) return &member.second;
    }
    return nullptr;
}

std::string Value::text_of(std::string_view name) const {
    const Value* member = find(name);
    return member == nullptr ? std::string() : member->text();
}

std::string Value::dump() const {
    std::string out;
    dump_to(out);
    return out;
}

void Value::dump_to(std::string& out) const {
    switch (type_) {
        case Type::null:
            out += "null";
            break;
        case Type::boolean:
            out += boolean_ ? "true" : "false";
            break;
        case Type::integer:
            out += std::to_string(integer_);
            break;
        case Type::real:
            append_real(out, real_);
            break;
        case Type::string:
            append_string(out, string_);
            break;
        case Type::array:
            out += '[';
            for (std::size_t i = 0; i < items_.size(); ++i) {
                if (i != 0) out += ',';
                items_[i].dump_to(out);
            }
            out += ']';
            break;
        case Type::object:
            out += '{';
            for (std::size_t i = 0; i < members_.size(); ++i) {
                if (i != 0) out += ',';
                append_string(out, members_[i].first);
                out += ':';
                members_[i].second.dump_to(out);
            }
            out += '}';
            break;
    }
}

std::optional<Value> parse(std::string_view text, std::string& error) {
    error.clear();
    return Parser(text, error).document();
}

}  // namespace cudamatrix::suite::json
