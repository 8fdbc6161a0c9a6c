// Truth tables: the verdict of one rule over a cross product of known facts, against a second, naive
// computation from the raw rows or from a table written by hand. That computation calls nothing of src/rules.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "knowledge/resolve/subject.hpp"
#include "rule_check.hpp"

namespace cudamatrix::rules {

class TruthTable {
  public:
    explicit TruthTable(std::string_view rule, std::string_view today = kToday)
        : rule_(rule_named(rule)), today_(today) {
        REQUIRE(rule_ != nullptr);
    }

    void expect(const Words& words, Verdict expected) {
        std::deque<Value> values;
        Cell cell;
        for (const auto& [field, text] : words)
            cell.set(field, &values.emplace_back(std::get<Value>(value_from_text(field, text))));
        const auto said = verdict_of(ask(*rule_, cell, facts_, today_, &memo_));
        ++compared_;
        if (said == expected) return;
        if (++disagreements_ > kShown) return;
        std::string what;
        for (const auto& [field, text] : words)
            what += fmt::format("{} {}, ", info(field).name, text);
        MESSAGE(fmt::format("{}{} instead of {}", what, to_string(said), to_string(expected)));
    }

    /// Prints the counts; the table is of no use where it has fewer than `at_least` combinations.
    void finish(std::size_t at_least) const {
        MESSAGE(fmt::format("{}: {} combinations, {} disagreements", rule_->id, compared_, disagreements_));
        CHECK(compared_ >= at_least);
        CHECK(disagreements_ == 0);
    }

    [[nodiscard]] const Facts& facts() const { return facts_; }

  private:
    static constexpr std::size_t kShown = 20;
    const Rule* rule_;
    std::string_view today_;
    Facts facts_ = Facts::embedded();
    Memo memo_;
    std::size_t compared_ = 0;
    std::size_t disagreements_ = 0;
};

namespace naive {

/// The first two numbers of a text as one: 1204 of "12.4.1", 313 of "3.13t", 241 of "2.41".
inline int number(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    const auto major = std::strtol(copy.c_str(), &end, 10);
    return static_cast<int>(100 * major + (*end == '.' ? std::strtol(end + 1, nullptr, 10) : 0));
}

/// The first three numbers of a text as one.
inline long long whole(std::string_view text) {
    const auto dot = text.find('.');
    const auto second = dot == text.npos ? dot : text.find('.', dot + 1);
    return 100'000LL * number(text) +
           (second == text.npos ? 0 : std::atoll(std::string(text.substr(second + 1)).c_str()));
}

inline bool lists(const Row& row, std::string_view column, std::string_view value) {
    for (const auto item : row.list(column)) {
        if (item == value) return true;
    }
    return false;
}

inline bool doubtful(const std::optional<Row>& row) {
    return row && row->text("confidence") == "unverified";
}

/// 89 of "8.9", without a or f.
inline int compute(std::string_view text) {
    const auto both = number(text);
    return both / 100 * 10 + both % 100;
}

/// What machine code of one capability runs on, for GPUs of desktops and servers: the same major from its
/// minor on.
inline bool runs(int code, int device) {
    return code / 10 == device / 10 && code <= device;
}

/// GPUs of desktops and servers, whose code is shared within a major.
inline constexpr int kDevices[] = {35, 37, 50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121};

inline std::string compute_text(int device) {
    return fmt::format("{}.{}", device / 10, device % 10);
}

}  // namespace naive

}  // namespace cudamatrix::rules
