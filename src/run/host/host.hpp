// The machine that the program runs on, as far as it can be found out without loading anything of the driver.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "matrix/matrix.hpp"
#include "report/results.hpp"
#include "run/host/nvidia_smi.hpp"

namespace cudamatrix::probe {

/// Where to look: everything comes in as a value, so that a test can build a machine.
struct Machine {
    Environment environment;           ///< PATH for nvidia-smi, nvidia-ctk, nvidia-container-cli
    std::filesystem::path root = "/";  ///< proc/driver/nvidia and etc/os-release lie below it
    std::string arch;                  ///< as uname says it: x86_64
    std::string glibc;                 ///< as the C library says it; empty where it is another one
    std::chrono::milliseconds time_limit = kSmiTimeLimit;  ///< of each tool
    const Cancellation* cancellation = nullptr;
};

/// Something that was found, and where: "nvidia-smi", "/proc/driver/nvidia/version".
struct Found {
    std::string value;
    std::string from;
};

struct HostGpu {
    std::string name;              ///< as the driver calls it
    std::string compute;           ///< may be empty
    bool mig = false;              ///< MIG mode is on
    std::uint64_t memory_mib = 0;  ///< 0: nobody says it
};

/// What was not found, and why.
struct Missing {
    std::string what;  ///< "driver", "gpu", "toolkit" ...
    std::string why;
};

struct Host {
    std::optional<Found> driver;         ///< release of the loaded driver
    std::optional<Found> kernel_module;  ///< open or proprietary
    std::optional<Found> toolkit;        ///< release of nvidia-container-toolkit
    std::optional<Found> os;             ///< "ubuntu22.04"
    std::optional<Found> arch;           ///< "x86_64"
    std::optional<Found> glibc;          ///< "2.35"
    std::vector<HostGpu> gpus;           ///< every one of them
    std::string gpus_from;
    std::vector<Missing> missing;
    std::vector<std::string> notes;  ///< contradictions

    /// Why there is no `what`; empty where nothing says it.
    [[nodiscard]] std::string why_no(std::string_view what) const;
};

/// The release of the glibc below `root`, as its library says it; empty where there is none. For a program
/// that is not linked with it.
[[nodiscard]] std::string glibc_below(const std::filesystem::path& root);

/// Looks; nothing is installed, loaded or changed. Takes at most a few times `time_limit`.
[[nodiscard]] Host look_at(const Machine& machine);

// --host: a matrix on machines.

/// A machine, and how findings call it: "this machine", "fleet/node-7.json".
struct NamedHost {
    std::string name;
    Host host;
};

/// The same matrix on machines, and what was used of them.
struct OnMachine {
    Matrix matrix;
    report::HostInfo info;
};

/// A row of cells for each different combination of what the machines have: several are a fleet, and a cell
/// pairs no driver of one with a GPU of another. What one of them does not tell is judged for none. Those
/// without driver and GPU, and beside machines with GPUs those without, are left out with a note; environment
/// failure: all of them are without driver and GPU.
[[nodiscard]] Result<OnMachine> on_machines(const Matrix& matrix, const std::vector<NamedHost>& hosts,
                                            const Facts& facts);

/// On one, "this machine".
[[nodiscard]] Result<OnMachine> on_machine(const Matrix& matrix, const Host& host, const Facts& facts);

}  // namespace cudamatrix::probe
