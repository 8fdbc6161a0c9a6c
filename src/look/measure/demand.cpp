#include "look/measure/demand.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix::measure {
namespace {

constexpr std::array<std::string_view, 2> kArches{"x86_64", "aarch64"};

// Minors of python that conditions are told apart by; those to come count as well.
std::vector<std::string> pythons(std::string_view requires_python) {
    const auto admitted = pep440::Specifiers::parse(requires_python);
    std::vector<std::string> out;
    for (int minor = 0; minor <= 40; ++minor) {
        auto text = fmt::format("3.{}", minor);
        const auto newest = pep440::Version::parse(text + ".99");
        if (!admitted || (newest && admitted->admits(*newest))) out.push_back(std::move(text));
    }
    return out;
}

// Runs of pythons in which the marker holds, as conditions: "", "python >=3.9,<3.12".
std::vector<std::string> conditions(const std::vector<std::string>& pythons, const std::vector<bool>& holds) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        if (!holds[i] || (i > 0 && holds[i - 1])) continue;
        auto end = i;
        while (end < holds.size() && holds[end])
            ++end;
        std::vector<std::string> bounds;
        if (i > 0) bounds.push_back(">=" + pythons[i]);
        if (end < holds.size()) bounds.push_back("<" + pythons[end]);
        out.push_back(bounds.empty() ? "" : "python " + text::join(bounds, ","));
    }
    return out;
}

int rank(std::string_view clause) {
    constexpr std::array<std::string_view, 8> order{"===", "==", "~=", ">=", ">", "!=", "<=", "<"};
    const auto operation = clause.substr(0, clause.find_first_not_of("=<>~!"));
    return static_cast<int>(std::ranges::find(order, operation) - order.begin());
}

// ">=1.0, <2" without blanks, lower bounds first; nothing for what PEP 440 does not know.
std::optional<std::string> tidy(std::string_view specifier) {
    std::string tight;
    for (const char c : specifier) {
        if (c != ' ' && c != '\t' && c != '(' && c != ')') tight += c;
    }
    while (tight.ends_with(','))
        tight.pop_back();
    if (tight.empty()) return tight;
    if (!pep440::Specifiers::parse(tight)) return std::nullopt;
    auto clauses = text::split(tight, ',');
    std::ranges::stable_sort(clauses,
                             [](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
    return text::join(clauses, ",");
}

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
               c == '_' || c == '-';
    });
}

std::string sorted_clauses(std::string_view demand) {
    const auto condition = demand.find(';');
    const auto head = text::split(demand.substr(0, condition), ' ');
    if (head.size() < 2) return std::string(demand);
    auto clauses = text::split(head[1], ',');
    std::ranges::sort(clauses);
    return head[0] + " " + text::join(clauses, ",") +
           (condition == std::string_view::npos ? "" : std::string(demand.substr(condition)));
}

}  // namespace

Metadata parse_metadata(std::string_view text) {
    Metadata metadata;
    for (const auto& line : text::split(text, '\n')) {
        if (line.empty() || line == "\r") break;
        // A header goes on in lines that start with a blank, and some of those hold nothing else.
        if (line.front() == ' ' || line.front() == '\t') continue;
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto name = text::lower(line.substr(0, colon));
        const auto value = std::string(text::trim(std::string_view(line).substr(colon + 1)));
        if (name == "version") metadata.version = value;
        if (name == "requires-python") metadata.requires_python = value;
        if (name == "requires-dist") metadata.requires_dist.push_back(value);
    }
    return metadata;
}

std::optional<std::vector<std::string>> demands(std::string_view requirement,
                                                std::string_view requires_python) {
    const auto semicolon = requirement.find(';');
    auto head = text::trim(requirement.substr(0, semicolon));
    const auto marker_text = semicolon == std::string_view::npos
                                 ? std::string_view{}
                                 : text::trim(requirement.substr(semicolon + 1));
    const auto name_end = std::min(head.find_first_of(" \t([<>=!~@"), head.size());
    const auto name = head.substr(0, name_end);
    head = text::trim(head.substr(name_end));
    if (!is_name(name)) return std::nullopt;
    if (head.starts_with('[')) {
        const auto close = head.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        head = text::trim(head.substr(close + 1));
    }
    if (head.starts_with('@')) return std::vector<std::string>{};  // by URL: no version
    const auto specifier = tidy(head);
    if (!specifier) return std::nullopt;
    const auto marker = Marker::parse(marker_text);
    if (!marker) return std::nullopt;
    if (specifier->empty()) return std::vector<std::string>{};
    if (marker_text.empty())
        return std::vector<std::string>{fmt::format("{} {}", pep440::canonical_name(name), *specifier)};

    const auto all = pythons(requires_python);
    std::array<std::vector<std::string>, 2> found;
    for (std::size_t arch = 0; arch < kArches.size(); ++arch) {
        std::vector<bool> holds;
        for (const auto& python : all) {
            const auto answer = marker->holds(python, kArches[arch]);
            if (!answer) return std::nullopt;
            holds.push_back(*answer);
        }
        found[arch] = conditions(all, holds);
    }
    const auto demand = fmt::format("{} {}", pep440::canonical_name(name), *specifier);
    std::vector<std::string> out;
    const bool same = found[0] == found[1];
    for (std::size_t arch = 0; arch < (same ? 1 : kArches.size()); ++arch) {
        for (const auto& condition : found[arch]) {
            out.push_back(demand + (condition.empty() ? "" : "; " + condition) +
                          (same ? "" : fmt::format("; arch {}", kArches[arch])));
        }
    }
    return out;
}

std::optional<std::vector<std::string>> all_demands(const Metadata& metadata, std::string& bad) {
    std::vector<std::string> out;
    for (const auto& requirement : metadata.requires_dist) {
        auto some = demands(requirement, metadata.requires_python);
        if (!some) {
            bad = requirement;
            return std::nullopt;
        }
        out.insert(out.end(), some->begin(), some->end());
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

bool same_demands(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto canonical = [](const std::vector<std::string>& list) {
        std::vector<std::string> out;
        std::transform(list.begin(), list.end(), std::back_inserter(out), sorted_clauses);
        std::ranges::sort(out);
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    };
    return canonical(a) == canonical(b);
}

}  // namespace cudamatrix::measure
