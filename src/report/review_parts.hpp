// The sections of a review (private to the room): what several of them share, and those that other files
// write.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "report/document.hpp"
#include "report/review.hpp"

namespace cudamatrix::report {

inline constexpr std::size_t kReviewLines = 40;  ///< of a table or a list; the JSON has all

/// What a review cites, each fact once, in the order of the first citation.
class Sources {
  public:
    /// "driver-r535, cuda-family-12"
    std::string cite(const std::vector<FactRef>& facts);
    std::string cite(const std::optional<FactRef>& fact);

    [[nodiscard]] DocumentSection section(std::string_view today) const;
    [[nodiscard]] bool empty() const { return facts_.empty(); }

  private:
    std::vector<FactRef> facts_;
    std::set<std::string> seen_;
};

/// Joined; of more than `most` the others are counted: "a; b; 3 more".
[[nodiscard]] std::string first_few(std::vector<std::string> items, std::size_t most,
                                    std::string_view separator);

/// Whether the event is over on the day of the review.
[[nodiscard]] bool is_over(const review::Event& event, const ReviewReport& report);

/// "worse | accepted -> rejected (rule) | 3 cells, first .. | why"
[[nodiscard]] DocumentTable moved_table(const std::vector<diff::MovedVerdict>& verdicts);

/// Adds the table with its first kReviewLines rows, and a sentence about the others ("3 more values").
void add_rows(DocumentSection& section, DocumentTable table, std::string_view noun);

[[nodiscard]] DocumentSection review_calendar(const ReviewReport& report, Sources& sources);
[[nodiscard]] DocumentSection review_newest(const ReviewReport& report, Sources& sources);
[[nodiscard]] DocumentSection review_way(const upgrade::Outcome& way, const ReviewReport& report);
[[nodiscard]] DocumentSection review_requirements(const ReviewReport& report);
[[nodiscard]] DocumentSection review_tested(const ReviewReport& report);
[[nodiscard]] DocumentSection review_reasons(const ReviewReport& report, Sources& sources);
[[nodiscard]] DocumentSection review_rejected(const ReviewReport& report, Sources& sources);
[[nodiscard]] DocumentSection review_copies(const ReviewReport& report);
[[nodiscard]] DocumentSection review_aged(const ReviewReport& report);

}  // namespace cudamatrix::report
