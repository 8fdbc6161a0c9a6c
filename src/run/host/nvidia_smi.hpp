// What the driver's own tool says. It prints one line for each GPU, may hang with the driver, and nothing
// that it prints is trusted.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"

namespace cudamatrix::probe {

struct Gpu {
    unsigned index = 0;
    std::string name;
    std::string compute;  ///< "9.0"; empty where the tool is older than the question (driver 470 and before)
    std::string driver;   ///< "550.54.15"
};

struct SmiAnswer {
    std::string program;    ///< its path; empty: not on PATH
    std::vector<Gpu> gpus;  ///< in the order of their indices
    bool failed = false;    ///< it ended otherwise than well
    std::string why_not;    ///< why it gave no GPU: "exit code 18: Driver/library version mismatch"
};

inline constexpr std::chrono::seconds kSmiTimeLimit{20};

/// Asks for every GPU.
[[nodiscard]] SmiAnswer ask_nvidia_smi(const Environment& environment, const Cancellation* cancellation,
                                       std::chrono::milliseconds time_limit = kSmiTimeLimit);

/// What the tool says of each GPU, by its index, for one of its questions: "mig.mode.current" -> "Enabled".
/// None where it does not know the question.
[[nodiscard]] std::map<unsigned, std::string> ask_of_each_gpu(std::string_view question,
                                                              const Environment& environment,
                                                              const Cancellation* cancellation,
                                                              std::chrono::milliseconds time_limit);

/// Reads "index, name, compute capability, driver" lines; lines that do not look like that are left out.
[[nodiscard]] std::vector<Gpu> parse_gpus(std::string_view csv);

/// Runs a tool of NVIDIA's that only prints, bounded in time and output.
[[nodiscard]] Result<Outcome> ask_tool(std::vector<std::string> argv, const Environment& environment,
                                       const Cancellation* cancellation,
                                       std::chrono::milliseconds time_limit);

/// "exit code 18: Driver/library version mismatch; NVML library version: 550.90": how a tool ended and the
/// start of what it printed, for a message.
[[nodiscard]] std::string failure_text(const Outcome& outcome);

}  // namespace cudamatrix::probe

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
