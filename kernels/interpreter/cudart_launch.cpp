// Launches, and what can be asked about kernels.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "kernels/interpreter/cudart_streams.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

constexpr std::size_t kUsualShared = 48U << 10;  // bytes without cudaFuncSetAttribute
constexpr std::size_t kMostShared = 227U
                                    << 10;  // CUDA C++ Programming Guide, "Technical Specifications", of 9.0
constexpr std::uint32_t kMostThreads = 1024;
constexpr int kAttributeDynamicShared = 8;  // cudaFuncAttributeMaxDynamicSharedMemorySize
constexpr int kAttributeCarveout = 9;

bool fits(const Dim3& grid, const Dim3& block) {
    return grid.count() != 0 && block.count() != 0 && grid.x <= 0x7fffffff && grid.y <= 0xffff &&
           grid.z <= 0xffff && block.x <= kMostThreads && block.y <= kMostThreads && block.z <= 64 &&
           block.count() <= kMostThreads;
}

std::uint64_t threads_of(const std::uint32_t* threads) {
    return std::uint64_t{threads[0]} * threads[1] * threads[2];
}

int check(const Kernel& kernel, const Function& function, const Module& module, const Call& call) {
    if (!fits(call.grid, call.block)) return kInvalidConfiguration;
    const std::uint64_t most = threads_of(function.most_threads);
    if (most != 0 && call.block.count() > most) return kOutOfResources;
    const std::uint32_t* needed = function.required_threads;
    if (needed[0] != 0 &&
        (call.block.x != needed[0] || call.block.y != needed[1] || call.block.z != needed[2]))
        return kInvalidValue;
    const std::size_t fixed = module.shared_size + function.shared_size;
    const std::size_t dynamic =
        std::max<std::size_t>(kUsualShared, static_cast<std::size_t>(kernel.dynamic_shared));
    return call.shared > dynamic || fixed + call.shared > kMostShared ? kInvalidValue : kSuccess;
}

/// Blocks of a kernel that the one multiprocessor runs at once.
int most_blocks_at_once(const Function& function, const Module& module, std::uint64_t threads,
                        std::size_t shared) {
    constexpr int kMostBlocks = 32;
    constexpr int kMostAtOnce = 2048;  // threads
    if (threads > kMostThreads) return 0;
    const std::size_t used = module.shared_size + function.shared_size + shared;
    const int by_shared = used == 0 ? kMostBlocks : static_cast<int>(kMostShared / used);
    const int by_threads = kMostAtOnce / static_cast<int>((threads + kLanes - 1) / kLanes * kLanes);
    return std::min({kMostBlocks, by_threads, by_shared});
}

/// Eight blocks are what every device with clusters can do.
int check_cluster(Runtime& runtime, const Call& call) {
    constexpr std::uint64_t kMostOfCluster = 8;
    constexpr unsigned kFirst = 90;  // compute capability
    const Dim3& of = call.cluster;
    if (of.count() == 1) return kSuccess;
    if (of.count() == 0) return kInvalidValue;
    if (runtime.device_capability() < kFirst || call.cooperative) return kNotSupported;
    if (of.count() > kMostOfCluster) return kInvalidClusterSize;
    const bool whole = call.grid.x % of.x == 0 && call.grid.y % of.y == 0 && call.grid.z % of.z == 0;
    return whole ? kSuccess : kInvalidConfiguration;
}

void run(Runtime& runtime, const Kernel& kernel, const LaunchRequest& request) {
    const auto begin = std::chrono::steady_clock::now();
    const LaunchResult ended = launch(request, runtime.memory, runtime.options);
    if (runtime.statistics) {
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::fprintf(stderr, "interpreter: %s: %llu warp instructions, %.3f s\n", kernel.name.c_str(),
                     static_cast<unsigned long long>(ended.warp_instructions), seconds);
    }
    if (ended.code == kSuccess) return;
    std::fprintf(stderr, "interpreter: %s\n", ended.error.c_str());
    runtime.sticky = ended.code;
}

int start(const void* host, const Call& call, void** arguments) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (runtime.sticky != kSuccess) return result(kSuccess);
    const auto [kernel, function, error] = runtime.find(host);
    if (kernel == nullptr) return remember(error);
    LaunchRequest request;
    request.module = kernel->image->module.get();
    request.function = function;
    const int refused = check(*kernel, *function, *request.module, call);
    if (refused != kSuccess) return remember(refused);
    const int most = most_blocks_at_once(*function, *request.module, call.block.count(), call.shared);
    if (call.cooperative && call.grid.count() > static_cast<std::uint64_t>(most))
        return remember(kTooManyBlocks);
    request.cooperative = call.cooperative;
    const int clustered = check_cluster(runtime, call);
    if (clustered != kSuccess) return remember(clustered);
    request.cluster = call.cluster;
    request.grid = call.grid;
    request.block = call.block;
    request.dynamic_shared = static_cast<std::uint32_t>(call.shared);
    request.parameters.resize(function->kernel_param_size);
    for (std::size_t i = 0; i < function->parameters.size(); ++i) {
        const Variable& parameter = function->variables[function->parameters[i]];
        if (arguments == nullptr || arguments[i] == nullptr) return remember(kInvalidValue);
        std::memcpy(request.parameters.data() + parameter.offset, arguments[i], parameter.size);
    }
    // As on a device, a fault shows in a later call.
    return remember(in_stream(call.stream, [&runtime, kernel = kernel, request = std::move(request)] {
        run(runtime, *kernel, request);
        return static_cast<int>(kSuccess);
    }));
}

/// The begin of `cudaFuncAttributes`, which is the same in all versions; later ones have more behind it.
struct FunctionAttributes {
    std::size_t shared;
    std::size_t constant;
    std::size_t local;
    int most_threads;
    int registers;
    int ptx_version;
    int binary_version;
    int cache_mode;
    int dynamic_shared;
    int carveout;
};
/// `cudaLaunchAttribute` and `cudaLaunchConfig_t`.
struct LaunchAttribute {
    std::uint32_t id;
    std::uint32_t padding;
    std::uint32_t value[16];
};
struct LaunchConfiguration {
    Dim3 grid;
    Dim3 block;
    std::size_t shared;
    void* stream;
    const LaunchAttribute* attributes;
    unsigned count;
};
// cudaLaunchAttributeID, of which only these are known.
enum LaunchAttributeId : std::uint32_t { kIgnored = 0, kCooperative = 2, kClusterDimension = 4 };

constexpr int kFirstWithClusters = 12000;
constexpr std::size_t kClusterFields = 22 * sizeof(int);  // of cudaFuncAttributes, from 12.0 on

int call_of(const LaunchConfiguration& configuration, Call& call) {
    call = {configuration.grid, configuration.block, configuration.shared, configuration.stream, false, {}};
    for (unsigned i = 0; i < configuration.count; ++i) {
        const LaunchAttribute& attribute = configuration.attributes[i];
        switch (attribute.id) {
            case kIgnored:
                break;
            case kCooperative:
                call.cooperative = attribute.value[0] != 0;
                break;
            case kClusterDimension:
                call.cluster = {attribute.value[0], attribute.value[1], attribute.value[2]};
                break;
            default:
                return kNotSupported;
        }
    }
    return kSuccess;
}

}  // namespace

CUDAMATRIX_API int cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                    std::size_t shared, void* stream) {
    return start(host, {grid, block, shared, stream, false, {}}, arguments);
}

CUDAMATRIX_API int cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                               std::size_t shared, void* stream) {
    return start(host, {grid, block, shared, stream, true, {}}, arguments);
}

CUDAMATRIX_API int cudaLaunchKernelExC(const LaunchConfiguration* configuration, const void* host,
                                       void** arguments) {
    if (configuration == nullptr) return result(kInvalidValue);
    Call call;
    const int refused = call_of(*configuration, call);
    if (refused != kSuccess) return result(refused);
    return start(host, call, arguments);
}

// From 12.x on nvcc's stubs go through a handle, for which the function of the host serves.
CUDAMATRIX_API int __cudaGetKernel(const void** handle, const void* host) {
    *handle = host;
    return kSuccess;
}

CUDAMATRIX_API int __cudaLaunchKernel(const void* handle, Dim3 grid, Dim3 block, void** arguments,
                                      std::size_t shared, void* stream) {
    return start(handle, {grid, block, shared, stream, false, {}}, arguments);
}

CUDAMATRIX_API int cudaFuncGetAttributes(void* into, const void* host) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const auto [kernel, function, error] = runtime.find(host);
    if (kernel == nullptr) return result(error);
    const Module& module = *kernel->image->module;
    const std::uint64_t most = threads_of(function->most_threads);
    const FunctionAttributes found{module.shared_size + function->shared_size,
                                   0,
                                   function->local_size,
                                   static_cast<int>(most != 0 ? most : kMostThreads),
                                   static_cast<int>(std::min<std::uint32_t>(function->rows, 255)),
                                   static_cast<int>(module.target),
                                   static_cast<int>(runtime.device_capability()),
                                   0,
                                   std::max(kernel->dynamic_shared, static_cast<int>(kUsualShared)),
                                   -1};
    if (runtime_version() >= kFirstWithClusters)
        std::memset(static_cast<char*>(into) + offsetof(FunctionAttributes, carveout) + sizeof(int), 0,
                    kClusterFields);
    std::memcpy(into, &found, offsetof(FunctionAttributes, carveout) + sizeof(int));
    return result(kSuccess);
}

CUDAMATRIX_API int cudaFuncSetAttribute(const void* host, int attribute, int value) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const auto [kernel, function, error] = runtime.find(host);
    if (kernel == nullptr) return result(error);
    if (attribute == kAttributeCarveout) return result(kSuccess);
    if (attribute != kAttributeDynamicShared) return result(kNotSupported);
    if (value < 0 || static_cast<std::size_t>(value) > kMostShared) return result(kInvalidValue);
    kernel->dynamic_shared = value;
    return result(kSuccess);
}

CUDAMATRIX_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host,
                                                                          int threads, std::size_t shared,
                                                                          unsigned) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const auto [kernel, function, error] = runtime.find(host);
    if (kernel == nullptr) return result(error);
    if (threads <= 0) return result(kInvalidValue);
    *blocks =
        most_blocks_at_once(*function, *kernel->image->module, static_cast<std::uint64_t>(threads), shared);
    return result(kSuccess);
}

/// One cluster runs at once, whatever its size, where a device would have as many multiprocessors.
CUDAMATRIX_API int cudaOccupancyMaxActiveClusters(int* clusters, const void* host,
                                                  const LaunchConfiguration* configuration) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const auto [kernel, function, error] = runtime.find(host);
    if (kernel == nullptr) return result(error);
    if (clusters == nullptr || configuration == nullptr) return result(kInvalidValue);
    Call call;
    const int refused = call_of(*configuration, call);
    if (refused != kSuccess) return result(refused);
    const int clustered = check_cluster(runtime, call);
    if (clustered != kSuccess) return result(clustered);
    const int blocks =
        most_blocks_at_once(*function, *kernel->image->module, call.block.count(), call.shared);
    *clusters = blocks == 0 ? 0 : std::max(1, blocks / static_cast<int>(call.cluster.count()));
    return result(kSuccess);
}

CUDAMATRIX_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                                 std::size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
