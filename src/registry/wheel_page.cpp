// A project's page: anchors of HTML (PEP 503) or files of JSON (PEP 691).
#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix {
namespace {

struct Tag {
    std::string name;                               ///< lower case
    std::map<std::string, std::string> attributes;  ///< names in lower case

    [[nodiscard]] const std::string* find(const std::string& name_of_one) const {
        const auto found = attributes.find(name_of_one);
        return found == attributes.end() ? nullptr : &found->second;
    }
};

void append_utf8(std::string& out, unsigned long code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
        return;
    }
    const int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr unsigned long leads[] = {0, 0xC0, 0xE0, 0xF0};
    out += static_cast<char>(leads[tails] | code >> (6 * tails));
    for (int i = tails - 1; i >= 0; --i)
        out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

// "&gt;=3.9" as ">=3.9"; what is no known reference stays as it is.
std::string unescaped(std::string_view text) {
    static constexpr std::pair<std::string_view, char> kNamed[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    std::string out;
    while (!text.empty()) {
        const auto at = text.find('&');
        out += text.substr(0, at);
        if (at == std::string_view::npos) break;
        text.remove_prefix(at);
        const auto end = text.find(';');
        const auto name = end == std::string_view::npos || end > 10 ? "" : text.substr(1, end - 1);
        const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                         [&](const auto& each) { return each.first == name; });
        if (named != std::end(kNamed)) {
            out += named->second;
            text.remove_prefix(end + 1);
            continue;
        }
        if (name.size() > 1 && name[0] == '#') {
            const bool hex = name[1] == 'x' || name[1] == 'X';
            const std::string digits(name.substr(hex ? 2 : 1));
            char* stop = nullptr;
            const auto code = std::strtoul(digits.c_str(), &stop, hex ? 16 : 10);
            if (!digits.empty() && *stop == '\0' && code != 0 && code < 0x110000) {
                append_utf8(out, code);
                text.remove_prefix(end + 1);
                continue;
            }
        }
        out += '&';
        text.remove_prefix(1);
    }
    return out;
}

// Start tags of a page in their order; text, end tags and comments are passed over.
class HtmlTags {
  public:
    explicit HtmlTags(std::string_view page) : rest_(page) {}

    std::optional<Tag> next() {
        for (;;) {
            const auto open = rest_.find('<');
            if (open == std::string_view::npos) return std::nullopt;
            rest_.remove_prefix(open + 1);
            if (rest_.starts_with("!--")) {
                const auto end = rest_.find("-->");
                if (end == std::string_view::npos) return std::nullopt;
                rest_.remove_prefix(end + 3);
                continue;
            }
            if (rest_.empty() || rest_.front() == '/' || rest_.front() == '!') continue;
            return tag();
        }
    }

  private:
    static constexpr std::string_view kBlank = " \t\r\n\f/";

    std::string_view word(std::string_view until) {
        const auto text = rest_.substr(0, rest_.find_first_of(until));
        rest_.remove_prefix(text.size());
        return text;
    }
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlank), rest_.size())); }

    Tag tag() {
        Tag tag;
        tag.name = text::lower(word(" \t\r\n\f/>"));
        for (;;) {
            skip_blanks();
            if (rest_.empty() || rest_.front() == '>') return tag;
            const auto name = text::lower(word(" \t\r\n\f/>="));
            skip_blanks();
            std::string value;
            if (rest_.starts_with('=')) {
                rest_.remove_prefix(1);
                rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n\f"), rest_.size()));
                value = unescaped(this->value());
            } else if (name.empty()) {
                rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
            }
            if (!name.empty()) tag.attributes.emplace(name, std::move(value));
        }
    }
    std::string_view value() {
        if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return word(" \t\r\n\f>");
        const char quote = rest_.front();
        rest_.remove_prefix(1);
        const auto text = rest_.substr(0, rest_.find(quote));
        rest_.remove_prefix(std::min(text.size() + 1, rest_.size()));
        return text;
    }

    std::string_view rest_;
};

Failure page_failure(const std::string& url, std::string_view why) {
    return input_failure(fmt::format("{}: {}", url::shown(url), why),
                         "name an index that speaks PEP 503 or PEP 691 (--index URL)");
}

// Absolute, with the fragment taken off; failure for what leads to no http(s) server.
Result<url::Parts> file_url(const std::string& base, const std::string& reference, const std::string& page) {
    const auto joined = url::join(base, reference);
    const auto parts = joined ? url::parse(*joined) : std::nullopt;
    if (!parts)
        return page_failure(page, fmt::format("a file is at '{}', which is not an http or https URL",
                                              text::printable(reference.substr(0, 100))));
    return *parts;
}

std::string file_name(const url::Parts& parts) {
    const auto path = std::string_view(parts.path).substr(0, parts.path.find('?'));
    const auto decoded = text::percent_decoded(path.substr(path.rfind('/') + 1));
    return decoded ? *decoded : "";
}

Status known_version(std::string_view version, const std::string& url) {
    if (version.empty() || version == "1" || version.starts_with("1.")) return Done{};
    return page_failure(url, fmt::format("it speaks version {} of the index interface, version 1 is known",
                                         text::printable(version)));
}

Result<IndexFile> file_of(const Tag& tag, const std::string& base, const std::string& page) {
    CM_TRY_ASSIGN(const auto parts, file_url(base, *tag.find("href"), page));
    IndexFile file;
    file.name = file_name(parts);
    file.url = parts.with_user();
    for (const auto& part : text::split(parts.fragment, '&')) {
        if (part.starts_with("sha256=") && is_sha256(part.substr(7))) file.sha256 = part.substr(7);
    }
    if (const auto* python = tag.find("data-requires-python")) file.requires_python = *python;
    if (const auto* reason = tag.find("data-yanked")) {
        file.yanked = true;
        file.yanked_reason = *reason;
    }
    return file;
}

Result<std::vector<IndexFile>> parse_html(std::string_view page, const std::string& url) {
    std::vector<IndexFile> files;
    auto base = url;
    HtmlTags tags(page);
    while (const auto tag = tags.next()) {
        const auto* href = tag->find("href");
        if (tag->name == "base" && href != nullptr) {
            const auto joined = url::join(url, *href);
            if (!joined) return page_failure(url, "its base is not an http or https URL");
            base = *joined;
        }
        const auto* name = tag->find("name");
        if (tag->name == "meta" && name != nullptr && *name == "pypi:repository-version") {
            const auto* content = tag->find("content");
            CM_TRY(known_version(content == nullptr ? "" : *content, url));
        }
        if (tag->name != "a" || href == nullptr) continue;
        CM_TRY_ASSIGN(auto file, file_of(*tag, base, url));
        if (!file.name.empty()) files.push_back(std::move(file));
    }
    return files;
}

Result<std::vector<IndexFile>> parse_json_page(std::string_view page, const std::string& url) {
    CM_TRY_ASSIGN(const auto json, parse_json(page, url::shown(url)));
    const auto* list = member(json, "files");
    if (list == nullptr || !list->is_array()) return page_failure(url, "its JSON has no list of files");
    if (const auto* meta = member(json, "meta")) {
        CM_TRY(known_version(string_or(*meta, "api-version"), url));
    }
    std::vector<IndexFile> files;
    for (const auto& each : *list) {
        if (!each.is_object()) return page_failure(url, "a file in its JSON is not an object");
        CM_TRY_ASSIGN(const auto parts, file_url(url, string_or(each, "url"), url));
        IndexFile file;
        file.name = string_or(each, "filename");
        file.url = parts.with_user();
        const auto* hashes = member(each, "hashes");
        const auto sha256 = hashes == nullptr ? "" : text::lower(string_or(*hashes, "sha256"));
        if (is_sha256(sha256)) file.sha256 = sha256;
        file.requires_python = string_or(each, "requires-python");
        const auto* yanked = member(each, "yanked");  // PEP 691: true, or the reason
        file.yanked = yanked != nullptr && !yanked->is_null() && *yanked != Json(false);
        file.yanked_reason = string_or(each, "yanked");
        if (const auto* size = member(each, "size"); size != nullptr && size->is_number_unsigned())
            file.size = size->get<std::uint64_t>();
        if (!file.name.empty()) files.push_back(std::move(file));
    }
    return files;
}

}  // namespace

Result<std::vector<IndexFile>> parse_project_page(std::string_view page, std::string_view content_type,
                                                  const std::string& url) {
    const auto type = text::lower(text::trim(content_type.substr(0, content_type.find(';'))));
    if (type == "application/vnd.pypi.simple.v1+json" || type == "application/json")
        return parse_json_page(page, url);
    if (type == "application/vnd.pypi.simple.v1+html" || type == "text/html") return parse_html(page, url);
    return page_failure(
        url, fmt::format("it is not an index page: its content type is '{}'", text::printable(type)));
}

}  // namespace cudamatrix
