#include "matrix/yaml_writer.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::yaml {
namespace {

// What YAML 1.1 reads as something else than a word.
bool is_reserved(std::string_view word) {
    static const std::vector<std::string> words{"y",   "n",    "yes",   "no",   "on",
                                                "off", "true", "false", "null", "none"};
    return std::ranges::find(words, text::lower(word)) != words.end();
}

// Begins with a letter and holds nothing that YAML gives a meaning to, inside brackets either.
bool is_plain(std::string_view text) {
    return !text.empty() && (text::is_lower(text.front()) || text::is_upper(text.front())) &&
           text::only(text, " -_./@+=") && text.back() != ' ' && !is_reserved(text);
}

std::string scalar(const Json& value) {
    if (!value.is_string()) return to_text(value, false);
    const auto& text = value.get_ref<const std::string&>();
    return is_plain(text) ? text : to_text(value, false);
}

bool is_single(const Json& value) {
    return !value.is_structured();
}

// A script: lines that a literal block keeps as they are.
bool is_literal(const Json& value) {
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    if (text.find('\n') == std::string::npos || text.back() != '\n' || text.front() == ' ' ||
        text.front() == '\n')
        return false;
    const auto lines = text::split(text, '\n');
    return std::ranges::all_of(lines, [](const std::string& line) {
        return text::printable(line) == line && (line.empty() || line.back() != ' ');
    });
}

bool is_short(const Json& value) {
    return value.is_array() && std::ranges::all_of(value, is_single);
}

bool is_flat(const Json& value) {
    return value.is_object() && std::ranges::all_of(value.items(), [](const auto& member) {
               return (is_single(member.value()) ? !is_literal(member.value()) : is_short(member.value())) &&
                      !member.key().ends_with('#');
           });
}

// `on` is a key of GitHub's that everybody leaves without quotes.
std::string key(const std::string& name) {
    const bool bare = !name.empty() && (text::is_word(name.front()) || name.front() == '.') &&
                      text::only(name, " -_./@+=$") && name.back() != ' ' &&
                      (!is_reserved(name) || name == "on");
    return bare ? name : to_text(Json(name), false);
}

std::string flow(const Json& value) {
    std::vector<std::string> parts;
    if (value.is_array()) {
        for (const auto& item : value)
            parts.push_back(scalar(item));
        return "[" + text::join(parts, ", ") + "]";
    }
    for (const auto& [name, member] : value.items())
        parts.push_back(key(name) + ": " + (is_single(member) ? scalar(member) : flow(member)));
    return "{" + text::join(parts, ", ") + "}";
}

class Writer {
  public:
    void comment(std::string_view line) { out_ += fmt::format("# {}\n", line); }

    void members(const Json& object, std::size_t indent, bool continues = false) {
        for (const auto& [name, value] : object.items()) {
            if (name.ends_with('#')) continue;
            out_ += continues ? "" : std::string(indent, ' ');
            continues = false;
            out_ += key(name) + ":";
            const auto comment = object.find(name + "#");
            if (comment != object.end()) {
                out_ += fmt::format(" {}  # {}\n", scalar(value), comment->get<std::string>());
            } else {
                behind_key(value, indent);
            }
        }
    }

    std::string take() && { return std::move(out_); }

  private:
    void behind_key(const Json& value, std::size_t indent) {
        if (value.is_structured() && value.empty()) {
            out_ += value.is_array() ? " []\n" : " {}\n";
        } else if (is_literal(value)) {
            out_ += " |\n";
            literal(value, indent + 2);
        } else if (is_single(value)) {
            out_ += " " + scalar(value) + "\n";
        } else if (is_short(value) && !std::ranges::any_of(value, is_literal) &&
                   flow(value).size() + indent <= kWidth) {
            out_ += " " + flow(value) + "\n";
        } else if (value.is_array()) {
            out_ += "\n";
            items(value, indent + 2);
        } else {
            out_ += "\n";
            members(value, indent + 2);
        }
    }

    void items(const Json& array, std::size_t indent) {
        const bool on_lines = std::ranges::all_of(
            array, [&](const Json& item) { return is_flat(item) && flow(item).size() + indent <= kWidth; });
        for (const auto& item : array) {
            out_ += std::string(indent, ' ') + "- ";
            if (is_literal(item)) {
                out_ += "|\n";
                literal(item, indent + 2);
            } else if (is_single(item)) {
                out_ += scalar(item) + "\n";
            } else if (on_lines || is_short(item)) {
                out_ += flow(item) + "\n";
            } else {
                members(item, indent + 2, true);
            }
        }
    }

    void literal(const Json& value, std::size_t indent) {
        auto lines = text::split(value.get_ref<const std::string&>(), '\n');
        lines.pop_back();
        for (const auto& line : lines)
            out_ += line.empty() ? "\n" : std::string(indent, ' ') + line + "\n";
    }

    static constexpr std::size_t kWidth = 140;  // of what stands on one line
    std::string out_;
};

}  // namespace

std::string document_text(const std::vector<std::string>& head, const Json& document) {
    Writer writer;
    for (const auto& line : head)
        writer.comment(line);
    writer.members(document, 0);
    return std::move(writer).take();
}

}  // namespace cudamatrix::yaml
