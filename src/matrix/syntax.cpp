#include "matrix/syntax.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/image_reference.hpp"
#include "base/text.hpp"

namespace cudamatrix::syntax {
namespace {

using text::is_digit;
using text::is_lower;
using text::is_upper;
using text::is_word;
using text::only;

// A cursor over a text; every step takes what it names or leaves the cursor where it is.
class Scan {
  public:
    explicit Scan(std::string_view text) : rest_(text) {}
    bool literal(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    bool digits(std::size_t longest) {
        std::size_t n = 0;
        while (n < rest_.size() && is_digit(rest_[n]))
            ++n;
        if (n == 0 || n > longest) return false;
        rest_.remove_prefix(n);
        return true;
    }
    // N, N.N ... with at most `parts` numbers.
    bool dotted(std::size_t parts, std::size_t longest = 4) {
        if (!digits(longest)) return false;
        for (std::size_t i = 1; i < parts && !rest_.empty() && rest_.front() == '.'; ++i) {
            rest_.remove_prefix(1);
            if (!digits(longest)) return false;
        }
        return true;
    }
    void prerelease() {
        const Scan before = *this;
        if ((literal("rc") || literal("a") || literal("b")) && digits(3)) return;
        *this = before;
    }
    // ".dev20250812": a day that there is.
    bool nightly() {
        Scan scan = *this;
        if (!scan.literal(".dev") || scan.rest_.size() < 8) return false;
        const auto day = scan.rest_.substr(0, 8);
        if (!is_date(fmt::format("{}-{}-{}", day.substr(0, 4), day.substr(4, 2), day.substr(6))))
            return false;
        rest_ = scan.rest_.substr(8);
        return true;
    }
    [[nodiscard]] bool done() const { return rest_.empty(); }
    [[nodiscard]] std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

bool is_driver(std::string_view text) {
    Scan scan(text);
    if (!scan.literal("R")) scan.literal("r");
    return scan.dotted(4) && scan.done();
}

bool is_compute(std::string_view text) {
    Scan scan(text);
    if (!scan.digits(2) || !scan.literal(".") || !scan.digits(1)) return false;
    if (!scan.literal("a")) scan.literal("f");
    return scan.done();
}

bool is_python(std::string_view text) {
    Scan scan(text);
    if (!scan.dotted(3, 2)) return false;
    scan.prerelease();
    scan.literal("t");
    return scan.done();
}

bool is_torch(std::string_view text) {
    if (text == "none") return true;
    Scan scan(text);
    if (!scan.dotted(3)) return false;
    if (!scan.nightly()) scan.prerelease();
    if (!scan.literal("+")) return scan.done();
    const auto local = scan.rest();
    return !local.empty() && only(local, ".") && std::none_of(local.begin(), local.end(), is_upper) &&
           is_word(local.front()) && is_word(local.back());
}

// [0-9]+(\.[0-9]+){0,3}([-+.][0-9A-Za-z]+)*, as far as Version keeps it.
bool is_version(std::string_view text) {
    Scan scan(text);
    if (!scan.dotted(4, 9)) return false;
    for (char previous = '.'; const char c : scan.rest()) {
        const bool separator = c == '-' || c == '+' || c == '.' || c == '_';
        if (!separator && !is_word(c)) return false;
        if (separator && !is_word(previous) && previous != '.') return false;
        previous = c;
    }
    return scan.done() || is_word(text.back());
}

bool is_compiler(std::string_view text) {
    Scan scan(text);
    // Builds of msvc have five digits (14.44.35207), the years of Visual Studio four.
    if (scan.literal("msvc-")) return scan.dotted(3, 5) && scan.done();
    return (scan.literal("gcc-") || scan.literal("clang-")) && scan.dotted(3, 3) && scan.done();
}

bool is_name(std::string_view text) {
    return text.size() <= 64 && only(text, " ._+()/-") && is_word(text.front()) && text.back() != ' ' &&
           text.find("  ") == std::string_view::npos && text.find("..") == std::string_view::npos;
}

bool is_slug(std::string_view text) {
    return text.size() <= 64 && is_lower(text.front()) && is_word(text.back()) && only(text, "._-") &&
           std::none_of(text.begin(), text.end(), is_upper) && text.find("..") == std::string_view::npos;
}

// The distribution project's grammar: [host[:port]/]path[:tag][@digest].
bool is_image(std::string_view text) {
    if (text.size() > 255) return false;
    if (const auto at = text.find('@'); at != std::string_view::npos) {
        if (!is_image_digest(text.substr(at + 1))) return false;
        text = text.substr(0, at);
    }
    const auto slash = text.rfind('/');
    const auto name_start = slash == std::string_view::npos ? 0 : slash + 1;
    if (const auto colon = text.find(':', name_start); colon != std::string_view::npos) {
        if (!is_image_tag(text.substr(colon + 1))) return false;
        text = text.substr(0, colon);
    }
    auto parts = text::split(text, '/');
    if (parts.size() > 1 &&
        (parts.front().find_first_of(".:") != std::string::npos || parts.front() == "localhost")) {
        if (!is_registry_host(parts.front())) return false;
        parts.erase(parts.begin());
    }
    return std::all_of(parts.begin(), parts.end(), is_image_path_part);
}

bool is_list_name(std::string_view text) {
    return text.size() <= 64 && is_word(text.front()) && only(text, "._-");
}

bool is_arch_list(std::string_view text) {
    if (text.size() > 255) return false;
    for (const auto& part : text::split(text::replace_all(text, " ", ";"), ';')) {
        std::string_view arch = part;
        if (arch.ends_with("+PTX")) arch.remove_suffix(4);
        const bool named = !arch.empty() && is_upper(arch.front()) && only(arch, "+");
        if (!named && !is_compute(arch)) return false;
    }
    return true;
}

bool is_count(std::string_view text) {
    return text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit) && text.front() != '0';
}

bool is_nothing(std::string_view) {
    return false;
}

}  // namespace

bool accepts(const FieldInfo& field, std::string_view text) {
    // In the order of Syntax; choices are looked up, and map fields have no scalar.
    static constexpr std::array<bool (*)(std::string_view), 13> grammars{
        is_version, is_driver, is_compute, is_torch,     is_python,    is_name,   is_slug,
        is_nothing, is_image,  is_count,   is_list_name, is_arch_list, is_nothing};
    static_assert(grammars.size() == static_cast<std::size_t>(Syntax::string_map) + 1);
    if (text.empty()) return false;
    if (field.field == Field::compiler) return is_compiler(text);
    if (field.field == Field::mig && text == "true") return true;
    if (field.syntax == Syntax::choice)
        return std::find(field.choices.begin(), field.choices.end(), text) != field.choices.end();
    return grammars[static_cast<std::size_t>(field.syntax)](text);
}

bool is_registry_host(std::string_view text) {
    const auto colon = text.find(':');
    if (colon != std::string_view::npos) {
        Scan port(text.substr(colon + 1));
        if (!port.digits(5) || !port.done()) return false;
        text = text.substr(0, colon);
    }
    if (text.empty() || text.size() > 253) return false;
    for (const auto& label : text::split(text, '.')) {
        if (label.empty() || label.size() > 63 || !only(label, "-") || label.front() == '-' ||
            label.back() == '-')
            return false;
    }
    return true;
}

bool is_registry_prefix(std::string_view text) {
    if (text.size() > 255) return false;
    auto parts = text::split(text, '/');
    if (!is_registry_host(parts.front())) return false;
    return std::all_of(parts.begin() + 1, parts.end(), is_image_path_part);
}

}  // namespace cudamatrix::syntax
