// libFuzzer: PTX that is read, loaded and run for a few steps, by two warps.
#include <string_view>

#include "kernels/interpreter/launch.hpp"
#include "kernels/interpreter/parser.hpp"

namespace ptx = cudamatrix::suite::ptx;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto read = ptx::parse_module({reinterpret_cast<const char*>(data), size});
    if ((read.module == nullptr) == read.error.empty()) __builtin_trap();
    if (read.module == nullptr) return 0;
    ptx::DeviceMemory memory(1U << 20);
    std::string error;
    if (!ptx::load_module(*read.module, memory, error)) return 0;
    ptx::RunOptions options;
    options.step_limit = 2000;
    options.threads = 1;
    options.print = [](const std::string&) {};
    for (const auto& function : read.module->functions) {
        if (!function->entry || !function->defined) continue;
        ptx::LaunchRequest request;
        request.module = read.module.get();
        request.function = function.get();
        request.block.x = 64;
        request.parameters.resize(function->kernel_param_size);
        const auto result = ptx::launch(request, memory, options);
        if ((result.code == 0) != result.error.empty()) __builtin_trap();
    }
    ptx::unload_module(*read.module, memory);
    return 0;
}
