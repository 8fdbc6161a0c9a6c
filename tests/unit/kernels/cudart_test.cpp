// The stand-in for libcudart, loaded and called as nvcc's host code calls it.
#ifdef SUITE_CUDART  // not in the tree with sanitizers, which do not go into libraries that are loaded
#include "unit/kernels/cudart_fixture.hpp"

using cudamatrix::suite::ptx::Dim3;

// One test: a fault is sticky and ends the life of the only runtime of a process.
TEST_CASE("interpreter: a program's calls of the runtime") {
    Cudart cudart;
    static char kernel = 0;
    static char unknown = 0;
    cudart.add_kernel(
        &kernel,
        "shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd2, %r2; add.s64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r1;");

    int value = 0;
    CHECK(cudart.call("cudaRuntimeGetVersion", &value) == 0);
    CHECK(value == 13000);
    CHECK(cudart.call("cudaDeviceGetAttribute", &value, 75, 0) == 0);
    CHECK(value == 8);
    CHECK(cudart.call("cudaDeviceGetAttribute", &value, 75, 1) == 101);
    CHECK(cudart.call("cudaDeviceGetAttribute", &value, 9999, 0) == 801);
    CHECK(cudart.call("cudaSetDevice", 1) == 101);
    CHECK(cudart.call("cudaGetLastError") == 101);
    CHECK(cudart.call("cudaGetLastError") == 0);

    void* memory = nullptr;
    CHECK(cudart.call("cudaMalloc", &memory, std::size_t{1} << 50) == 2);
    CHECK(cudart.call("cudaMalloc", &memory, std::size_t{64}) == 0);
    std::uint32_t host[17] = {};
    const void* const memory_in = memory;
    CHECK(cudart.call("cudaMemcpy", static_cast<void*>(host), memory_in, std::size_t{68}, 2) ==
          1);  // more than there is
    CHECK(cudart.call("cudaMemcpy", static_cast<void*>(host), memory_in, std::size_t{64}, 1) ==
          1);  // the other direction
    CHECK(cudart.call("cudaMemcpy", static_cast<void*>(host), memory_in, std::size_t{64}, 7) == 21);
    CHECK(cudart.call("cudaFree", static_cast<void*>(host)) == 1);

    void* arguments[] = {&memory};
    void* const stream = nullptr;
    const auto launch = [&](const void* function, Dim3 grid, Dim3 block, std::size_t shared) {
        return cudart.call("cudaLaunchKernel", function, grid, block, static_cast<void**>(arguments), shared,
                           stream);
    };
    CHECK(launch(&unknown, {}, {}, 0) == 98);
    CHECK(launch(&kernel, {}, {2048, 1, 1}, 0) == 9);
    CHECK(launch(&kernel, {0, 1, 1}, {}, 0) == 9);
    CHECK(launch(&kernel, {}, {}, 1 << 20) == 1);
    CHECK(launch(&kernel, {}, {16, 1, 1}, 0) == 0);

    // 2048 threads, or 32 blocks, run at once.
    const auto cooperative = [&](const void* function, Dim3 grid, Dim3 block, std::size_t shared) {
        return cudart.call("cudaLaunchCooperativeKernel", function, grid, block,
                           static_cast<void**>(arguments), shared, stream);
    };
    CHECK(cudart.call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &value,
                      static_cast<const void*>(&kernel), 16, std::size_t{0}) == 0);
    CHECK(value == 32);
    CHECK(cooperative(&kernel, {33, 1, 1}, {16, 1, 1}, 0) == 720);
    CHECK(cooperative(&kernel, {8, 5, 1}, {16, 1, 1}, 0) == 720);
    CHECK(cooperative(&kernel, {3, 1, 1}, {1024, 1, 1}, 0) == 720);
    CHECK(cooperative(&kernel, {5, 1, 1}, {16, 1, 1}, 48 << 10) == 720);
    CHECK(cooperative(&kernel, {}, {2048, 1, 1}, 0) == 9);
    CHECK(cooperative(&unknown, {}, {}, 0) == 98);
    CHECK(std::string(cudart.call<const char*>("cudaGetErrorName", 720)) ==
          "cudaErrorCooperativeLaunchTooLarge");
    CHECK(cooperative(&kernel, {32, 1, 1}, {16, 1, 1}, 0) == 0);
    CHECK(cudart.call("cudaDeviceSynchronize") == 0);
    CHECK(cudart.call("cudaMemcpy", static_cast<void*>(host), memory_in, std::size_t{64}, 2) == 0);
    CHECK(host[15] == 15);

    void* event = nullptr;
    CHECK(cudart.call("cudaEventSynchronize", static_cast<void*>(host)) == 400);
    CHECK(cudart.call("cudaEventCreate", &event) == 0);
    CHECK(cudart.call("cudaStreamSynchronize", event) == 400);
    CHECK(cudart.call("cudaEventDestroy", event) == 0);
    CHECK(cudart.call("cudaEventDestroy", event) == 400);
    CHECK(std::string(cudart.call<const char*>("cudaGetErrorName", 700)) == "cudaErrorIllegalAddress");

    CHECK(launch(&kernel, {}, {32, 1, 1}, 0) ==
          0);  // writes behind the end: told later, and by every call from then on
    CHECK(cudart.call("cudaDeviceSynchronize") == 700);
    CHECK(cudart.call("cudaMalloc", &memory, std::size_t{64}) == 700);
    CHECK(launch(&kernel, {}, {1, 1, 1}, 0) == 700);
}
#endif
