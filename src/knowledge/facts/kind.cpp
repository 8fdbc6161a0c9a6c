#include "knowledge/facts/kind.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix::facts {
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
            return "an https:// URL, github:OWNER/REPO@REF:PATH, wheel:FILE.whl sha256:DIGEST, "
                   "sdist:FILE.tar.gz "
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
