// One rule asked about one cell, written as under `set:` (flow style, without the braces).
#pragma once

#include <doctest/doctest.h>

#include <string_view>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "rule_check.hpp"

namespace cudamatrix::rules {

struct ExampleAnswer {
    bool asked = false;  ///< the cell has what the rule needs
    Findings findings;
};

inline ExampleAnswer asked_example(const Rule& rule, std::string_view example,
                                   const Facts& facts = Facts::embedded()) {
    const auto matrix =
        read_matrix_text(fmt::format("version: 1\nname: example\nset: {{{}}}\n", example), "example.yaml");
    if (!matrix) {
        for (const auto& diagnostic : matrix.failure().diagnostics)
            MESSAGE(render(diagnostic, example));
    }
    REQUIRE(matrix);
    ExampleAnswer out;
    for_each_cell(*matrix, [&](const Cell& cell) {
        out.asked = applies(rule, cell);
        if (out.asked) out.findings = evaluate(rule, cell, facts, kToday);
        return false;
    });
    return out;
}

}  // namespace cudamatrix::rules
