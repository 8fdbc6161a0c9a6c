// Words and operators of a shell script (included by shell.cpp alone).
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "advise/sources/text.hpp"

namespace cudamatrix::sources {

// One token: a word, or an operator.
struct Token {
    Word word;
    std::string op;         // "&&", ";", "\n", "<", ">"; empty: a word
    std::string raw;        // of a word: as it is written, for reserved words and patterns
    bool attached = false;  // no blank before it
    bool split = false;     // more words of the same unquoted variable follow
    [[nodiscard]] bool is_end() const { return op == "end"; }
};

inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

inline bool is_operator(char c) {
    return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<' || c == '>' || c == '\n';
}

class Tokens {
  public:
    Tokens(const Script& script, const FileText& file, const Lookup& lookup)
        : script_(script), text_(script.text), file_(file), lookup_(lookup) {}

    Token next() {
        if (!pending_.empty()) {
            auto out = std::move(pending_.front());
            pending_.pop_front();
            return out;
        }
        const auto before = index_;
        while (index_ < text_.size() && is_blank(text_[index_]))
            ++index_;
        Token token;
        token.attached = before == index_ && index_ > 0;
        if (index_ >= text_.size()) {
            token.op = "end";
            return token;
        }
        if (text_[index_] == '#' && !token.attached) return comment();
        if (is_operator(text_[index_])) return with_operator(std::move(token));
        return with_word(std::move(token));
    }

  private:
    Token comment() {
        while (index_ < text_.size() && text_[index_] != '\n')
            ++index_;
        return next();
    }

    Token with_operator(Token token) {
        static constexpr std::array<std::string_view, 7> kTwo{"&&", "||", ";;", ">>", "<<", "&>", ">&"};
        const auto rest = text_.substr(index_);
        const auto two = std::ranges::find_if(kTwo, [&](auto op) { return rest.starts_with(op); });
        token.op = two == kTwo.end() ? std::string(1, rest[0]) : std::string(*two);
        token.word.where = file_.at(script_.offset(index_), token.op.size());
        index_ += token.op.size();
        return token;
    }

    // A variable outside of quotes is several words where its value has blanks.
    void add_unquoted(const std::string& value, std::string& text, std::vector<std::string>& words) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (!is_blank(value[i]) && value[i] != '\n') {
                text.push_back(value[i]);
            } else if (!text.empty()) {
                words.push_back(std::exchange(text, {}));
            }
        }
    }

    Token with_word(Token token) {
        const auto begin = index_;
        std::string text;
        std::vector<std::string> words;
        char quote = 0;
        for (; index_ < text_.size();) {
            const char c = text_[index_];
            if (quote == 0 && (is_blank(c) || is_operator(c))) break;
            if (c == '\\' && quote != '\'') {
                const bool escapes = quote == 0 || (index_ + 1 < text_.size() &&
                                                    std::string_view("\"\\$`\n").find(text_[index_ + 1]) !=
                                                        std::string_view::npos);
                if (!escapes) text.push_back(c);
                if (index_ + 1 < text_.size() && escapes && text_[index_ + 1] != '\n')
                    text.push_back(text_[index_ + 1]);
                index_ += escapes ? 2 : 1;
                token.word.quoted = token.word.quoted || escapes;
            } else if ((c == '\'' || c == '"') && (quote == 0 || quote == c)) {
                quote = quote == 0 ? c : 0;
                token.word.quoted = true;
                ++index_;
            } else if (c == '$' && quote != '\'') {
                const auto value = expanded_at(text_, index_, lookup_);
                if (quote == 0) {
                    add_unquoted(value, text, words);
                } else {
                    text += value;
                }
            } else if (c == '`' && quote != '\'') {
                const auto end = text_.find('`', index_ + 1);
                index_ = end == std::string_view::npos ? text_.size() : end + 1;
                text.push_back(kOpen);
            } else {
                text.push_back(c);
                ++index_;
            }
        }
        index_ = std::min(index_, text_.size());
        token.raw = std::string(text_.substr(begin, index_ - begin));
        token.word.where = file_.at(script_.offset(begin), index_ - begin);
        if (!text.empty() || words.empty()) words.push_back(std::move(text));
        token.word.text = words.front();
        for (std::size_t i = 1; i < words.size(); ++i) {
            pending_.push_back(token);
            pending_.back().word.text = words[i];
            pending_.back().raw.clear();
        }
        return token;
    }

    const Script& script_;
    std::string_view text_;
    const FileText& file_;
    const Lookup& lookup_;
    std::size_t index_ = 0;
    std::deque<Token> pending_;
};

}  // namespace cudamatrix::sources
