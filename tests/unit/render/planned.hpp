// A matrix and the images that it plans.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "matrix/matrix_file.hpp"
#include "render/image/image_plan.hpp"

namespace cudamatrix::test {

struct Planned {
    Matrix matrix;
    ImagePlan plan;
};

[[nodiscard]] inline ImagePlan plan_of(const Matrix& matrix, const Facts& facts = Facts::embedded(),
                                       const Taken& taken = {}) {
    std::vector<PlannedCell> cells;
    for_each_cell(matrix, [&](const Cell& cell) {
        cells.push_back({cell, cell_id(matrix, cell)});
        return true;
    });
    return plan_images(matrix, cells, facts, taken);
}

/// Of a matrix that must be good: its text, or the lines below its name.
[[nodiscard]] inline Planned planned(const std::string& yaml, const Facts& facts = Facts::embedded()) {
    auto matrix = read_matrix_text(yaml.starts_with("version:") ? yaml : "version: 1\nname: test\n" + yaml,
                                   "matrix.yaml");
    REQUIRE_MESSAGE(matrix.ok(), (matrix.ok() ? "" : render(matrix.failure().diagnostics.front(), {})));
    Planned out{std::move(matrix).value(), {}};
    out.plan = plan_of(out.matrix, facts);
    return out;
}

/// The one image that the cells share.
[[nodiscard]] inline Image one(const std::string& yaml) {
    auto got = planned(yaml);
    for (const auto& refusal : got.plan.refusals)
        MESSAGE(refusal.reason);
    REQUIRE(got.plan.refusals.empty());
    REQUIRE(got.plan.images.size() == 1);
    return got.plan.images.front();
}

/// Why the one cell gets no image.
[[nodiscard]] inline std::string refusal(const std::string& yaml, const Facts& facts = Facts::embedded()) {
    const auto got = planned(yaml, facts);
    REQUIRE(got.plan.images.empty());
    REQUIRE(got.plan.refusals.size() == 1);
    return got.plan.refusals.front().reason;
}

}  // namespace cudamatrix::test
