#include "render/templates/context.hpp"

#include <algorithm>
#include <array>

#include "base/image_reference.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix::mustache {
namespace {

constexpr std::array<std::pair<std::string_view, Context>, 12> kContexts{{
    {"env", Context::env},
    {"label", Context::label},
    {"arg", Context::arg},
    {"json", Context::json},
    {"yaml", Context::yaml},
    {"yaml_key", Context::yaml_key},
    {"yaml_int", Context::yaml_int},
    {"raw_comment", Context::raw_comment},
    {"path", Context::path},
    {"word", Context::word},
    {"image", Context::image},
    {"ident", Context::ident},
}};

using text::is_digit;
using text::is_word;

// Nearly every value is made of these, and printable() changes none of them.
bool is_plain(std::string_view value) {
    return std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
}

bool made_of(std::string_view value, std::string_view extra) {
    return std::ranges::all_of(value,
                               [&](char c) { return is_word(c) || extra.find(c) != std::string_view::npos; });
}

// In double quotes a Dockerfile takes a backslash before these three as an escape, and expands nothing else.
std::string quoted_for_dockerfile(std::string_view value) {
    std::string out = "\"";
    for (const char c : value) {
        if (c == '\\' || c == '"' || c == '$') out += '\\';
        out += c;
    }
    return out + '"';
}

std::variant<std::string, Refused> shell_word(std::string_view value) {
    if (value.find("<<") != std::string_view::npos) return Refused{"\"<<\", which may begin a here-document"};
    // A bare leading '-' directly behind RUN would be read as a flag of the instruction, a leading '~' as a
    // folder.
    const bool bare =
        !value.empty() && made_of(value, "_./+:@%,=~-") && value.front() != '-' && value.front() != '~';
    if (bare) return std::string(value);
    return "'" + text::replace_all(value, "'", "'\\''") + "'";
}

// JSON strings are YAML double-quoted scalars; "$$" is compose's escape of '$'.
std::string yaml_scalar(std::string_view value) {
    return text::replace_all(cudamatrix::to_text(Json(std::string(value)), false), "$", "$$");
}

std::variant<std::string, Refused> yaml_key(std::string_view value) {
    constexpr std::size_t longest = 1024;  // YAML looks no further for the ':'
    auto key = yaml_scalar(value);
    if (key.size() > longest) return Refused{"more than a key of a map may hold (1024 characters)"};
    return key;
}

std::variant<std::string, Refused> whole_number(std::string_view value) {
    const auto digits = value.starts_with('-') ? value.substr(1) : value;
    // A leading zero would make an octal number of it, in some readers.
    if (digits.empty() || digits.size() > 18 || !std::ranges::all_of(digits, is_digit) ||
        (digits.size() > 1 && digits.front() == '0')) {
        return Refused{"no whole number"};
    }
    return std::string(value);
}

std::variant<std::string, Refused> bare_path(std::string_view value) {
    if (value.empty()) return Refused{"nothing, where a path is needed"};
    if (value.front() == '-') return Refused{"a leading '-', which would be read as an option"};
    if (!made_of(value, "_./+~-"))
        return Refused{"a character not allowed in a bare path (expected letters, digits and _ . / + ~ -)"};
    for (const auto& part : text::split(value, '/')) {
        if (part == "..") return Refused{"a \"..\" step"};
    }
    return std::string(value);
}

std::variant<std::string, Refused> bare_word(std::string_view value) {
    if (value.empty()) return Refused{"nothing, where a word is needed"};
    const char first = value.front();
    if (!(is_word(first) || first == '_') || !made_of(value, "_.+!:~-")) {
        return Refused{"a character not allowed in a bare word (expected letters, digits and _ . + ! : ~ -)"};
    }
    return std::string(value);
}

// With a registry and a tag, so that it can be no name of a stage.
std::variant<std::string, Refused> image_reference(std::string_view value) {
    const auto at = std::min(value.find('@'), value.size());
    const bool digest = at == value.size() || is_image_digest(value.substr(at + 1));
    if (!is_tag_reference(value.substr(0, at)) || !digest)
        return Refused{
            "not an image with registry and tag (expected for example docker.io/library/python:3.12-slim)"};
    return std::string(value);
}

std::variant<std::string, Refused> identifier(std::string_view value) {
    if (value.empty() || is_digit(value.front()) || !made_of(value, "_")) {
        return Refused{"not a variable name (expected letters, digits and _)"};
    }
    return std::string(value);
}

}  // namespace

std::optional<Context> context_named(std::string_view name) {
    for (const auto& [text, context] : kContexts) {
        if (text == name) return context;
    }
    return std::nullopt;
}

std::string_view to_string(Context context) {
    for (const auto& [text, each] : kContexts) {
        if (each == context) return text;
    }
    return "?";
}

const std::vector<std::string>& context_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& [text, context] : kContexts)
            all.emplace_back(text);
        return all;
    }();
    return names;
}

std::variant<std::string, Refused> escape(std::string_view value, Context context) {
    // printable() changes exactly what must never reach a file: controls, invalid UTF-8, invisible
    // characters.
    if (!is_plain(value) && text::printable(value) != value)
        return Refused{"a control character, a line end or invalid text"};
    switch (context) {
        case Context::env:
        case Context::label:
            return quoted_for_dockerfile(value);
        case Context::arg:
            return shell_word(value);
        case Context::json:
            return cudamatrix::to_text(Json(std::string(value)), false);
        case Context::yaml:
            return yaml_scalar(value);
        case Context::yaml_key:
            return yaml_key(value);
        case Context::yaml_int:
            return whole_number(value);
        case Context::raw_comment:
            // A backslash at its end would join the next line to the comment in some readers.
            if (value.ends_with('\\')) return Refused{"a backslash at the end of a comment"};
            return std::string(value);
        case Context::path:
            return bare_path(value);
        case Context::word:
            return bare_word(value);
        case Context::image:
            return image_reference(value);
        case Context::ident:
            return identifier(value);
    }
    return Refused{"an unknown context"};
}

}  // namespace cudamatrix::mustache
