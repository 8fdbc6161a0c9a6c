#pragma once

#include <string>
#include <vector>

/// The health of the GPUs as NVML tells it. Own declarations, so that no header of the toolkit is needed.
/// Source: NVML API Reference, https://docs.nvidia.com/deploy/nvml-api/ (the versions of functions that
/// libnvidia-ml.so.1 has had since driver 450, and nvml.h of CUDA 11.2 for the numbers).
namespace cudamatrix::suite {

/// A number that NVML may have no answer for.
struct Reading {
    bool known = false;
    unsigned long long value = 0;
};

/// Why clocks are lower than asked for, as bits of nvmlDeviceGetCurrentClocksThrottleReasons.
inline constexpr unsigned long long kThrottleHwSlowdown = 0x8;
inline constexpr unsigned long long kThrottleSwThermal = 0x20;
inline constexpr unsigned long long kThrottleHwThermal = 0x40;
inline constexpr unsigned long long kThrottleHwPowerBrake = 0x80;
/// Those of them that a healthy machine never shows: too hot, or the power supply pulled the brake.
inline constexpr unsigned long long kThrottleFaults =
    kThrottleHwSlowdown | kThrottleSwThermal | kThrottleHwThermal | kThrottleHwPowerBrake;

struct GpuHealth {
    std::string uuid;
    Reading uncorrected;      ///< ECC errors since the driver was loaded
    Reading retired_errors;   ///< pages retired for a double-bit error (up to Volta and Turing)
    Reading retire_pending;   ///< 1: pages wait for a reboot
    Reading remapped_errors;  ///< rows remapped for an uncorrectable error (from Ampere on)
    Reading remap_pending;    ///< 1: rows wait for a reset
    Reading remap_failed;     ///< 1: there was no spare row
    Reading throttle;         ///< bits, see above
    Reading temperature;      ///< degrees Celsius
    Reading shutdown_at;      ///< at which temperature it shuts down
};

struct HealthFacts {
    bool found = false;      ///< libnvidia-ml was loaded
    std::string load_error;  ///< why not
    int init = -1;           ///< answer of nvmlInit_v2; -1 = not called
    std::string failed;  ///< the call about a GPU that gave an error other than "not supported", ""  = none
    int failed_code = 0;
    std::vector<GpuHealth> gpus;
};

/// Asks NVML. `library` as dlopen takes it.
[[nodiscard]] HealthFacts read_health(const std::string& library = "libnvidia-ml.so.1");

}  // namespace cudamatrix::suite
