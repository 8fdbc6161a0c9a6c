// The GPUs of this machine, as the driver's own tool tells them.
#pragma once

#include <string>
#include <vector>

#include "base/process.hpp"
#include "run/host/nvidia_smi.hpp"

namespace cudamatrix::engine {

using probe::Gpu;

struct Gpus {
    std::vector<Gpu> list;
    std::string note;  ///< why a GPU that seems to be there cannot be used; empty otherwise
};

/// Asks nvidia-smi (bounded in time: a wedged driver must not hold us). No GPU is no error; one whose compute
/// capability the tool does not tell is left out.
[[nodiscard]] Gpus find_gpus(const Environment& environment, const Cancellation* cancellation);

}  // namespace cudamatrix::engine
