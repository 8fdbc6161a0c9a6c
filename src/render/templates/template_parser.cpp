#include "render/templates/template.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace cudamatrix::mustache {
namespace {

bool is_name(std::string_view name) {
    if (name == ".") return true;
    const auto legal = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    for (const auto& part : text::split(name, '.')) {
        if (part.empty() || !std::ranges::all_of(part, legal)) return false;
    }
    return true;
}

std::string indented(std::string_view text, const std::string& indent) {
    if (indent.empty()) return std::string(text);
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && c != '\n') out += indent;  // an empty line stays empty
        out += c;
        line_start = c == '\n';
    }
    return out;
}

class Parser {
  public:
    Parser(std::string source, const std::string& shown, std::size_t indent)
        : source_(std::move(source)), shown_(shown), indent_(indent) {}

    Result<Template> parse() {
        stack_.push_back({{}, {}, {}});
        std::size_t at = 0;
        while (at < source_.size())
            at = step(at);
        while (stack_.size() > 1) {
            error(stack_.back().where,
                  fmt::format("the section {{{{# {} }}}} is never closed", stack_.back().name),
                  fmt::format("close it with {{{{/ {} }}}}", stack_.back().name));
            close();
        }
        if (!mistakes_.empty()) return Failure{ExitCode::bad_input, std::move(mistakes_)};
        return Template{std::move(stack_.front().nodes), std::move(partials_)};
    }

  private:
    struct Open {
        std::string name;
        Location where;
        std::vector<Node> nodes;
        Node::Kind kind = Node::Kind::section;
    };
    // A tag with its braces: [begin, end), widened to its whole line where it stands alone.
    struct Tag {
        char sigil = 0;
        std::string_view body;
        Location where;
        std::size_t begin = 0, end = 0;
        bool alone = false;
        std::string indent;
    };

    // Takes the literal up to the next tag and that tag; gives the offset behind.
    std::size_t step(std::size_t at) {
        const auto open = source_.find("{{", at);
        if (open == std::string::npos) {
            literal(at, source_.size());
            return source_.size();
        }
        const auto close_at = source_.find("}}", open + 2);
        if (close_at == std::string::npos) {
            error(location(open, 2), "the tag {{ is never closed", "close it with }}");
            return source_.size();
        }
        Tag tag;
        tag.begin = open;
        tag.end = close_at + 2;
        tag.where = location(open, tag.end - open);
        auto body = text::trim(std::string_view(source_).substr(open + 2, close_at - open - 2));
        if (!body.empty() && std::string_view("#^/>!&={").find(body.front()) != std::string_view::npos) {
            tag.sigil = body.front();
            body = text::trim(body.substr(1));
        }
        tag.body = body;
        widen(tag, at);
        literal(at, tag.begin);
        take(tag);
        return tag.end;
    }

    // Tags that give no text themselves take their line with them when nothing else stands on it.
    void widen(Tag& tag, std::size_t at) {
        if (std::string_view("#^/>!").find(tag.sigil) == std::string_view::npos || tag.sigil == 0) return;
        const auto newline = tag.begin == 0 ? std::string::npos : source_.rfind('\n', tag.begin - 1);
        const auto line_start = newline == std::string::npos ? 0 : newline + 1;
        auto line_end = source_.find('\n', tag.end);
        line_end = line_end == std::string::npos ? source_.size() : line_end + 1;
        const auto blank = [&](std::size_t begin, std::size_t end) {
            return source_.substr(begin, end - begin).find_first_not_of(" \t\r\n") == std::string::npos;
        };
        // `at` behind the line's start: another tag stands before this one.
        if (line_start < at || !blank(line_start, tag.begin) || !blank(tag.end, line_end)) return;
        tag.alone = true;
        tag.indent = source_.substr(line_start, tag.begin - line_start);
        tag.begin = line_start;
        tag.end = line_end;
    }

    void take(const Tag& tag) {
        switch (tag.sigil) {
            case '!':
                return;
            case '#':
            case '^':
                if (check_name(tag)) {
                    const auto kind = tag.sigil == '#' ? Node::Kind::section : Node::Kind::inverted;
                    stack_.push_back({std::string(tag.body), tag.where, {}, kind});
                }
                return;
            case '/':
                return take_close(tag);
            case '>':
                if (check_name(tag)) {
                    partials_.emplace_back(tag.body);
                    stack_.back().nodes.push_back(
                        {Node::Kind::partial, std::string(tag.body), {}, tag.where, tag.indent, {}});
                }
                return;
            case '&':
            case '{':
            case '=':
                error(tag.where,
                      fmt::format("{{{{{} does not exist here: a value is written {{{{ name | context }}}}",
                                  tag.sigil),
                      "");
                return;
            default:
                return take_value(tag);
        }
    }

    void take_close(const Tag& tag) {
        if (stack_.size() == 1) {
            error(tag.where, fmt::format("{{{{/ {} }}}} closes nothing", tag.body), "delete it");
        } else if (tag.body != stack_.back().name) {
            error(tag.where,
                  fmt::format("found {{{{/ {} }}}}, expected {{{{/ {} }}}}", tag.body, stack_.back().name),
                  "");
        } else {
            close();
        }
    }

    void take_value(const Tag& tag) {
        const auto bar = tag.body.find('|');
        if (bar == std::string_view::npos) {
            error(tag.where,
                  fmt::format("{{{{ {} }}}} names no context: expected one of {}", tag.body,
                              text::join(context_names(), ", ")),
                  fmt::format("write {{{{ {} | CONTEXT }}}}", tag.body));
            return;
        }
        Tag named = tag;
        named.body = text::trim(tag.body.substr(0, bar));
        const auto word = text::trim(tag.body.substr(bar + 1));
        const auto context = context_named(word);
        if (!context) {
            const auto near = text::did_you_mean(word, context_names());
            error(tag.where,
                  fmt::format("unknown context {}: expected one of {}", word,
                              text::join(context_names(), ", ")),
                  near ? fmt::format("did you mean {}?", *near) : "");
            return;
        }
        if (!check_name(named)) return;
        stack_.back().nodes.push_back(
            {Node::Kind::value, std::string(named.body), *context, tag.where, {}, {}});
    }

    void close() {
        Open done = std::move(stack_.back());
        stack_.pop_back();
        stack_.back().nodes.push_back(
            {done.kind, std::move(done.name), {}, std::move(done.where), {}, std::move(done.nodes)});
    }

    void literal(std::size_t begin, std::size_t end) {
        if (begin < end)
            stack_.back().nodes.push_back(
                {Node::Kind::text, source_.substr(begin, end - begin), {}, location(begin, 1), {}, {}});
    }

    bool check_name(const Tag& tag) {
        if (is_name(tag.body) && !(tag.sigil == '>' && tag.body.find('.') != std::string_view::npos))
            return true;
        error(tag.where,
              fmt::format("invalid name \"{}\": expected letters, digits and _, joined by '.'", tag.body),
              "");
        return false;
    }

    void error(Location where, std::string message, std::string fix) {
        mistakes_.push_back(Diagnostic::error(std::move(message), std::move(where)).with_fix(std::move(fix)));
    }

    [[nodiscard]] Location location(std::size_t offset, std::size_t length) const {
        const auto before = std::string_view(source_).substr(0, offset);
        const auto newline = before.rfind('\n');
        const auto column = offset - (newline == std::string_view::npos ? 0 : newline + 1);
        const auto line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
        return {shown_, line, 1 + column - std::min(column, indent_), length};
    }

    std::string source_;
    const std::string& shown_;
    std::size_t indent_;
    std::vector<Open> stack_;
    std::vector<std::string> partials_;
    std::vector<Diagnostic> mistakes_;
};

}  // namespace

Result<Template> parse_template(std::string_view text, const std::string& shown, const std::string& indent) {
    return Parser(indented(text, indent), shown, indent.size()).parse();
}

}  // namespace cudamatrix::mustache
