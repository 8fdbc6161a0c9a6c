// Versions and version specifiers of Python packages, as PEP 440 defines them: what pip compares by.
// base/version.hpp knows drivers, toolkits and torch; it has no epochs, pre-, post- and development releases.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::pep440 {

/// "1!2.0rc1.post2.dev3+cu124". Spellings that PEP 440 normalises (v1.0-alpha, 1.0-1) are read as pip does.
class Version {
  public:
    [[nodiscard]] static std::optional<Version> parse(std::string_view text);

    [[nodiscard]] const std::string& text() const { return text_; }  ///< as it was written
    /// A pre-release (a, b, rc) or a development release.
    [[nodiscard]] bool is_prerelease() const { return pre_.has_value() || dev_.has_value(); }
    [[nodiscard]] bool is_postrelease() const { return post_.has_value(); }
    /// Epoch and release are the same, trailing zeros aside.
    [[nodiscard]] bool same_base(const Version& other) const;
    /// Without the local part: what an upper or lower bound compares.
    [[nodiscard]] Version without_local() const;
    /// The component of the release at `index`, 0 where the text has none.
    [[nodiscard]] std::uint64_t part(std::size_t index) const {
        return index < release_.size() ? release_[index] : 0;
    }

    friend std::strong_ordering operator<=>(const Version& a, const Version& b) {
        const auto order = compare_public(a, b);
        return std::is_neq(order) ? order : a.local_ <=> b.local_;
    }
    friend bool operator==(const Version& a, const Version& b) { return std::is_eq(a <=> b); }

  private:
    friend class Specifier;
    friend class Reader;
    /// Local parts aside.
    static std::strong_ordering compare_public(const Version& a, const Version& b);
    struct Pre {
        char letter = 'a';  ///< a, b, or r of rc
        std::uint64_t number = 0;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of <=> for a pointer
        friend auto operator<=>(const Pre&, const Pre&) = default;
    };
    /// Of a local version: a number beats a word.
    struct Label {
        bool is_number = false;
        std::uint64_t number = 0;
        std::string word;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of <=> for a pointer
        friend auto operator<=>(const Label&, const Label&) = default;
    };

    std::string text_;
    std::uint64_t epoch_ = 0;
    std::vector<std::uint64_t> release_;
    std::optional<Pre> pre_;
    std::optional<std::uint64_t> post_;
    std::optional<std::uint64_t> dev_;
    std::vector<Label> local_;
};

/// One clause: ">=2.0", "==4.27.*", "~=1.4".
class Specifier {
  public:
    [[nodiscard]] static std::optional<Specifier> parse(std::string_view text);
    /// Pre-releases count like any other version: the question is whether a given version fits, not which
    /// one pip would choose.
    [[nodiscard]] bool admits(const Version& version) const;
    /// Versions at which the answer of `admits` can change: the operand and its neighbours.
    [[nodiscard]] std::vector<Version> corners() const;

  private:
    enum class Op { equal, not_equal, less, less_equal, greater, greater_equal, compatible, identical };
    [[nodiscard]] bool has_prefix(const Version& version, std::size_t length) const;
    [[nodiscard]] bool equals(const Version& version) const;

    Op op_ = Op::equal;
    bool prefix_ = false;  ///< ==1.2.*
    Version operand_;
};

/// Clauses joined by commas; the empty text admits everything.
class Specifiers {
  public:
    [[nodiscard]] static std::optional<Specifiers> parse(std::string_view text);
    /// The same for the text of a fact, which many questions ask for: a thread reads each text once.
    [[nodiscard]] static const std::optional<Specifiers>& of_fact(std::string_view text);
    [[nodiscard]] bool admits(const Version& version) const;
    /// True when no version at all is admitted by both.
    [[nodiscard]] bool excludes(const Specifiers& other) const;

  private:
    std::vector<Specifier> clauses_;
};

/// "cu118" of "2.6.0+cu118" and of "torch==2.6.0+cu118"; empty for most.
[[nodiscard]] std::string local_of(std::string_view text);

/// The name as the index compares it (PEP 503): lower case, runs of '-', '_' and '.' are one '-'.
[[nodiscard]] std::string canonical_name(std::string_view name);

}  // namespace cudamatrix::pep440
