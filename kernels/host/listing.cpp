#include "kernels/host/listing.hpp"

#include <algorithm>
#include <cctype>

namespace cudamatrix::suite {
namespace {

constexpr std::string_view kBlankCharacters = " \t\r\n";

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(kBlankCharacters), text.size());
    const std::size_t end = text.find_last_not_of(kBlankCharacters);
    return text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin);
}

std::string without_comments(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view two = text.substr(at, 2);
        if (two == "//") {
            at = std::min(text.find('\n', at), text.size());
        } else if (two == "/*") {
            const std::size_t end = text.find("*/", at + 2);
            plain += ' ';
            at = end == std::string_view::npos ? text.size() : end + 2;
        } else {
            plain += text[at++];
        }
    }
    return plain;
}

/// "@!P0 MOV R1, R2" -> "MOV"; "" for a directive.
std::string opcode_of(std::string_view statement) {
    statement = trimmed(statement);
    if (!statement.empty() && statement.front() == '@')
        statement =
            trimmed(statement.substr(std::min(statement.find_first_of(kBlankCharacters), statement.size())));
    const std::string_view opcode = statement.substr(0, statement.find_first_of(" \t\r\n;,"));
    const bool letter = !opcode.empty() && std::isalpha(static_cast<unsigned char>(opcode.front())) != 0;
    return letter ? std::string(opcode) : "";
}

/// A colon that ends a label, and is no half of the "::" inside an opcode.
bool ends_label(std::string_view text, std::size_t at) {
    return text[at] == ':' && text.substr(at + 1, 1) != ":" && (at == 0 || text[at - 1] != ':');
}

/// The statements of a body that begins at `at`, behind its brace; gives the place behind its end.
std::size_t read_body(std::string_view text, std::size_t at, std::set<std::string>& opcodes) {
    int depth = 1;
    std::size_t begin = at;
    for (; at < text.size() && depth > 0; ++at) {
        const char c = text[at];
        const bool between = trimmed(text.substr(begin, at - begin)).empty();
        if (c == '{' && !between) {  // operands: {%f1, %f2}
            at = std::min(text.find('}', at), text.size() - 1);
            continue;
        }
        if (c == '{') depth += 1;
        if (c == '}') depth -= 1;
        if (c == ';') {
            const std::string opcode = opcode_of(text.substr(begin, at - begin));
            if (!opcode.empty()) opcodes.insert(opcode);
        }
        if (c == ';' || c == '{' || c == '}' || ends_label(text, at)) begin = at + 1;
    }
    return at;
}

bool matches_one(std::string_view pattern, std::string_view opcode) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == opcode;
    if (opcode.substr(0, star) != pattern.substr(0, star)) return false;
    const std::string_view rest = pattern.substr(star + 1);
    for (std::size_t at = star; at <= opcode.size(); ++at) {
        if (matches_one(rest, opcode.substr(at))) return true;
    }
    return false;
}

}  // namespace

Listing list_ptx(std::string_view text) {
    const std::string plain = without_comments(text);
    const std::string_view view = plain;
    constexpr std::string_view kEntry = ".entry";
    Listing listing;
    for (std::size_t at = view.find(kEntry); at != std::string_view::npos; at = view.find(kEntry, at)) {
        at += kEntry.size();
        const std::size_t name = std::min(view.find_first_not_of(kBlankCharacters, at), view.size());
        const std::size_t end = std::min(view.find_first_of(" \t\r\n({;", name), view.size());
        const std::size_t body = view.find_first_of("{;", end);
        if (body == std::string_view::npos) break;
        at = body + 1;
        if (view[body] == '{') at = read_body(view, at, listing[std::string(view.substr(name, end - name))]);
    }
    return listing;
}

Listing list_sass(std::string_view text) {
    constexpr std::string_view kSection = ".text.";
    Listing listing;
    std::set<std::string>* opcodes = nullptr;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = trimmed(text.substr(begin, end - begin));
        begin = end + 1;
        if (line.substr(0, kSection.size()) == kSection && line.back() == ':') {
            const std::string_view name = line.substr(kSection.size(), line.size() - kSection.size() - 1);
            opcodes = &listing[std::string(name)];
            continue;
        }
        const std::size_t address = line.find("*/");  // /*0010*/ @P0 MOV R1, R2 ;
        if (opcodes == nullptr || line.substr(0, 2) != "/*" || address == std::string_view::npos) continue;
        std::string_view instruction = trimmed(line.substr(address + 2));
        if (!instruction.empty() && instruction.front() == '{') instruction = instruction.substr(1);
        const std::string opcode = opcode_of(instruction);
        if (!opcode.empty()) opcodes->insert(opcode);
    }
    return listing;
}

bool opcode_matches(std::string_view pattern, std::string_view opcode) {
    while (!pattern.empty()) {
        const std::size_t end = std::min(pattern.find('|'), pattern.size());
        if (matches_one(pattern.substr(0, end), opcode)) return true;
        pattern.remove_prefix(std::min(end + 1, pattern.size()));
    }
    return false;
}

}  // namespace cudamatrix::suite
