#include "advise/sources/instructions.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::sources {
namespace {

std::string upper(std::string_view text) {
    std::string out(text);
    for (auto& c : out)
        if (text::is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
    return out;
}

// The documents that a line announces: <<EOF, <<-"EOF".
std::vector<Heredoc> announced(std::string_view text) {
    std::vector<Heredoc> out;
    char quote = 0;
    for (std::size_t i = 0; i + 2 < text.size(); ++i) {
        const char c = text[i];
        if ((c == '\'' || c == '"') && (quote == 0 || quote == c)) quote = quote == 0 ? c : 0;
        if (quote != 0 || c != '<' || text[i + 1] != '<') continue;
        if (text[i + 2] == '<') {  // here string
            i += 2;
            continue;
        }
        Heredoc doc;
        auto at = i + 2;
        if (text[at] == '-') {
            doc.strips_tabs = true;
            ++at;
        }
        for (; at < text.size() &&
               (text::is_word(text[at]) || text[at] == '_' || text[at] == '"' || text[at] == '\'');
             ++at) {
            if (text[at] != '"' && text[at] != '\'') doc.name.push_back(text[at]);
        }
        if (!doc.name.empty()) out.push_back(std::move(doc));
        i = at - 1;
    }
    return out;
}

void take_flags(Instruction& out) {
    const auto& text = out.rest.text;
    std::size_t at = 0;
    while (text.compare(at, 2, "--") == 0) {
        const auto end = std::min(text.find(' ', at), text.size());
        const auto flag = text.substr(at + 2, end - at - 2);
        const auto equals = flag.find('=');
        out.flags.emplace_back(flag.substr(0, equals),
                               equals == std::string::npos ? std::string() : flag.substr(equals + 1));
        at = std::min(text.find_first_not_of(' ', end), text.size());
    }
    if (at != 0) out.rest = out.rest.from(at);
}

}  // namespace

Instructions::Instructions(const FileText& file) : file_(file), text_(file.text()) {
    read_directives();
}

std::optional<Instruction> Instructions::next() {
    Instruction out;
    Script line;
    while (at_ < text_.size()) {
        const auto begin = at_;
        const auto end = std::min(text_.find('\n', at_), text_.size());
        at_ = end + 1;
        auto shown = text_.substr(begin, end - begin);
        if (shown.ends_with('\r')) shown.remove_suffix(1);
        const auto trimmed = text::trim(shown);
        if (trimmed.empty() || trimmed[0] == '#') continue;  // in a continued line, too
        auto last = shown.find_last_not_of(" \t");
        const bool continues = shown[last] == escape_;
        if (!continues) ++last;
        for (std::size_t i = 0; i < last; ++i)
            line.add(shown[i] == '\t' ? ' ' : shown[i], begin + i);
        if (!continues) break;
        line.add(' ', begin + last);
    }
    const auto first = line.text.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    line = line.from(first);
    const auto word = std::min(line.text.find(' '), line.text.size());
    out.keyword = upper(line.text.substr(0, word));
    out.where = file_.at(line.offset(0), word);
    out.rest = line.from(std::min(line.text.find_first_not_of(' ', word), line.text.size()));
    take_flags(out);
    if (out.keyword == "RUN" || out.keyword == "COPY" || out.keyword == "ADD") take_heredocs(out);
    return out;
}

void Instructions::read_directives() {
    auto at = at_;
    while (at < text_.size()) {
        const auto end = std::min(text_.find('\n', at), text_.size());
        const auto line = text::trim(text_.substr(at, end - at));
        at = end + 1;
        if (!line.starts_with("#")) return;
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) return;
        const auto value = text::trim(line.substr(equals + 1));
        if (text::lower(text::trim(line.substr(1, equals - 1))) == "escape" && value == "`") escape_ = '`';
    }
}

void Instructions::take_heredocs(Instruction& out) {
    out.heredocs = announced(out.rest.text);
    for (auto& doc : out.heredocs) {
        while (at_ < text_.size()) {
            const auto begin = at_;
            const auto end = std::min(text_.find('\n', at_), text_.size());
            at_ = end + 1;
            auto line = text_.substr(begin, end - begin);
            if (line.ends_with('\r')) line.remove_suffix(1);
            auto shown = line;
            while (doc.strips_tabs && shown.starts_with('\t'))
                shown.remove_prefix(1);
            if (shown == doc.name) break;
            for (std::size_t i = 0; i < line.size(); ++i)
                doc.body.add(line[i], begin + i);
            doc.body.add('\n', begin + line.size());
        }
    }
}

Script joined(const Script& body) {
    Script out;
    for (std::size_t i = 0; i < body.text.size(); ++i) {
        if (body.text[i] == '\\' && i + 1 < body.text.size() && body.text[i + 1] == '\n') {
            ++i;
        } else {
            out.add(body.text[i], body.at[i]);
        }
    }
    return out;
}

}  // namespace cudamatrix::sources
