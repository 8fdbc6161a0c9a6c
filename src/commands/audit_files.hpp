// What `audit` and `init` read: the machine that is asked about, and files, folders and images.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "advise/audit/audit.hpp"
#include "commands/command.hpp"

namespace cudamatrix {

/// --driver, --gpu, --compute, --toolkit and --arch.
struct AuditedMachine {
    std::array<std::string, 5> texts;

    void add(const Arguments& app);
    [[nodiscard]] bool is_given() const;
    /// Input failure: a value that is none of its field. Usual spellings are said on stderr.
    [[nodiscard]] Result<std::vector<std::pair<Field, Value>>> values(const Facts& facts,
                                                                      const World& world) const;
};

/// What `paths` install: files, those below folders, the standard input ("-"), and images by their names.
[[nodiscard]] Result<audit::Report> read_audited(const std::vector<std::string>& paths, const Facts& facts,
                                                 const audit::Options& how);

}  // namespace cudamatrix
