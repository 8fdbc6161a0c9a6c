// What the checks share, and the functions that look.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/lint/lint.hpp"
#include "render/image/image_plan.hpp"

namespace cudamatrix::lint {

struct Search {
    Search(const Input& input, const ImagePlan& plan);

    /// Adds a finding of the check `id`; `edits` are tried first: they have to give a file of `cells_after`
    /// cells.
    Finding& add(std::string_view id, const Location& where, std::string message, std::string fix,
                 std::vector<std::optional<Edit>> edits = {}, std::optional<std::uint64_t> cells_after = {});
    [[nodiscard]] bool has(std::string_view id, const Location& where) const;

    const Input& input;
    const Matrix& matrix;
    const ImagePlan& plan;
    Places places;
    Editor editor;
    std::uint64_t cells;    ///< of the whole matrix
    std::uint64_t product;  ///< of the product before excludes: cells of a lower index belong to it
    std::vector<Finding> out;
};

void find_idle_conditions(Search& search);
void find_names_that_cannot_exist(Search& search);
void find_unused_values(Search& search);
void find_repeated_releases(Search& search);
void find_one_value_axes(Search& search);
void find_waivers_at_their_end(Search& search);
void find_hiding_stages(Search& search);
void find_unread_fields(Search& search);
void find_unread_platforms(Search& search);
void find_respelt_values(Search& search);
void find_unmarked_end(Search& search);
void find_same_images(Search& search);
void find_unused_mirrors(Search& search);
void find_not_rendered(Search& search);

/// The cells that would get an image.
[[nodiscard]] std::vector<PlannedCell> cells_with_image(const Judgement& judgement);

/// "driver 580", "cuda 13.4.3 with os debian12": the values of one row of an axis.
[[nodiscard]] std::string row_text(const Axis& axis, const std::vector<Value>& row);

}  // namespace cudamatrix::lint
