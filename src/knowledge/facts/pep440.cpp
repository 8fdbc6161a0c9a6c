#include "knowledge/facts/pep440.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::pep440 {
namespace {

constexpr std::size_t kDigits = 18;  // what a 64-bit number surely holds

using text::is_digit;

bool is_label(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z');
}

// Absent where PEP 440 sorts it first or last: an optional's own order puts nothing first.
template <class T>
std::strong_ordering absent_last(const std::optional<T>& a, const std::optional<T>& b) {
    if (a && b) return *a <=> *b;
    return b.has_value() <=> a.has_value();
}

}  // namespace

// Takes a version apart; every step takes what it names or leaves the text as it is.
class Reader {
  public:
    explicit Reader(std::string_view text) : lower_(text::lower(text::trim(text))), rest_(lower_) {}

    std::optional<Version> version(std::string_view original) {
        Version out;
        out.text_ = std::string(text::trim(original));
        literal("v");
        if (!release(out)) return std::nullopt;
        pre(out);
        post(out);
        dev(out);
        if (!local(out) || !rest_.empty()) return std::nullopt;
        return out;
    }

  private:
    bool literal(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    std::optional<std::uint64_t> number() {
        std::size_t n = 0;
        std::uint64_t value = 0;
        for (; n < rest_.size() && is_digit(rest_[n]); ++n) {
            if (n >= kDigits) return std::nullopt;
            value = value * 10 + static_cast<std::uint64_t>(rest_[n] - '0');
        }
        if (n == 0) return std::nullopt;
        rest_.remove_prefix(n);
        return value;
    }

    void separator() {
        if (!rest_.empty() && (rest_.front() == '-' || rest_.front() == '_' || rest_.front() == '.'))
            rest_.remove_prefix(1);
    }

    bool release(Version& out) {
        auto first = number();
        if (!first) return false;
        if (literal("!")) {
            out.epoch_ = *first;
            first = number();
            if (!first) return false;
        }
        out.release_.push_back(*first);
        while (rest_.size() > 1 && rest_.front() == '.' && is_digit(rest_[1])) {
            rest_.remove_prefix(1);
            const auto next = number();
            if (!next) return false;
            out.release_.push_back(*next);
        }
        return true;
    }

    // [-_.]? WORD [-_.]? N?, where any of `words` may stand; a missing number is 0.
    template <std::size_t N>
    std::optional<std::pair<char, std::uint64_t>> tagged(
        const std::array<std::pair<std::string_view, char>, N>& words) {
        const auto before = rest_;
        separator();
        for (const auto& [word, letter] : words) {
            if (!literal(word)) continue;
            separator();
            return std::pair{letter, number().value_or(0)};
        }
        rest_ = before;
        return std::nullopt;
    }

    void pre(Version& out) {
        // Longer words first: "a" is the start of "alpha".
        static constexpr std::array<std::pair<std::string_view, char>, 8> words{{{"alpha", 'a'},
                                                                                 {"beta", 'b'},
                                                                                 {"preview", 'r'},
                                                                                 {"pre", 'r'},
                                                                                 {"rc", 'r'},
                                                                                 {"a", 'a'},
                                                                                 {"b", 'b'},
                                                                                 {"c", 'r'}}};
        if (const auto found = tagged(words)) out.pre_ = Version::Pre{found->first, found->second};
    }

    void post(Version& out) {
        static constexpr std::array<std::pair<std::string_view, char>, 3> words{
            {{"post", 'p'}, {"rev", 'p'}, {"r", 'p'}}};
        if (rest_.size() > 1 && rest_.front() == '-' && is_digit(rest_[1])) {
            rest_.remove_prefix(1);
            out.post_ = number();
        } else if (const auto found = tagged(words)) {
            out.post_ = found->second;
        }
    }

    void dev(Version& out) {
        static constexpr std::array<std::pair<std::string_view, char>, 1> words{{{"dev", 'd'}}};
        if (const auto found = tagged(words)) out.dev_ = found->second;
    }

    bool local(Version& out) {
        if (!literal("+")) return true;
        while (true) {
            std::size_t n = 0;
            while (n < rest_.size() && is_label(rest_[n]))
                ++n;
            if (n == 0) return false;
            Version::Label label{false, 0, std::string(rest_.substr(0, n))};
            if (std::all_of(label.word.begin(), label.word.end(), is_digit)) {
                const auto value = number();
                if (!value) return false;
                label = {true, *value, {}};
            } else {
                rest_.remove_prefix(n);
            }
            out.local_.push_back(std::move(label));
            if (rest_.empty()) return true;
            const auto before = rest_.size();
            separator();
            if (rest_.size() == before) return false;
        }
    }

    std::string lower_;
    std::string_view rest_;
};

std::optional<Version> Version::parse(std::string_view text) {
    return Reader(text).version(text);
}

bool Version::same_base(const Version& other) const {
    if (epoch_ != other.epoch_) return false;
    for (std::size_t i = 0; i < std::max(release_.size(), other.release_.size()); ++i) {
        if (part(i) != other.part(i)) return false;
    }
    return true;
}

Version Version::without_local() const {
    Version out = *this;
    out.local_.clear();
    out.text_.resize(std::min(out.text_.find('+'), out.text_.size()));
    return out;
}

std::strong_ordering Version::compare_public(const Version& a, const Version& b) {
    if (const auto order = a.epoch_ <=> b.epoch_; std::is_neq(order)) return order;
    for (std::size_t i = 0; i < std::max(a.release_.size(), b.release_.size()); ++i) {
        if (const auto order = a.part(i) <=> b.part(i); std::is_neq(order)) return order;
    }
    // 1.0.dev1 < 1.0a1 < 1.0 < 1.0.post1: a bare development release sorts before every pre-release.
    const auto before_pre = [](const Version& v) { return !v.pre_ && !v.post_ && v.dev_; };
    if (const auto order = before_pre(b) <=> before_pre(a); std::is_neq(order)) return order;
    if (const auto order = absent_last(a.pre_, b.pre_); std::is_neq(order)) return order;
    if (const auto order = a.post_ <=> b.post_; std::is_neq(order)) return order;
    return absent_last(a.dev_, b.dev_);
}

std::string local_of(std::string_view text) {
    const auto plus = text.find('+');
    return plus == std::string_view::npos ? std::string() : std::string(text.substr(plus + 1));
}

std::string canonical_name(std::string_view name) {
    std::string out;
    for (const char c : text::lower(name)) {
        const bool separator = c == '-' || c == '_' || c == '.';
        if (separator && out.ends_with('-')) continue;
        out += separator ? '-' : c;
    }
    return out;
}

}  // namespace cudamatrix::pep440
