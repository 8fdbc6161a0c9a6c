// The GPUs of this machine, as the driver's own tool tells them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"

namespace cudamatrix::engine {

struct Gpu {
    unsigned index = 0;
    std::string name;
    std::string compute;  ///< "9.0"
    std::string driver;   ///< "550.54.15"
};

struct Gpus {
    std::vector<Gpu> list;
    std::string note;  ///< why a GPU that seems to be there cannot be used; empty otherwise
};

/// Asks nvidia-smi (bounded in time: a wedged driver must not hold us). No GPU is no error.
[[nodiscard]] Gpus find_gpus(const Environment& environment, const Cancellation* cancellation);

/// Reads "index, name, compute capability, driver" lines; lines that do not look like that are left out.
[[nodiscard]] std::vector<Gpu> parse_gpus(std::string_view csv);

}  // namespace cudamatrix::engine
