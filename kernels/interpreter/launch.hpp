#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/interpreter/fault.hpp"
#include "kernels/interpreter/memory.hpp"
#include "kernels/interpreter/module.hpp"

namespace cudamatrix::suite::ptx {

struct Dim3 {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
    [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};
/// (0,1,0)
[[nodiscard]] std::string text_of(const Dim3& at);

/// How a kernel is run.
struct RunOptions {
    std::uint64_t step_limit = 20'000'000'000;      ///< warp instructions of one launch
    unsigned threads = 0;                           ///< of the host; 0: one for each processor
    unsigned schedules = 1;                         ///< how often, each with another interleaving of warps
    std::uint64_t seed = 1;                         ///< of the second interleaving on; the first is by turns
    bool races = true;                              ///< report unordered accesses to one address
    std::function<void(const std::string&)> print;  ///< gets what kernels print; null: standard output
};

struct LaunchRequest {
    const Module* module = nullptr;
    const Function* function = nullptr;
    Dim3 grid;
    Dim3 block;
    std::vector<std::uint8_t> parameters;  ///< kernel_param_size bytes
    std::uint32_t dynamic_shared = 0;      ///< bytes
    Dim3 cluster;                          ///< blocks of one; not of a cooperative launch
    bool cooperative = false;              ///< all blocks run at once, and grid.sync works
};

struct LaunchResult {
    int code = 0;       ///< 0, or a FaultCode
    std::string error;  ///< kernel, block, thread, line, instruction and what is wrong
    std::uint64_t warp_instructions = 0;
};

/// Gives the module's variables memory, writes their initial values, and sets the addresses in its functions.
/// False and `error` when there is not enough memory or a name is unknown.
bool load_module(Module& module, DeviceMemory& memory, std::string& error);
/// Frees the memory of its variables.
void unload_module(Module& module, DeviceMemory& memory);

/// Runs all blocks, several at once. A kernel's fault is a result, never an exception.
[[nodiscard]] LaunchResult launch(const LaunchRequest& request, DeviceMemory& memory,
                                  const RunOptions& options);

/// Of a cooperative launch, as cooperative_groups has it: its size, and the word that blocks count in.
inline constexpr std::uint64_t kWorkspaceSize = 8;
inline constexpr std::uint64_t kBarrierWord = 4;

/// What the blocks of one launch share.
struct Launch {
    const LaunchRequest& request;
    const DeviceMemory& memory;
    const RunOptions& options;
    const Allocation* workspace = nullptr;  ///< of grid.sync, in a cooperative launch
    unsigned schedule = 0;                  ///< number of this run; 0 is the one by turns
    bool last_schedule = true;
    std::uint32_t number = 0;  ///< of the run since the start of the program, 1 to 4095 and again
    std::atomic<std::uint64_t> steps{0};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> next_gang{0};
    std::mutex lock;  ///< of what follows, and of printing
    std::uint64_t fault_block = ~std::uint64_t{0};
    LaunchResult result;
    std::atomic<bool> published{false};  ///< has any block passed on what it did?
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>
        heard;  ///< blocks, by the place of an atomic operation

    Launch(const LaunchRequest& of, const DeviceMemory& device_memory, const RunOptions& run_options)
        : request(of), memory(device_memory), options(run_options) {}
    void print(const std::string& text);
};

}  // namespace cudamatrix::suite::ptx
