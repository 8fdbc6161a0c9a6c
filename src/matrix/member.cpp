#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

using text::is_word;
using text::only;

bool is_package_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && only(text, "._-") && is_word(text.front()) &&
           is_word(text.back());
}

bool is_variable_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && only(text, "_") && !text::is_digit(text.front());
}

// Variables through which a value becomes code that the loader, a shell or an interpreter runs, in the image
// or (as CVE-2025-23266 showed for LD_PRELOAD) in a privileged hook of the host.
bool runs_code(std::string_view name) {
    static const auto names = text::split(
        "path bash_env env ifs shellopts bashopts ps4 prompt_command gconv_path glibc_tunables pythonstartup pythonpath "
        "pythonhome pythoninspect pythonwarnings pythonbreakpoint perl5opt perl5lib rubyopt node_options "
        "java_tool_options cuda_injection64_path nvtx_injection64_path",
        ' ');
    const auto lower = text::lower(name);
    return std::find(names.begin(), names.end(), lower) != names.end() || lower.starts_with("ld_") ||
           lower.starts_with("dyld_") || lower.starts_with("bash_func_");
}

std::size_t digits(std::string_view text, std::size_t at) {
    const auto end = text.find_first_not_of("0123456789", at);
    return (end == std::string_view::npos ? text.size() : end) - at;
}

// A number behind one of `words`, as ".post1" is: the position behind it, `at` where there is none of them,
// npos where the number is missing.
std::size_t after_number(std::string_view text, std::size_t at,
                         std::initializer_list<std::string_view> words) {
    for (const auto word : words) {
        if (!text.substr(at).starts_with(word)) continue;
        const auto count = digits(text, at + word.size());
        return count == 0 ? std::string_view::npos : at + word.size() + count;
    }
    return at;
}

// One version as PEP 440 writes it in its normal form, without epoch: 4.27.4, 0.0.26.post1, 2.0.0rc1,
// 0.13.1+cu113.
bool is_python_version(std::string_view text) {
    std::size_t at = digits(text, 0);
    if (at == 0) return false;
    while (at + 1 < text.size() && text[at] == '.' && digits(text, at + 1) > 0)
        at += 1 + digits(text, at + 1);
    using Words = std::initializer_list<std::string_view>;
    for (const Words words : {Words{"rc", "a", "b"}, Words{".post"}, Words{".dev"}}) {
        at = after_number(text, at, words);
        if (at == std::string_view::npos) return false;
    }
    if (at == text.size()) return true;
    const auto local = text.substr(at + 1);
    return text[at] == '+' && !local.empty() && only(local, ".") && is_word(local.front()) &&
           is_word(local.back());
}

// A secret in a matrix file ends in an image's layers and in every report.
bool holds_secret(std::string_view name) {
    static constexpr std::array<std::string_view, 9> endings{"token",      "password",    "passwd",
                                                             "secret",     "api_key",     "secret_key",
                                                             "access_key", "private_key", "credentials"};
    const auto lower = text::lower(name);
    return std::any_of(endings.begin(), endings.end(),
                       [&](std::string_view ending) { return lower.ends_with(ending); });
}

// "postgres://user:password@host", as DATABASE_URL and proxies have it.
bool holds_password(std::string_view text) {
    for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
        const auto rest = text.substr(at + 3);
        const auto authority = rest.substr(0, rest.find_first_of("/ ,;"));
        const auto end = authority.rfind('@');
        if (end == std::string_view::npos) continue;
        const auto colon = authority.substr(0, end).find(':');
        if (colon != std::string_view::npos && colon + 1 < end) return true;
    }
    return false;
}

// How services mark their tokens: Hugging Face, GitHub, GitLab, AWS (access keys, 16 more), OpenAI and those
// that do as it does.
struct TokenForm {
    std::string_view prefix;
    std::size_t least;  ///< characters behind it
};
constexpr TokenForm kTokens[] = {{"hf_", 30},         {"ghp_", 30},   {"gho_", 30},
                                 {"ghs_", 30},        {"ghu_", 30},   {"ghr_", 30},
                                 {"github_pat_", 30}, {"glpat-", 20}, {"sk-", 32}};
constexpr std::string_view kAwsKeys[] = {"AKIA", "ASIA"};

bool is_token(std::string_view word) {
    const auto has_digit = [](std::string_view text) {
        return text.find_first_of("0123456789") != text.npos;
    };
    return std::any_of(std::begin(kTokens), std::end(kTokens),
                       [&](const TokenForm& form) {
                           const auto rest = word.substr(std::min(form.prefix.size(), word.size()));
                           return word.starts_with(form.prefix) && rest.size() >= form.least &&
                                  has_digit(rest);
                       }) ||
           std::any_of(std::begin(kAwsKeys), std::end(kAwsKeys), [&](std::string_view prefix) {
               return word.size() == 20 && word.starts_with(prefix) && has_digit(word.substr(4)) &&
                      word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 4) == word.npos;
           });
}

bool holds_token(std::string_view text) {
    const auto inside = [](char c) { return is_word(c) || c == '_' || c == '-'; };
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && inside(text[i])) continue;
        if (is_token(text.substr(start, i - start))) return true;
        start = i + 1;
    }
    return false;
}

// "2.7.4.post1+cu12torch2.6cxx11abiFALSE" has 37.
constexpr std::size_t kLongestVersion = 64;

std::optional<ValueProblem> check_package(std::string_view name, std::string_view text) {
    if (!is_package_name(name))
        return ValueProblem{
            fmt::format("packages: invalid name {}: expected letters, digits, '.', '_' and '-'",
                        in_quotes(name)),
            {}};
    if (text::lower(name) == "torch")
        return ValueProblem{fmt::format("packages: {} is a field of its own: expected another package", name),
                            fmt::format("write it as a field: torch{}",
                                        is_python_version(text) ? fmt::format(": {}", text) : std::string())};
    const bool refused = text == kNoPackage && text::lower(name) == "numpy";
    if (text == kCompanionVersion || text == kAnyVersion || refused ||
        (text.size() <= kLongestVersion && is_python_version(text)))
        return std::nullopt;
    return ValueProblem{fmt::format("packages: invalid version {} of {}: expected an exact version such as "
                                    "4.27.4, auto for the one that matches torch, or any for the one that "
                                    "pip would take",
                                    in_quotes(text), name),
                        text.find_first_of("<>=~!*") != std::string_view::npos
                            ? "write the version alone: pins are exact"
                        : text == kNoPackage ? "leave it out: only numpy comes by itself, and can be none"
                                             : ""};
}

std::optional<ValueProblem> check_variable(std::string_view name, std::string_view text) {
    constexpr std::string_view never = "never put secrets in a matrix file, the image would expose them";
    constexpr const char* later = "delete it, and pass the secret when the container starts";
    if (!is_variable_name(name))
        return ValueProblem{
            fmt::format("env: invalid name {}: expected letters, digits and '_'", in_quotes(name)), {}};
    if (runs_code(name))
        return ValueProblem{fmt::format("env: {} decides which code runs: expected another variable", name),
                            "delete it"};
    if (holds_secret(name))
        return ValueProblem{fmt::format("env: {} names a secret: {}", name, never), later};
    if (holds_password(text))
        return ValueProblem{
            fmt::format("env: the value of {} is a URL with a password: {}", name, never),
            "remove the user and password from the URL, and pass them when the container starts"};
    if (holds_token(text))
        return ValueProblem{fmt::format("env: the value of {} is a service token: {}", name, never), later};
    if (name.starts_with("NVIDIA_REQUIRE_") && text.size() <= kLongestCondition &&
        only(text, kConditionMarks))
        return std::nullopt;
    if (text.size() <= 256 && only(text, " _./:,;=+@%~-")) return std::nullopt;
    return ValueProblem{fmt::format("env: invalid value {} of {}: expected up to 256 letters, digits, "
                                    "spaces and _ . / : , ; = + @ % ~ -",
                                    in_quotes(text), name),
                        {}};
}

}  // namespace

std::optional<ValueProblem> check_member(Field field, std::string_view name, std::string_view text) {
    return field == Field::packages ? check_package(name, text) : check_variable(name, text);
}

bool is_capability_word(std::string_view text) {
    return !text.empty() && text.size() <= 32 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string_view::npos;
}

bool is_rendered_variable(std::string_view name, std::string_view value) {
    if (!name.starts_with("NVIDIA_")) return true;
    if (name == "NVIDIA_VISIBLE_DEVICES") return value == "all" || value == "none" || value == "void";
    if (name != "NVIDIA_DRIVER_CAPABILITIES") return false;
    const auto parts = text::split(value, ',');
    return std::all_of(parts.begin(), parts.end(), is_capability_word);
}

}  // namespace cudamatrix
