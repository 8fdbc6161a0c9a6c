// What `facts measure` has seen, and how it says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/index_options.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix {

struct MeasureOptions : IndexOptions {
    std::vector<std::string> packages;
    std::string versions;
    std::string arch = "x86_64,aarch64";
    bool declared = false;
    bool held = false;
    bool execute = false;
    bool accept = false;
    bool missing = false;
    bool is_torch = false;
    bool is_toolkit = false;
};

struct Measured {
    std::vector<measure::Compared> rows;
    std::vector<std::string> not_measured;
    std::vector<std::string> other_libraries;  ///< with code, and known to no row by name
    std::vector<std::string> left_out;         ///< rows that the tables would refuse
    std::size_t remembered = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;

    /// A row that is there already by its id stays as it is.
    void add(measure::MeasuredRow row, const Facts& facts);
    /// What looking at the tasks gave, but for rows: a failure is one of not_measured. True: it was looked
    /// at.
    [[nodiscard]] bool note(const measure::Seen& seen);
    [[nodiscard]] std::size_t count(measure::Standing standing) const;
};

/// What --versions admits; input failure: it is no version specifier.
[[nodiscard]] Result<pep440::Specifiers> versions_of(const MeasureOptions& options);

/// Rows that contradict known ones only where the user takes them.
[[nodiscard]] Status write_rows(const MeasureOptions& options, Measured& measured, std::string_view today);

[[nodiscard]] std::string measured_text(const MeasureOptions& options, const Measured& measured,
                                        const Facts& facts);
[[nodiscard]] std::string measured_json(const Measured& measured, const Facts& facts);

}  // namespace cudamatrix
