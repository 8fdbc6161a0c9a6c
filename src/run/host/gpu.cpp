#include "run/host/gpu.hpp"

#include <filesystem>

#include "base/text.hpp"

namespace cudamatrix::engine {

Gpus find_gpus(const Environment& environment, const Cancellation* cancellation) {
    Gpus gpus;
    std::error_code error;
    const bool node = std::filesystem::exists("/dev/nvidiactl", error);
    auto answer = probe::ask_nvidia_smi(environment, cancellation);
    if (answer.program.empty()) {
        if (node) gpus.note = "/dev/nvidiactl exists, but nvidia-smi is not on PATH to tell which GPU it is";
        return gpus;
    }
    if (answer.failed || (node && answer.gpus.empty())) {
        gpus.note = "nvidia-smi: " + answer.why_not;
        return gpus;
    }
    gpus.list = std::move(answer.gpus);
    std::erase_if(gpus.list, [](const Gpu& gpu) { return gpu.compute.empty(); });
    return gpus;
}

}  // namespace cudamatrix::engine
