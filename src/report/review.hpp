// `review`: the quarterly upgrade review, for people, managers, pull requests and programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/diff/diff.hpp"
#include "advise/review/review.hpp"
#include "advise/upgrade/found_way.hpp"
#include "base/result.hpp"
#include "matrix/matrix.hpp"
#include "report/document.hpp"
#include "report/inputs.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {

struct ReviewReport {
    const Matrix& matrix;
    const Judgement& judgement;  ///< of the matrix as it is
    const review::Review& review;
    std::string since;  ///< what `changed` compares with: "cudamatrix.lock"
    const diff::Diff& changed;
    std::vector<RunReport> runs;  ///< what was proven, by the reports of runs
    ToolInfo tool;
    TextOptions text;
};

/// The review in parts, each under its title: in short, failures and limits today, what changed, calendar,
/// newest, recommendation, requirements, why these versions, rejected alternatives, what to copy, what aged;
/// first the emergency, where there is one.
[[nodiscard]] Document review_document(const ReviewReport& report);

[[nodiscard]] std::string review_text(const ReviewReport& report);
[[nodiscard]] std::string review_markdown(const ReviewReport& report);
/// Within the length of a comment.
[[nodiscard]] std::string review_comment(const ReviewReport& report);
[[nodiscard]] std::string review_html(const ReviewReport& report);
/// All of it, with the edited file of each way: what `upgrade --apply` takes.
[[nodiscard]] std::string review_json(const ReviewReport& report);

/// What `upgrade --apply` takes of a review.
struct RecordedReview {
    std::string sha256;                   ///< of the matrix file that was reviewed
    std::vector<upgrade::FoundWay> ways;  ///< those that could be edited
};
/// What review_json wrote as `text`; `file` is what messages call it. Texts of steps are fit for a terminal.
/// Input failures: text that is no JSON, or no review (each mistake with its place).
[[nodiscard]] Result<RecordedReview> read_review_json(std::string_view text, std::string_view file);

}  // namespace cudamatrix::report
