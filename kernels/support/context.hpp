#pragma once

#include <optional>
#include <string>
#include <vector>

/// What the caller promises about the cell, and how to run: the options that `suite run` and every test
/// share.
namespace cudamatrix::suite {

enum class Mode {
    automatic,  ///< use a GPU when there is one
    gpu,        ///< a GPU must be there
    nogpu,      ///< do not touch one
};

struct Context {
    std::string run;                ///< id of the run, in every line
    std::string cell;               ///< id of the cell
    std::string compute;            ///< compute capability of the cell's GPU: "8.6"
    std::string ptx_isa;            ///< newest PTX ISA that the cell's driver compiles: "8.4"
    std::string expect_cuda;        ///< version of the image's toolkit: "11.8" or "11.8.0"
    std::string expect_torch;       ///< "2.6.0+cu124"
    std::string expect_torch_cuda;  ///< "12.4"
    std::string python = "python3";
    std::string level = "quick";
    int soak_seconds = 600;  ///< at level soak: how long stress.sustained computes
    Mode mode = Mode::automatic;
    bool require_gpu = false;
    std::vector<std::string> libs;     ///< CUDA libraries that the cell promises, as dlopen takes them
    std::vector<std::string> fatbins;  ///< further files whose device code is listed
    std::string root;                  ///< prefix of /proc and /dev, for tests of the probe
    int gpus = 0;                      ///< number of GPUs promised, 0 = not promised
    int min_memory_mib = 0;            ///< memory of a GPU promised, 0 = not promised
    int min_shm_mib = 0;               ///< size of /dev/shm promised, 0 = not promised
    std::string prefix;                ///< folder of bin/, python/ and static.jsonl
    int record_fd = 1;                 ///< where a test writes its record
    std::string part;                  ///< which part of a test of several to run
    double limit_seconds = 0;       ///< time limit of each test instead of the registry's; 0 = the registry's
    std::vector<std::string> only;  ///< run these ids only; empty = all

    /// A GPU must be there: its absence is a failure, not a skip.
    [[nodiscard]] bool gpu_is_promised() const { return require_gpu || mode == Mode::gpu; }
};

/// Reads options "--name VALUE". On failure nothing, and `error` names the option and what it takes.
[[nodiscard]] std::optional<Context> parse_context(const std::vector<std::string>& args, std::string& error);

/// The options that parse_context() would read back as the same context.
[[nodiscard]] std::vector<std::string> to_args(const Context& context);

/// The options with their meaning, one a line, for the usage text.
[[nodiscard]] std::string context_usage();

/// "13.4.3" and "13.4" -> "13.4"; "" when it does not begin with two numbers.
[[nodiscard]] std::string major_minor(const std::string& version);
/// Less, equal, greater as -1, 0, 1, by the numbers between dots: "11.8" < "12.0", "9.10" > "9.9".
[[nodiscard]] int compare_versions(const std::string& a, const std::string& b);

}  // namespace cudamatrix::suite
