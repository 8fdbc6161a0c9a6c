#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fatbin/reader.hpp"
#include "kernels/host/driver_kernel.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// The device code of one of the suite's own programs, as the image's nvcc wrote it.
namespace cudamatrix::suite {

struct OwnProgram {
    std::string image;                      ///< the container with its kernel, as the driver takes it
    std::vector<fatbin::Entry> entries;     ///< of that container; without bytes
    std::vector<fatbin::Arch> asked_sass;   ///< what nvcc was asked for, in the plain form
    std::optional<fatbin::Arch> asked_ptx;  ///< likewise
};

/// Reads it; on failure the record that a test answers, a skip where there is no nvcc in the image.
[[nodiscard]] std::optional<Record> read_own_program(const Context& context, OwnProgram& program);

/// The cell's compute capability in the plain form; nothing where the cell has none.
[[nodiscard]] std::optional<fatbin::Arch> cell_arch(const Context& context);

/// Runs its kernel on the GPU, which must be done by the code of `kind`.
[[nodiscard]] Record run_own_program(const Context& context, const OwnProgram& program, fatbin::Kind kind,
                                     const std::vector<CodeMeaning>& meanings, const char* done_by);

}  // namespace cudamatrix::suite
