#include "knowledge/facts/schema.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kCommon[] = {
    {"id", Kind::text, Form::scalar, kRequired},
    {"source", Kind::source, Form::either, kRequired},
    {"as_of", Kind::date, Form::scalar, kRequired},
    {"confidence", Kind::level, Form::scalar, kRequired},
    {"note", Kind::text},
    {"disputed", Kind::text},
};

bool all_of(std::string_view text, bool (*allowed)(char)) {
    return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

using text::is_digit;
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}
bool is_visible(char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7F;
}

}  // namespace

std::span<const Column> common_columns() {
    return kCommon;
}

std::span<const Schema> all_schemas() {
    static const std::vector<Schema> all = [] {
        std::vector<Schema> joined;
        for (const auto group : {build_schemas(), ci_schemas(), cuda_schemas(), image_schemas(),
                                 package_schemas(), symptom_schemas(), system_schemas(), torch_schemas()}) {
            joined.insert(joined.end(), group.begin(), group.end());
        }
        std::sort(joined.begin(), joined.end(),
                  [](const Schema& a, const Schema& b) { return a.table < b.table; });
        return joined;
    }();
    return all;
}

const Schema* schema_of(std::string_view table) {
    const auto schemas = all_schemas();
    const auto found = std::find_if(schemas.begin(), schemas.end(),
                                    [&](const Schema& schema) { return schema.table == table; });
    return found == schemas.end() ? nullptr : &*found;
}

bool is_source(std::string_view text) {
    constexpr std::string_view url = "https://", github = "github:", wheel = "wheel:", sha = ".whl sha256:";
    constexpr std::string_view sdist = "sdist:", sdist_sha = ".tar.gz sha256:", zip_sha = ".zip sha256:";
    constexpr std::string_view deb = "deb:", deb_sha = ".deb sha256:";
    if (text.starts_with(url))
        return all_of(text.substr(url.size()), is_visible) && text.find('.') != text.npos;
    if (text.starts_with(github)) {
        const auto rest = text.substr(github.size());
        const auto at = rest.find('@');
        const auto slash = rest.find('/');
        const auto colon = rest.find(':', at == rest.npos ? 0 : at);
        if (at == rest.npos || colon == rest.npos) return false;
        const auto commit = rest.substr(at + 1, colon - at - 1);  // tags and branches move
        return slash < at && slash > 0 && slash + 1 < at && commit.size() == 40 && all_of(commit, is_hex) &&
               colon + 1 < rest.size() && all_of(rest, is_visible);
    }
    // image:HOST/PATH:TAG sha256:DIGEST: what a registry gave.
    constexpr std::string_view image = "image:", image_sha = " sha256:";
    if (text.starts_with(image)) {
        const auto at = text.find(image_sha);
        if (at == text.npos) return false;
        const auto name = text.substr(image.size(), at - image.size()),
                   digest = text.substr(at + image_sha.size());
        return name.find('/') != name.npos && name.find(':', name.rfind('/')) != name.npos &&
               all_of(name, is_visible) && digest.size() == 64 && all_of(digest, is_hex);
    }
    // A file that was opened: its name, and its digest.
    for (const auto& [start, ending] :
         {std::pair{wheel, sha}, {sdist, sdist_sha}, {sdist, zip_sha}, {deb, deb_sha}}) {
        if (!text.starts_with(start)) continue;
        const auto at = text.find(ending);
        if (at == text.npos || at == start.size()) continue;
        const auto digest = text.substr(at + ending.size());
        return digest.size() == 64 && all_of(digest, is_hex) &&
               all_of(text.substr(start.size(), at - start.size()), is_visible);
    }
    return false;
}

bool is_url(std::string_view text) {
    constexpr std::string_view scheme = "https://";
    return text.starts_with(scheme) && is_source(text) && !text.ends_with('/');
}

bool is_date(std::string_view text) {
    return cudamatrix::is_date(text);
}

namespace {

bool is_number(std::string_view text) {
    return !text.empty() && text.size() < 7 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What fatbin::parse_arch reads: "7.5", "10.0a".
bool is_compute(std::string_view text) {
    if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
    const auto dot = text.find('.');
    return dot != text.npos && dot < 3 && text.front() != '0' && is_number(text.substr(0, dot)) &&
           is_number(text.substr(dot + 1)) && text.size() - dot == 2;
}

bool is_month(std::string_view text) {
    return is_date(text) || is_date(std::string(text) + "-01");
}

// "numpy >=1.26; python >=3.12; arch x86_64"
bool is_demand(std::string_view text) {
    const auto parts = text::split(text, ';');
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto part = text::trim(parts[i]);
        const auto blank = part.find(' ');
        const auto subject = part.substr(0, blank);
        const auto wanted = blank == part.npos ? std::string_view() : part.substr(blank + 1);
        if (subject.empty() || (i > 0 && subject != "python" && subject != "arch")) return false;
        if (i > 0 && subject == "arch" ? wanted.empty() : !pep440::Specifiers::parse(wanted)) return false;
    }
    return true;
}

// "cp312", "cp313t", "cp39-abi3", "py3"
bool is_wheel_tag(std::string_view text) {
    if (text.starts_with("py3")) return text.size() == 3 || is_number(text.substr(3));
    if (!text.starts_with("cp3")) return false;
    auto minor = text.substr(3, text.find('-') - 3);
    if (minor.ends_with('t')) minor.remove_suffix(1);
    const auto dash = text.find('-');
    return is_number(minor) &&
           (dash == text.npos || text.substr(dash) == "-abi3" || text.substr(dash) == "-abi3t");
}

}  // namespace

bool is_of(Kind kind, std::string_view value) {
    switch (kind) {
        case Kind::text:
            return !value.empty();
        case Kind::version:
            return Version::parse(value).has_value();
        case Kind::compute:
            return is_compute(value);
        case Kind::date:
            return is_date(value);
        case Kind::month:
            return is_month(value);
        case Kind::number:
            return is_number(value);
        case Kind::release:
            return pep440::Version::parse(value).has_value();
        case Kind::specifiers:
            return pep440::Specifiers::parse(value).has_value();
        case Kind::demand:
            return is_demand(value);
        case Kind::wheel_tag:
            return is_wheel_tag(value);
        case Kind::truth:
            return value == "true" || value == "false";
        case Kind::url:
            return facts::is_url(value);
        case Kind::source:
            return facts::is_source(value);
        case Kind::level:
            return value == "measured" || value == "read" || value == "unverified";
        case Kind::condition:
        case Kind::way_out:
            return true;  // it depends on the field: mistake_in_condition
    }
    return false;
}

std::string_view accepts(Kind kind) {
    switch (kind) {
        case Kind::text:
            return "some words";
        case Kind::version:
            return "a version such as 12.4.1";
        case Kind::compute:
            return "a compute capability such as 7.5 or 9.0a";
        case Kind::date:
            return "a date, YYYY-MM-DD";
        case Kind::month:
            return "a date, YYYY-MM-DD or YYYY-MM";
        case Kind::number:
            return "a whole number";
        case Kind::release:
            return "a version of a Python package such as 2.0rc1";
        case Kind::specifiers:
            return "clauses such as >=2.0,<3";
        case Kind::demand:
            return "a package with clauses such as 'numpy >=1.26; python >=3.12; arch x86_64'";
        case Kind::wheel_tag:
            return "a tag such as cp312, cp313t, cp39-abi3 or py3";
        case Kind::truth:
            return "true or false";
        case Kind::url:
            return "an https:// URL without a slash at its end";
        case Kind::source:
            return "an https:// URL, github:OWNER/REPO@COMMIT:PATH, wheel:FILE.whl sha256:DIGEST, "
                   "sdist:FILE.tar.gz (or .zip) "
                   "sha256:DIGEST, deb:FILE.deb sha256:DIGEST, or image:HOST/PATH:TAG sha256:DIGEST";
        case Kind::level:
            return "measured, read or unverified";
        case Kind::condition:
        case Kind::way_out:
            break;
    }
    return {};
}

}  // namespace cudamatrix::facts
