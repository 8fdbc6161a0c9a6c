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

/// What was named: the texts of files, those below folders and the standard input ("-"), and images.
struct Audited {
    std::vector<audit::Input> files;
    std::vector<std::string> images;

    /// What they install.
    [[nodiscard]] audit::Report report(const Facts& facts, const audit::Options& how) const;
};
[[nodiscard]] Result<Audited> read_audited(const std::vector<std::string>& paths);

}  // namespace cudamatrix
