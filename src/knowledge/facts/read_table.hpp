// One file of facts as a table of rows. Shared by the build-time generator and by --facts DIR, so that both
// read the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix::facts {

struct ParsedColumn {
    std::string name;
    std::vector<std::string> values;  ///< a scalar has one
    bool is_list = false;
};

struct ParsedRow {
    Location where;
    std::vector<ParsedColumn> columns;

    [[nodiscard]] std::string_view text(std::string_view column) const;
};

struct ParsedTable {
    std::string name;
    std::string as_of;
    std::vector<ParsedRow>
        rows;  ///< each with its own `as_of` column: the table's date where the row gives none
};

/// Reads `table:`, `as_of:` and `rows:` (a list of flat maps of scalars and lists of scalars; null means
/// "absent"). What is not of that form is an input failure with file:line:col; what the values mean is judged
/// by Facts::check.
[[nodiscard]] Result<ParsedTable> read_table(std::string_view text, std::string_view file_name);

}  // namespace cudamatrix::facts
