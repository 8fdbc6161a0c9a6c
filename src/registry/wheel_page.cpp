// A project's page: anchors of HTML (PEP 503) or files of JSON (PEP 691).
#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/text.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix {
namespace {

using Attributes = std::map<std::string, std::string>;

struct Tag {
    std::string name;  ///< lower case
    Attributes attributes;
};

void append_utf8(std::string& out, unsigned long code) {
    const auto byte = [&](unsigned long value) { out += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | code >> 6);
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | code >> 12);
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3F));
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
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

bool is_sha256(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

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

// Signed and pre-authenticated URLs keep their query; user and password of the index stay with its host.
std::string without_fragment(const url::Parts& parts) {
    const auto user = parts.user_info.empty() ? "" : parts.user_info + "@";
    return parts.scheme + "://" + user + parts.authority + parts.path;
}

std::string file_name(const url::Parts& parts) {
    const auto path = std::string_view(parts.path).substr(0, parts.path.find('?'));
    const auto decoded = url::percent_decoded(path.substr(path.rfind('/') + 1));
    return decoded ? *decoded : "";
}

Status known_version(std::string_view version, const std::string& url) {
    if (version.empty() || version == "1" || version.starts_with("1.")) return Done{};
    return page_failure(url, fmt::format("it speaks version {} of the index interface, version 1 is known",
                                         text::printable(version)));
}

const std::string* attribute(const Tag& tag, const std::string& name) {
    const auto found = tag.attributes.find(name);
    return found == tag.attributes.end() ? nullptr : &found->second;
}

Result<IndexFile> file_of(const Tag& tag, const std::string& base, const std::string& page) {
    CM_TRY_ASSIGN(const auto parts, file_url(base, *attribute(tag, "href"), page));
    IndexFile file;
    file.name = file_name(parts);
    file.url = without_fragment(parts);
    for (const auto& part : text::split(parts.fragment, '&')) {
        if (part.starts_with("sha256=") && is_sha256(part.substr(7))) file.sha256 = part.substr(7);
    }
    if (const auto* python = attribute(tag, "data-requires-python")) file.requires_python = *python;
    if (const auto* reason = attribute(tag, "data-yanked")) {
        file.yanked = true;
        file.yanked_reason = *reason;
    }
    for (const auto* name : {"data-core-metadata", "data-dist-info-metadata"}) {
        const auto* value = attribute(tag, name);
        if (value != nullptr && *value != "false") file.has_metadata = true;
    }
    return file;
}

Result<std::vector<IndexFile>> parse_html(std::string_view page, const std::string& url) {
    std::vector<IndexFile> files;
    auto base = url;
    HtmlTags tags(page);
    while (const auto tag = tags.next()) {
        const auto* href = attribute(*tag, "href");
        if (tag->name == "base" && href != nullptr) {
            const auto joined = url::join(url, *href);
            if (!joined) return page_failure(url, "its base is not an http or https URL");
            base = *joined;
        }
        if (tag->name == "meta" && tag->attributes.count("name") != 0 &&
            tag->attributes.at("name") == "pypi:repository-version") {
            const auto* content = attribute(*tag, "content");
            CM_TRY(known_version(content == nullptr ? "" : *content, url));
        }
        if (tag->name != "a" || href == nullptr) continue;
        CM_TRY_ASSIGN(auto file, file_of(*tag, base, url));
        if (!file.name.empty()) files.push_back(std::move(file));
    }
    return files;
}

bool truth(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && !found->is_null() && !(found->is_boolean() && !found->get<bool>());
}

Result<std::vector<IndexFile>> parse_json_page(std::string_view page, const std::string& url) {
    CM_TRY_ASSIGN(const auto json, parse_json(page, url::shown(url)));
    if (!json.is_object() || !json.contains("files") || !json["files"].is_array())
        return page_failure(url, "its JSON has no list of files");
    if (json.contains("meta") && json["meta"].is_object()) {
        CM_TRY(known_version(string_or(json["meta"], "api-version"), url));
    }
    std::vector<IndexFile> files;
    for (const auto& each : json["files"]) {
        if (!each.is_object()) return page_failure(url, "a file in its JSON is not an object");
        CM_TRY_ASSIGN(const auto parts, file_url(url, string_or(each, "url"), url));
        IndexFile file;
        file.name = string_or(each, "filename");
        file.url = without_fragment(parts);
        if (const auto hashes = each.find("hashes"); hashes != each.end() && hashes->is_object()) {
            const auto sha256 = text::lower(string_or(*hashes, "sha256"));
            if (is_sha256(sha256)) file.sha256 = sha256;
        }
        file.requires_python = string_or(each, "requires-python");
        file.yanked = truth(each, "yanked");
        file.yanked_reason = string_or(each, "yanked");
        file.has_metadata = truth(each, "core-metadata") || truth(each, "dist-info-metadata");
        if (const auto size = each.find("size"); size != each.end() && size->is_number_unsigned())
            file.size = size->get<std::uint64_t>();
        file.uploaded = string_or(each, "upload-time").substr(0, 10);
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
