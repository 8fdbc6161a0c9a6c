// The rules of the matrix file as rules like ours, and what only shows beside the list of rules.
#pragma once

#include <vector>

#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {

/// One rule for each clause of each `require`, with the id and stage of the entry; they look at the fields of
/// `when` and of the clause, and need them. They point into `matrix`.
[[nodiscard]] std::vector<Rule> own_rules(const Matrix& matrix);

/// Own rules whose id is one of ours, and waivers of rules that do not exist. Also of a matrix of which some
/// could not be read: only what is there is looked at.
[[nodiscard]] std::vector<Diagnostic> mistakes_in_ids(const Matrix& matrix);

/// Every field of the condition.
[[nodiscard]] FieldSet fields_of(const Condition& condition);

/// ": no cell has the field platform" for a condition that asks for a field that the file never names.
[[nodiscard]] std::string missing_fields(const Matrix& matrix, const Condition& condition);

}  // namespace cudamatrix::rules
