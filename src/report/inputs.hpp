// What the writers get besides the data itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {

/// Which tool wrote the report, from which knowledge.
struct ToolInfo {
    std::string version;
    std::string facts_date;          ///< YYYY-MM-DD
    std::string facts_hash;          ///< first 12 hexadecimal digits
    std::string facts_warning = {};  ///< set when they are old: "facts are 200 days old, as of ..."
};

struct TextOptions {
    bool colour = false;     ///< ANSI colours; only a terminal should get them
    std::size_t width = 80;  ///< columns that a table may take; below 40 counts as 40
    bool cut = false;        ///< whether ids lose their middle where they do not fit: not in a pipe
    bool verbose = false;    ///< with excerpts, evidence and notes
};

/// A judged matrix: what `check` and `list` print.
struct CheckReport {
    const Matrix& matrix;
    const Judgement& judgement;
    ToolInfo tool;
    TextOptions text;
    const HostInfo* host = nullptr;             ///< with --host
    std::vector<Diagnostic> not_rendered = {};  ///< notes: what is accepted and cannot be rendered
    std::string folder = {};                    ///< the current one; empty: nobody says
};

}  // namespace cudamatrix::report
