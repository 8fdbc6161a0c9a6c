// One run of the suite for one cell, wherever it runs: its lines are read as they come, its log is kept, its
// end judged.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "matrix/matrix.hpp"
#include "render/image/image.hpp"
#include "report/results.hpp"
#include "run/host/nvidia_smi.hpp"
#include "run/job/suite_output.hpp"

namespace cudamatrix::job {

using OnLine = std::function<void(std::string_view line, bool is_stderr)>;

struct SuiteCall {
    SuiteExpectation expectation;
    bool gpu = false;           ///< a GPU was handed in
    std::string why_no_gpu;     ///< why this machine's GPU was not; empty where there is none
    std::filesystem::path out;  ///< output folder: the log goes to logs/CELL.log below it
    std::function<Result<Outcome>(const OnLine&)> start;  ///< runs the suite to its end
};

/// Fills outcome, reason, proof, tests and log of `cell`. What keeps every cell from being tried is a
/// Failure; an interrupt leaves the cell planned, with that reason.
[[nodiscard]] Status run_suite(const SuiteCall& call, CellResult& cell);

/// The tests that a plan must hold for `image`: those of the suite's registry.
[[nodiscard]] std::set<std::string> required_tests(const Image& image);

/// A cell's result against the rules' word: where the code that was found in the image runs by another code
/// path than the rules expect, the cell gets a finding and is red.
void compare_with_rules(const Image& image, std::string_view compute, CellResult& cell);

// What the suite is asked for one cell: its arguments, and on which GPU of this machine.
/// What the cell and the facts promise about the device and the container.
struct CellDevice {
    std::string compute;      ///< "7.5", without a or f; empty: the cell names no device
    std::string ptx_isa;      ///< newest PTX ISA that its driver compiles; empty: unknown
    unsigned memory_mib = 0;  ///< least memory of the GPU (vram_gb); 0: nothing is promised
    unsigned shm_mib = 0;     ///< least size of /dev/shm (shm_gb); 0: nothing is promised
};
[[nodiscard]] CellDevice cell_device(const Facts& facts, const Cell& cell);

/// What a container of the suite gets.
struct ContainerNeeds {
    unsigned memory_mib = 4096;
    unsigned shm_mib = 64;
};
[[nodiscard]] ContainerNeeds needs_of(const Image& image, const CellDevice& device);

/// What keeps the GPU from being the cell's: "its driver is 570.86.15, the cell's 550.54.15"; empty: nothing.
[[nodiscard]] std::string why_another_gpu(const engine::Gpu& gpu, const Cell& cell, const CellDevice& device);

/// A GPU of this machine on which the cell can be run, or why there is none: it must have the cell's compute
/// capability, and the machine's driver must be the one that the cell names (a bare branch covers its
/// releases).
struct GpuChoice {
    std::optional<unsigned> index;
    std::string why_not;  ///< empty where a GPU was chosen, or where the machine has none at all
};
[[nodiscard]] GpuChoice choose_gpu(const std::vector<engine::Gpu>& gpus, const Cell& cell,
                                   const CellDevice& device);

/// `run --cell ID ...` without the run's id, which is added last: the same cell gives the same arguments in
/// every run.
[[nodiscard]] std::vector<std::string> suite_arguments(const Image& image, std::string_view cell_id,
                                                       const CellDevice& device, bool gpu);

/// How much of it is asked for: nothing for level quick.
[[nodiscard]] std::vector<std::string> level_arguments(std::string_view level, unsigned soak_minutes);

/// What is asked in addition where the suite runs inside `image`: the libraries that it promises, and where
/// its python and its torch lie.
[[nodiscard]] std::vector<std::string> image_arguments(const Image& image);

/// Ids of the tests that a plan must hold, read from the text of the suite's registry.
[[nodiscard]] std::set<std::string> registered_tests(std::string_view registry);

}  // namespace cudamatrix::job
