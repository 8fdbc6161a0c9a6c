#include "advise/sources/shell.hpp"

#include <algorithm>

#include "advise/sources/shell_tokens.hpp"
#include "base/text.hpp"

namespace cudamatrix::sources {
namespace {

enum class Truth { no, maybe, yes };

Truth both(Truth a, Truth b) {
    return std::min(a, b);
}

// What `[ a = b ]`, `test` and `[[ ]]` say; everything else succeeds, as far as anybody knows.
Truth outcome(const Command& command) {
    if (command.words.empty()) return Truth::yes;
    std::vector<std::string> words;
    for (const auto& word : command.words)
        words.push_back(word.text);
    const bool brackets = words[0] == "[" || words[0] == "[[";
    if (!brackets && words[0] != "test") return words[0] == "false" ? Truth::no : Truth::yes;
    words.erase(words.begin());
    if (brackets && !words.empty()) words.pop_back();
    bool negated = false;
    if (!words.empty() && words[0] == "!") {
        negated = true;
        words.erase(words.begin());
    }
    const bool open = std::ranges::any_of(words, [](const auto& word) { return is_open(word); });
    std::optional<bool> says;
    if (!open && words.size() == 2 && (words[0] == "-n" || words[0] == "-z"))
        says = (words[0] == "-z") == words[1].empty();
    if (!open && words.size() == 1) says = !words[0].empty();
    if (!open && words.size() == 3 && (words[1] == "=" || words[1] == "==" || words[1] == "!=")) {
        const bool equal = brackets && command.words[0].text == "[[" ? text::glob_match(words[2], words[0])
                                                                     : words[0] == words[2];
        says = equal == (words[1] != "!=");
    }
    if (!says) return Truth::maybe;
    return *says != negated ? Truth::yes : Truth::no;
}

// if, case, loops and functions, as far as they are open.
struct Block {
    enum class Kind { condition, choice, other } kind = Kind::other;
    Truth here = Truth::yes;  // whether the part that is read runs
    Truth taken = Truth::no;  // whether one of the parts before it did
    bool reads_condition = false;
    Truth condition = Truth::yes;
    std::string subject;  // of case
};

class ShellReader {
  public:
    ShellReader(const Script& script, const FileText& file, const Lookup& lookup,
                const std::function<void(const Command&)>& run)
        : tokens_(script, file, lookup), run_(run) {}

    void read() {
        for (;;) {
            auto token = tokens_.next();
            if (token.is_end()) break;
            if (!token.op.empty()) {
                at_operator(token);
            } else if (expects_file_) {
                at_file(std::move(token));
            } else {
                at_word(std::move(token));
            }
        }
        finish("\n");
    }

  private:
    void at_operator(const Token& token) {
        if (expects_file_) expects_file_ = false;
        if (token.op == "<" || token.op == ">" || token.op == ">>" || token.op == "<<" || token.op == "&>" ||
            token.op == ">&") {
            // 2>file: the number belongs to the redirect
            const bool numbered = token.attached && !command_.words.empty() &&
                                  !command_.words.back().quoted &&
                                  (command_.words.back().text == "2" || command_.words.back().text == "1");
            if (numbered) command_.words.pop_back();
            command_.redirects.push_back(
                {{}, token.word.where, token.op == ">" || token.op == ">>", token.attached && !numbered});
            command_.redirected_after.push_back(command_.words.size());
            expects_file_ = true;
            return;
        }
        if (token.op == ")" && in_pattern_) {
            in_pattern_ = false;
            auto& block = blocks_.back();
            block.here = block.taken == Truth::yes     ? Truth::no
                         : block.taken == Truth::maybe ? both(pattern_, Truth::maybe)
                                                       : pattern_;
            block.taken = std::max(block.taken, pattern_);
            command_ = {};
            return;
        }
        if (in_pattern_) return;  // a | b
        finish(token.op);
        if (token.op == ";;" && !blocks_.empty() && blocks_.back().kind == Block::Kind::choice)
            begin_pattern();
    }

    void at_file(Token token) {
        expects_file_ = false;
        command_.redirects.back().file = std::move(token.word.text);
    }

    // Whatever was read of the head of the case: `case x ;;` has no `in`.
    void begin_pattern() {
        reads_case_ = 0;
        in_pattern_ = true;
        pattern_ = Truth::no;
    }

    void add_pattern(const Word& word) {
        const auto& subject = blocks_.back().subject;
        const bool open = subject.find(kOpen) != std::string::npos || word.is_open();
        const auto says = open && word.text != "*"               ? Truth::maybe
                          : text::glob_match(word.text, subject) ? Truth::yes
                                                                 : Truth::no;
        pattern_ = std::max(pattern_, says);
    }

    void at_word(Token token) {
        if (in_pattern_) {
            if (token.raw == "esac") {
                in_pattern_ = false;
                close();
            } else {
                add_pattern(token.word);
            }
            return;
        }
        if (reads_case_ > 0) {
            if (reads_case_ == 1) blocks_.back().subject = token.word.text;
            if (++reads_case_ == 3) begin_pattern();
            return;
        }
        if (command_.words.empty() && reserved(token)) return;
        if (command_.words.empty() && assignment(token)) return;
        command_.words.push_back(std::move(token.word));
    }

    // True: the word was one of the shell's own.
    bool reserved(const Token& token) {
        const auto& raw = token.raw;
        if (raw == "if") {
            blocks_.push_back({Block::Kind::condition, Truth::yes, Truth::no, true, Truth::yes, {}});
        } else if (raw == "then" || raw == "else") {
            if (blocks_.empty()) return true;
            auto& block = blocks_.back();
            const auto says = raw == "then" ? block.condition : Truth::yes;
            block.here = block.taken == Truth::yes     ? Truth::no
                         : block.taken == Truth::maybe ? both(says, Truth::maybe)
                                                       : says;
            block.taken = std::max(block.taken, says);
            block.reads_condition = false;
        } else if (raw == "elif") {
            if (blocks_.empty()) return true;
            blocks_.back().here = Truth::yes;
            blocks_.back().reads_condition = true;
            blocks_.back().condition = Truth::yes;
        } else if (raw == "for") {
            in_for_ = true;
            blocks_.push_back({});
        } else if (raw == "while" || raw == "until") {
            blocks_.push_back({Block::Kind::other, Truth::maybe, Truth::no, false, Truth::yes, {}});
        } else if (raw == "do") {
            in_for_ = false;
        } else if (raw == "case") {
            blocks_.push_back({Block::Kind::choice, Truth::no, Truth::no, false, Truth::yes, {}});
            reads_case_ = 1;
        } else if (raw == "fi" || raw == "done" || raw == "esac") {
            close();
        } else if (raw == "!") {
            negated_ = !negated_;
        } else {
            return raw == "{" || raw == "}" || raw == "time";
        }
        return true;
    }

    void close() {
        if (!blocks_.empty()) blocks_.pop_back();
    }

    bool assignment(const Token& token) {
        const auto equals = token.raw.find('=');
        if (equals == 0 || equals == std::string::npos || !text::only(token.raw.substr(0, equals), "_"))
            return false;
        const auto& text = token.word.text;
        const auto at = text.find('=');
        if (at == std::string::npos) return false;
        command_.assignments.push_back(
            {text.substr(0, at), {text.substr(at + 1), token.word.where, token.word.quoted}});
        return true;
    }

    [[nodiscard]] Truth here() const {
        auto out = chain_;
        for (const auto& block : blocks_)
            out = both(out, block.here);
        return out;
    }

    void finish(const std::string& op) {
        const auto program = command_.words.empty() ? std::string() : command_.words[0].text;
        const bool empty = command_.words.empty() && command_.assignments.empty();
        if (!empty && !in_for_) {
            const auto runs = here();
            command_.maybe = runs == Truth::maybe;
            command_.pipe_from = std::exchange(pipe_from_, {});
            if (runs != Truth::no) run_(command_);
            last_ = runs == Truth::no ? last_ : outcome(command_);
            if (negated_) last_ = last_ == Truth::yes ? Truth::no : last_ == Truth::no ? Truth::yes : last_;
            if (!blocks_.empty() && blocks_.back().reads_condition)
                blocks_.back().condition = joined_ == "&&"   ? both(blocks_.back().condition, last_)
                                           : joined_ == "||" ? std::max(blocks_.back().condition, last_)
                                                             : last_;
        }
        if (!empty) negated_ = false;
        command_ = {};
        if (op == "&&") {
            chain_ = both(chain_, last_);
        } else if (op == "||") {
            // whether a program succeeds nobody knows
            chain_ = chain_ == Truth::no || last_ == Truth::no ? Truth::yes
                     : is_test(program) && last_ == Truth::yes ? Truth::no
                                                               : Truth::maybe;
        } else if (op == "|") {
            pipe_from_ = program;
        } else if (op == ";" || op == "\n" || op == ";;" || op == "&") {
            if (!empty || op != "\n" || (joined_ != "&&" && joined_ != "||")) chain_ = Truth::yes;
        }
        if (!empty || op == ";") joined_ = op;
    }

    static bool is_test(std::string_view program) {
        return program == "[" || program == "[[" || program == "test";
    }

    Tokens tokens_;
    const std::function<void(const Command&)>& run_;
    Command command_;
    std::vector<Block> blocks_;
    bool expects_file_ = false;
    bool in_for_ = false;      // between for and do
    bool in_pattern_ = false;  // of case
    bool negated_ = false;
    int reads_case_ = 0;
    Truth pattern_ = Truth::no;
    Truth chain_ = Truth::yes;  // of && and ||
    Truth last_ = Truth::yes;
    std::string joined_, pipe_from_;
};

}  // namespace

std::vector<Variable> assigned(const Command& command) {
    if (command.words.empty()) return command.assignments;
    std::vector<Variable> out;
    if (file_name(command.words[0].text) != "export") return out;
    for (const auto& word : command.words) {
        const auto equals = word.text.find('=');
        if (equals != std::string::npos)
            out.push_back(
                {word.text.substr(0, equals), {word.text.substr(equals + 1), word.where, word.quoted}});
    }
    return out;
}

bool is_shell(std::string_view program) {
    const auto name = file_name(program);
    return name == "sh" || name == "bash" || name == "dash" || name == "ash" || name == "zsh";
}

const Word* script_of(const std::vector<Word>& words) {
    const bool is_it = words.size() == 3 && is_shell(words[0].text) && words[1].text.starts_with("-") &&
                       words[1].text.ends_with("c");
    return is_it ? &words[2] : nullptr;
}

void each_command(const Script& script, const FileText& file, const Lookup& lookup,
                  const std::function<void(const Command&)>& run) {
    ShellReader(script, file, lookup, run).read();
}

}  // namespace cudamatrix::sources
