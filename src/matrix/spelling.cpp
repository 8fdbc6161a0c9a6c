#include "matrix/spelling.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "matrix/condition.hpp"
#include "matrix/matrix.hpp"
#include "matrix/syntax.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kLongestSpelling = 64;

std::size_t leading_digits(std::string_view text) {
    return std::min(text.find_first_not_of(kDigits), text.size());
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// "128" as 12.8: all digits but the last are the major.
std::string with_point(std::string_view digits) {
    return fmt::format("{}.{}", digits.substr(0, digits.size() - 1), digits.substr(digits.size() - 1));
}

// "sm_90a", "sm90a", "compute_90a" and "90a" are what other tools call 9.0a. A bare 12 may be 12.0 or 1.2.
std::string compute_from(std::string_view text) {
    const bool bare = !take(text, "sm_") && !take(text, "compute_") && !take(text, "sm");
    const auto end = leading_digits(text);
    if (end < 2 || end > 3 || text.front() == '0' || (bare && end == 2 && text.front() == '1')) return {};
    return with_point(text.substr(0, end)) + std::string(text.substr(end));
}

// "gcc 11", "gcc11" and "g++-11"; "vs2022", "cl 19.40".
std::string compiler_from(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> names{{{"gcc", "gcc"},
                                                                                  {"g++", "gcc"},
                                                                                  {"clang", "clang"},
                                                                                  {"clang++", "clang"},
                                                                                  {"msvc", "msvc"},
                                                                                  {"cl", "msvc"},
                                                                                  {"vs", "msvc"},
                                                                                  {"visual studio", "msvc"}}};
    const auto digit = std::min(text.find_first_of(kDigits), text.size());
    auto name = text::lower(text.substr(0, digit));
    if (name.ends_with(' ') || name.ends_with('-')) name.pop_back();
    for (const auto& [written, meant] : names) {
        if (name == written) return fmt::format("{}-{}", meant, text.substr(digit));
    }
    return {};
}

// "v2.6.0", as a tag of the sources writes it.
std::string torch_from(std::string_view text) {
    return take(text, "v") || take(text, "V") ? std::string(text) : std::string();
}

// "cu128" and "cu12", as wheels and their indexes write it, "cuda12.4", "cuda-12.4" and "CUDA 12.4". Two
// digits are a major from 10 on: no wheel was for CUDA 1.
std::string cuda_from(std::string_view text) {
    const auto lower = text::lower(text);
    std::string_view rest = lower;
    if (take(rest, "cuda")) {
        if (!take(rest, "-")) take(rest, " ");
    } else if (!take(rest, "cu")) {
        return {};
    }
    if (rest.find('.') != std::string_view::npos) return std::string(rest);
    if (rest.size() < 2 || rest.size() > 3 || leading_digits(rest) != rest.size()) return {};
    return rest.size() == 2 && rest.front() == '1' ? std::string(rest) : with_point(rest);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kArchs{{{"amd64", "x86_64"},
                                                                               {"AMD64", "x86_64"},
                                                                               {"x86-64", "x86_64"},
                                                                               {"x64", "x86_64"},
                                                                               {"arm64", "aarch64"},
                                                                               {"ARM64", "aarch64"}}};

std::string arch_from(std::string_view text) {
    const auto found = std::ranges::find(kArchs, text, &std::pair<std::string_view, std::string_view>::first);
    return found == kArchs.end() ? std::string() : std::string(found->second);
}

std::string meant_by(Field field, std::string_view text) {
    switch (field) {
        case Field::compute:
            return compute_from(text);
        case Field::compiler:
            return compiler_from(text);
        case Field::torch:
            return torch_from(text);
        case Field::cuda:
            return cuda_from(text);
        case Field::arch:
            return arch_from(text);
        default:
            return {};
    }
}

}  // namespace

std::string usual_spelling(Field field, std::string_view text) {
    if (text.empty() || text.size() > kLongestSpelling || syntax::accepts(info(field), text)) return {};
    auto meant = meant_by(field, text);
    const bool is_value = syntax::accepts(info(field), meant) &&
                          (!compares_as_version(field) || version_of(field, meant).has_value());
    return is_value ? meant : std::string();
}

std::vector<std::string> spellings_of_choices(Field field) {
    std::vector<std::string> out;
    if (field != Field::arch) return out;
    for (const auto& [written, meant] : kArchs)
        out.emplace_back(written);
    return out;
}

std::string respelled_alternative(Field field, std::string_view text, const Spelling& spelling) {
    if (!spelling) return std::string(text);
    std::vector<std::string> parts{std::string(text)};
    if (has_ranges(field)) parts = text::split(text, ',');
    for (auto& part : parts) {
        const auto [sign, value] = sign_and_value(part);
        if (value.find_first_of("*?") != std::string_view::npos) continue;
        if (const auto meant = spelling(field, value); !meant.empty()) part = std::string(sign) + meant;
    }
    return text::join(parts, ",");
}

std::string respelled_values(std::string_view text, const Spelling& spelling) {
    auto parts = text::split(text, ',');
    std::optional<Field> field;
    for (auto& part : parts) {
        // What names no field goes on with the range before it.
        const auto equals = part.find_first_of("<>=!") == 0 ? std::string::npos : part.find('=');
        if (equals != std::string::npos)
            field = field_named(text::trim(std::string_view(part).substr(0, equals)));
        if (!field) continue;
        const auto begin = equals == std::string::npos ? 0 : equals + 1;
        part = part.substr(0, begin) + respelled_alternative(*field, part.substr(begin), spelling);
    }
    return text::join(parts, ",");
}

Diagnostic note_of(const Respelt& respelt) {
    return Diagnostic::note(fmt::format("{} is read as {} {}", in_quotes(respelt.written),
                                        info(respelt.field).name, respelt.meant),
                            respelt.where);
}

std::vector<Diagnostic> spelling_notes(const Matrix& matrix) {
    const auto before = [](const Respelt& a, const Respelt& b) {
        return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
    };
    auto sorted = matrix.respelt;
    std::ranges::stable_sort(sorted, before);
    std::set<std::pair<Field, std::string>> seen;
    std::vector<Diagnostic> notes;
    for (const auto& each : sorted) {
        if (seen.emplace(each.field, each.written).second) notes.push_back(note_of(each));
    }
    return notes;
}

}  // namespace cudamatrix
