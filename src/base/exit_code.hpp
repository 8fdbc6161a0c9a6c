// The program's exit codes: a public contract (see `cudamatrix --help`).
#pragma once

namespace cudamatrix {

enum class ExitCode : int {
    success = 0,      ///< nothing to act on
    findings = 1,     ///< cells rejected or unknown (check), failed builds or tests, nothing attempted
    bad_input = 2,    ///< unreadable matrix file, wrong usage
    environment = 3,  ///< missing engine, no disk, I/O error
    pass_static = 4,  ///< passed as far as can be without a GPU
    interrupted = 130,
};

/// The code of a run that met both: 130, 2, 3, 1, 4, 0 in that order.
[[nodiscard]] ExitCode worse(ExitCode a, ExitCode b);

}  // namespace cudamatrix
