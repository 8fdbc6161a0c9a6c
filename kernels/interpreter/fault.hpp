#pragma once

#include <stdexcept>
#include <string>

namespace cudamatrix::suite::ptx {

/// What a launch can end with; the numbers are those of cudaError_t (CUDA Runtime API, "Data types").
enum class FaultCode : int {
    illegal_address = 700,
    launch_timeout = 702,
    assertion = 710,
    hardware_stack = 714,
    illegal_instruction = 715,
    misaligned_address = 716,
    launch_failure = 719,
};

/// A fault of the program that is interpreted, with all that is to be said about it. Leaves a block's run.
struct Fault : std::runtime_error {
    Fault(FaultCode fault_code, const std::string& text) : std::runtime_error(text), code(fault_code) {}
    FaultCode code;
};

}  // namespace cudamatrix::suite::ptx
