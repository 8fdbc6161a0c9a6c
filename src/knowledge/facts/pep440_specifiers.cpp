// Which versions a PEP 440 specifier admits; reading and ordering versions is in pep440.cpp.
#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix::pep440 {

std::optional<Specifier> Specifier::parse(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, Op>, 8> operators{{{"===", Op::identical},
                                                                               {"==", Op::equal},
                                                                               {"!=", Op::not_equal},
                                                                               {"<=", Op::less_equal},
                                                                               {">=", Op::greater_equal},
                                                                               {"~=", Op::compatible},
                                                                               {"<", Op::less},
                                                                               {">", Op::greater}}};
    text = text::trim(text);
    const auto found = std::find_if(operators.begin(), operators.end(),
                                    [&](const auto& entry) { return text.starts_with(entry.first); });
    if (found == operators.end()) return std::nullopt;
    auto operand = text::trim(text.substr(found->first.size()));
    Specifier out;
    out.op_ = found->second;
    if (out.op_ == Op::identical) {
        // Any text: nothing but its letters is compared.
        if (operand.empty() || operand.find(' ') != operand.npos) return std::nullopt;
        out.operand_.text_ = std::string(operand);
        return out;
    }
    if (operand.ends_with(".*")) {
        if (out.op_ != Op::equal && out.op_ != Op::not_equal) return std::nullopt;
        out.prefix_ = true;
        operand.remove_suffix(2);
    }
    auto version = Version::parse(operand);
    if (!version) return std::nullopt;
    out.operand_ = *std::move(version);
    const auto& v = out.operand_;
    const bool plain = !v.pre_ && !v.post_ && !v.dev_ && v.local_.empty();
    if (out.prefix_ && !plain) return std::nullopt;
    if (out.op_ == Op::compatible && v.release_.size() < 2) return std::nullopt;
    const bool takes_local = out.op_ == Op::equal || out.op_ == Op::not_equal;
    if (!v.local_.empty() && !takes_local) return std::nullopt;
    return out;
}

bool Specifier::has_prefix(const Version& version, std::size_t length) const {
    if (version.epoch_ != operand_.epoch_) return false;
    for (std::size_t i = 0; i < length; ++i) {
        if (version.part(i) != operand_.part(i)) return false;
    }
    return true;
}

bool Specifier::equals(const Version& version) const {
    if (prefix_) return has_prefix(version, operand_.release_.size());
    return std::is_eq(Version::compare_public(version, operand_)) &&
           (operand_.local_.empty() || version.local_ == operand_.local_);
}

bool Specifier::admits(const Version& version) const {
    // Only == and != have an operand with a local part (parse): the bounds compare without it.
    const auto order = Version::compare_public(version, operand_);
    switch (op_) {
        case Op::equal:
            return equals(version);
        case Op::not_equal:
            return !equals(version);
        case Op::less_equal:
            return std::is_lteq(order);
        case Op::greater_equal:
            return std::is_gteq(order);
        case Op::compatible:
            return std::is_gteq(order) && has_prefix(version, operand_.release_.size() - 1);
        case Op::less:
            // 2.0rc1 is before 2.0 and yet not what "<2.0" means.
            return version < operand_ &&
                   (operand_.is_prerelease() || !version.is_prerelease() || !version.same_base(operand_));
        case Op::greater:
            // 2.0.post1 and 2.0+cu124 are after 2.0 and yet not what ">2.0" means.
            if (!(version > operand_)) return false;
            if (!operand_.is_postrelease() && version.is_postrelease() && version.same_base(operand_))
                return false;
            return version.local_.empty() || !version.same_base(operand_);
        case Op::identical:
            return text::lower(version.text()) == text::lower(operand_.text());
    }
    return false;
}

std::vector<Version> Specifier::corners() const {
    if (op_ == Op::identical) {
        const auto exact = Version::parse(operand_.text());
        return exact ? std::vector<Version>{*exact} : std::vector<Version>{};
    }
    Version above = operand_;  // 1.2 -> 1.2.0.0.1: right above it, and below every real neighbour
    above.pre_.reset();
    above.post_.reset();
    above.dev_.reset();
    above.local_.clear();
    Version next = above;  // 1.2.* -> 1.3: the first one outside
    ++next.release_.back();
    above.release_.insert(above.release_.end(), {0, 0, 1});
    return {operand_, above, next};
}

std::optional<Specifiers> Specifiers::parse(std::string_view text) {
    Specifiers out;
    for (const auto& part : text::split(text, ',')) {
        if (text::trim(part).empty()) continue;
        auto clause = Specifier::parse(part);
        if (!clause) return std::nullopt;
        out.clauses_.push_back(*std::move(clause));
    }
    return out;
}

const std::optional<Specifiers>& Specifiers::of_fact(std::string_view text) {
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    thread_local std::unordered_map<std::string, std::optional<Specifiers>, Hash, std::equal_to<>> read;
    const auto known = read.find(text);
    return known != read.end() ? known->second : read.emplace(text, parse(text)).first->second;
}

bool Specifiers::admits(const Version& version) const {
    return std::all_of(clauses_.begin(), clauses_.end(),
                       [&](const Specifier& clause) { return clause.admits(version); });
}

bool Specifiers::excludes(const Specifiers& other) const {
    // What both admit, if anything, begins at 0, at a clause's operand, right above it, or behind its prefix.
    auto candidates = std::vector<Version>{*Version::parse("0")};
    for (const auto* side : {this, &other}) {
        for (const auto& clause : side->clauses_) {
            for (auto& corner : clause.corners())
                candidates.push_back(std::move(corner));
        }
    }
    return std::none_of(candidates.begin(), candidates.end(),
                        [&](const Version& version) { return admits(version) && other.admits(version); });
}

}  // namespace cudamatrix::pep440
