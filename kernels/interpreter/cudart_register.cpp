// What nvcc's host code calls before main() and around launches (crt/host_runtime.h of the toolkit).
#include <cstring>

#include "fatbin/container.hpp"
#include "kernels/interpreter/cudart_state.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

/// `__fatBinC_Wrapper_t` (fatbinary_section.h).
struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const unsigned char* data;
    const void* files;
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1;

cudamatrix::fatbin::Bytes container_of(const void* wrapper) {
    Wrapper found{};
    std::memcpy(&found, wrapper, sizeof found);
    if (found.magic != kWrapperMagic || found.data == nullptr) return {};
    const auto header =
        cudamatrix::fatbin::read_container_header({found.data, cudamatrix::fatbin::kContainerHeader});
    if (!header) return {};
    return {found.data, static_cast<std::size_t>(header->header_size + header->body_size)};
}

}  // namespace

CUDAMATRIX_API void** __cudaRegisterFatBinary(void* wrapper) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    runtime.images.push_back(std::make_unique<Image>());
    runtime.images.back()->bytes = container_of(wrapper);
    return reinterpret_cast<void**>(runtime.images.back().get());
}

CUDAMATRIX_API void __cudaRegisterFatBinaryEnd(void**) {}

CUDAMATRIX_API void __cudaUnregisterFatBinary(void**) {}

CUDAMATRIX_API char __cudaInitModule(void**) {
    return 1;
}

CUDAMATRIX_API void __cudaRegisterFunction(void** image, const char* host, char*, const char* name, int,
                                           void*, void*, void*, void*, int*) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    runtime.kernels[host] = {reinterpret_cast<Image*>(image), name, 0};
}

CUDAMATRIX_API void __cudaRegisterVar(void** image, char* host, char*, const char* name, int,
                                      std::size_t size, int, int) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    runtime.symbols[host] = {reinterpret_cast<Image*>(image), name, size};
}

CUDAMATRIX_API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
    pushed_calls().push_back({grid, block, shared, stream, false, {}});
    return 0;
}

CUDAMATRIX_API int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
    if (pushed_calls().empty()) return remember(kMissingConfiguration);
    const Call call = pushed_calls().back();
    pushed_calls().pop_back();
    *grid = call.grid;
    *block = call.block;
    *shared = call.shared;
    std::memcpy(stream, &call.stream, sizeof call.stream);
    return kSuccess;
}
