#include "unit/render/injection/dockerfile_tokens.hpp"

#include "base/text.hpp"

namespace {

constexpr std::string_view kOperators = "&|;<>()";

class Words {
  public:
    void add(char c) {
        word_ += c;
        open_ = true;
    }
    void begin() { open_ = true; }
    void expands() { expands_ = open_ = true; }
    void end() {
        if (open_) all.push_back((expands_ ? "EXPANDS:" : "") + word_);
        word_.clear();
        open_ = expands_ = false;
    }
    [[nodiscard]] bool empty() const { return !open_; }
    std::vector<std::string> all;

  private:
    std::string word_;
    bool open_ = false;
    bool expands_ = false;
};

// Offset behind the closing quote, npos if there is none.
std::size_t single_quoted(std::string_view line, std::size_t at, Words& words) {
    words.begin();
    for (++at; at < line.size(); ++at) {
        if (line[at] == '\'') return at + 1;
        words.add(line[at]);
    }
    return std::string_view::npos;
}

std::size_t double_quoted(std::string_view line, std::size_t at, Words& words, std::string_view escapable,
                          bool replaced) {
    words.begin();
    for (++at; at < line.size(); ++at) {
        if (line[at] == '"') return at + 1;
        if (line[at] == '\\' && at + 1 < line.size() &&
            escapable.find(line[at + 1]) != std::string_view::npos) {
            words.add(line[++at]);
        } else {
            const bool special =
                line[at] == '$' || (line[at] == '`' && escapable.find('`') != std::string_view::npos);
            if (special && replaced) words.expands();
            words.add(line[at]);
        }
    }
    return std::string_view::npos;
}

// What the shell and BuildKit read alike: quotes, what follows a backslash, and blanks. The offset behind it,
// npos if a quote does not close; `at` itself where none of them stands.
std::size_t quoted_or_blank(std::string_view line, std::size_t at, Words& words, std::string_view escapable,
                            bool replaced) {
    const char c = line[at];
    if (c == '\'') return single_quoted(line, at, words);
    if (c == '"') return double_quoted(line, at, words, escapable, replaced);
    if (c == '\\' && at + 1 < line.size()) {
        words.add(line[at + 1]);
        return at + 2;
    }
    if (c != ' ' && c != '\t') return at;
    words.end();
    return at + 1;
}

std::string shape(const std::vector<std::string>& tokens) {
    std::string out;
    std::size_t words = 0;
    const auto flush = [&] {
        if (words > 0) out += fmt::format(" {}w", words);
        words = 0;
    };
    for (const auto& token : tokens) {
        if (token.starts_with("OP:")) {
            flush();
            out += " " + token.substr(3);
        } else if (token.starts_with("EXPANDS:")) {
            flush();
            out += " $";
        } else {
            ++words;
        }
    }
    flush();
    return out;
}

}  // namespace

std::optional<std::vector<std::string>> shell_tokens(std::string_view line) {
    Words words;
    for (std::size_t at = 0; at < line.size();) {
        const auto next = quoted_or_blank(line, at, words, "\"\\$`", true);
        if (next == std::string_view::npos) return std::nullopt;
        const char c = line[at];
        if (next != at) {
            at = next;
        } else if (c == '#' && words.empty()) {
            break;
        } else if (kOperators.find(c) != std::string_view::npos) {
            words.end();
            std::string op = "OP:";
            while (at < line.size() && line[at] == c)
                op += line[at++];
            words.all.push_back(op);
        } else {
            if (std::string_view("$`*?[").find(c) != std::string_view::npos || (c == '~' && words.empty()))
                words.expands();
            words.add(c);
            ++at;
        }
    }
    words.end();
    return words.all;
}

std::optional<std::vector<std::string>> instruction_tokens(std::string_view line, bool replaced) {
    Words words;
    for (std::size_t at = 0; at < line.size();) {
        const auto next = quoted_or_blank(line, at, words, replaced ? "\"\\$" : "\"\\", replaced);
        if (next == std::string_view::npos) return std::nullopt;
        if (next != at) {
            at = next;
        } else {
            if (line[at] == '$' && replaced) words.expands();
            words.add(line[at]);
            ++at;
        }
    }
    words.end();
    return words.all;
}

std::vector<std::string> dockerfile_structure(std::string_view text) {
    using namespace cudamatrix;
    std::vector<std::string> out;
    std::string joined;
    for (const auto& raw : text::split(text, '\n')) {
        auto line = text::trim(raw);
        // Comments and empty lines vanish, between instructions and inside of one.
        if (line.empty() || line.front() == '#') continue;
        if (line.ends_with('\\')) {
            joined += std::string(line.substr(0, line.size() - 1)) + " ";
            continue;
        }
        joined += line;
        const auto space = std::min(joined.find(' '), joined.size());
        const auto keyword = joined.substr(0, space);
        const auto rest = std::string(text::trim(std::string_view(joined).substr(space)));
        joined.clear();
        std::string flags;
        std::string_view body = rest;
        while (body.starts_with("--")) {
            const auto end = std::min(body.find(' '), body.size());
            flags += " FLAG";
            body = text::trim(body.substr(end));
        }
        if (keyword == "RUN" && body.find("<<") != std::string_view::npos) flags += " HEREDOC";
        // BuildKit replaces variables in no HEALTHCHECK: what the JSON of its command says is what is run.
        const bool replaced = keyword != "HEALTHCHECK";
        const auto tokens = keyword == "RUN" ? shell_tokens(body) : instruction_tokens(body, replaced);
        out.push_back(keyword + flags + (tokens ? shape(*tokens) : " BROKEN"));
    }
    if (!joined.empty()) out.push_back("UNFINISHED");
    return out;
}
