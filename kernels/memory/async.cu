#include "kernels/memory/async.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_async_fill(unsigned* words, unsigned buffer, RunFlag* flag) {
    DeviceBlock block;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < kAsyncLength; i += gridDim.x * blockDim.x)
        words[i] = async_word(buffer, i);
    block.report_done(flag);
}

extern "C" __global__ void cudamatrix_async_copy(unsigned* to, const unsigned* words, RunFlag* flag) {
    DeviceBlock block;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < kAsyncLength; i += gridDim.x * blockDim.x)
        to[i] = words[i];
    block.report_done(flag);
}

namespace {

/// The stream that allocates, fills and frees, the one that reads, and the events between them.
struct Pair {
    cudaStream_t owner = nullptr;
    cudaStream_t reader = nullptr;
    cudaEvent_t filled = nullptr;
    cudaEvent_t read = nullptr;

    Pair() = default;
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    ~Pair() {
        if (filled != nullptr) cudaEventDestroy(filled);
        if (read != nullptr) cudaEventDestroy(read);
        if (owner != nullptr) cudaStreamDestroy(owner);
        if (reader != nullptr) cudaStreamDestroy(reader);
    }
    bool create(GpuCall& call) {
        return call.ok(cudaStreamCreateWithFlags(&owner, cudaStreamNonBlocking),
                       "cudaStreamCreateWithFlags") &&
               call.ok(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking),
                       "cudaStreamCreateWithFlags") &&
               call.ok(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming),
                       "cudaEventCreateWithFlags") &&
               call.ok(cudaEventCreateWithFlags(&read, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    bool hand_over(GpuCall& call, cudaEvent_t event, cudaStream_t from, cudaStream_t to) const {
        return call.ok(cudaEventRecord(event, from), "cudaEventRecord") &&
               call.ok(cudaStreamWaitEvent(to, event, 0), "cudaStreamWaitEvent");
    }
};

/// All of it is queued; the host waits for nothing.
bool start_round(GpuCall& call, const Pair& pair, int round, unsigned* to, RunFlag* flag) {
    void* buffers[kAsyncBuffers] = {};
    const unsigned first = static_cast<unsigned>(round * kAsyncBuffers);
    for (unsigned b = 0; b < kAsyncBuffers; ++b) {
        if (!call.ok(cudaMallocAsync(&buffers[b], kAsyncLength * sizeof(unsigned), pair.owner),
                     "cudaMallocAsync"))
            return false;
        cudamatrix_async_fill<<<kAsyncBlocks, kAsyncThreads, 0, pair.owner>>>(
            static_cast<unsigned*>(buffers[b]), first + b, flag);
    }
    if (!call.ok(cudaGetLastError(), "kernel launch") ||
        !pair.hand_over(call, pair.filled, pair.owner, pair.reader))
        return false;
    for (unsigned b = 0; b < kAsyncBuffers; ++b)
        cudamatrix_async_copy<<<kAsyncBlocks, kAsyncThreads, 0, pair.reader>>>(
            to + (first + b) * kAsyncLength, static_cast<unsigned*>(buffers[b]), flag);
    if (!call.ok(cudaGetLastError(), "kernel launch") ||
        !pair.hand_over(call, pair.read, pair.reader, pair.owner))
        return false;
    for (void* buffer : buffers) {
        if (!call.ok(cudaFreeAsync(buffer, pair.owner), "cudaFreeAsync")) return false;
    }
    return true;
}

// Numbers of pools are from 11.3 on, in the headers and in the driver.
bool pool_numbers(GpuCall& call) {
#if CUDART_VERSION >= 11030
    int driver = 0;
    return call.ok(cudaDriverGetVersion(&driver), "cudaDriverGetVersion") && driver >= 11030;
#else
    static_cast<void>(call);
    return false;
#endif
}

struct PoolBytes {
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
};

PoolBytes bytes_of(GpuCall& call, cudaMemPool_t pool, bool known) {
    PoolBytes bytes;
#if CUDART_VERSION >= 11030
    if (known) {
        call.ok(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes.reserved),
                "cudaMemPoolGetAttribute");
        call.ok(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes.used),
                "cudaMemPoolGetAttribute");
    }
#else
    static_cast<void>(call);
    static_cast<void>(pool);
    static_cast<void>(known);
#endif
    return bytes;
}

bool run_rounds(GpuCall& call, cudaMemPool_t pool, AsyncOutputs& outputs) {
    Pair pair;
    DeviceBuffer<std::uint32_t> words;
    DeviceBuffer<RunFlag> flag;
    // The uploads must be over before a stream that does not wait for them starts.
    if (!pair.create(call) || !words.upload(call, outputs.words) || !flag.upload(call, outputs.flag) ||
        !call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize"))
        return false;
    for (int round = 0; round < kAsyncRounds; ++round) {
        if (!start_round(call, pair, round, words.get(), flag.get())) return false;
        const std::uint64_t reserved = bytes_of(call, pool, outputs.pool.known).reserved;
        if (round == 0) outputs.pool.first = reserved;
        outputs.pool.last = reserved;
    }
    return call.ok(cudaStreamSynchronize(pair.owner), "cudaStreamSynchronize") &&
           words.download(call, outputs.words) && flag.download(call, outputs.flag);
}

void run(GpuCall& call, AsyncOutputs& outputs) {
    cudaMemPool_t pool = nullptr;
    outputs.pool.known = pool_numbers(call);
    // Whatever was freed stays in the pool until it is asked for it.
    std::uint64_t threshold = ~std::uint64_t{0};
    if (!call.ok(cudaDeviceGetDefaultMemPool(&pool, 0), "cudaDeviceGetDefaultMemPool") ||
        !call.ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
                 "cudaMemPoolSetAttribute") ||
        !run_rounds(call, pool, outputs))
        return;
    outputs.pool.used = bytes_of(call, pool, outputs.pool.known).used;
    if (call.ok(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo"))
        outputs.pool.trimmed = bytes_of(call, pool, outputs.pool.known).reserved;
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    AsyncOutputs outputs = async_blank();
    GpuCall call;
    int supported = 0;
    call.ok(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0), "cudaDeviceGetAttribute");
    outputs.pool.supported = supported != 0;
    if (outputs.pool.supported) run(call, outputs);
    if (call.code != cudaSuccess) return gpu_failure(call);
    return async_check(outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kAsyncId, gpu_part, nullptr)
