// Memory in the order of streams, and managed memory, as the stand-in for libcudart has them.
#ifdef SUITE_CUDART  // not in the tree with sanitizers, which do not go into libraries that are loaded
#include "unit/kernels/cudart_fixture.hpp"

namespace {

constexpr const char* kNext =
    "ld.global.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r2, 3, 1; st.global.u32 [%rd1], %r2;";
constexpr std::size_t kMiB = 1 << 20;

struct Pools {
    explicit Pools(const std::string& version = "13") : cudart(version) {
        REQUIRE(cudart.call("cudaDeviceGetDefaultMemPool", &pool, 0) == 0);
        stream = cudart.stream();
    }
    int allocate(void*& memory, std::size_t size) {
        return cudart.call("cudaMallocAsync", &memory, size, stream);
    }
    int release(void* memory) { return cudart.call("cudaFreeAsync", memory, stream); }
    int get(int attribute, std::uint64_t& value) {
        return cudart.call("cudaMemPoolGetAttribute", pool, attribute, static_cast<void*>(&value));
    }
    int set(int attribute, std::uint64_t value) {
        return cudart.call("cudaMemPoolSetAttribute", pool, attribute, static_cast<void*>(&value));
    }
    std::uint64_t value(int attribute) {
        std::uint64_t found = 0;
        CHECK(get(attribute, found) == 0);
        return found;
    }

    Cudart cudart;
    void* pool = nullptr;
    void* stream = nullptr;
};

/// {type, id}, as a program of 13.x passes it.
struct Location {
    int type;
    int id;
};

}  // namespace

TEST_CASE("interpreter: a pool knows what is used, and keeps what its threshold says") {
    Pools p;
    void* first = nullptr;
    void* second = nullptr;
    CHECK(p.set(4, 3 * kMiB) == 0);
    CHECK(p.value(4) == 3 * kMiB);
    CHECK(p.allocate(first, 3 * kMiB) == 0);
    CHECK(p.allocate(second, 2 * kMiB) == 0);
    CHECK(p.value(7) == 5 * kMiB);
    CHECK(p.value(5) == 6 * kMiB);
    CHECK(p.release(second) == 0);
    CHECK(p.value(7) == 3 * kMiB);
    CHECK(p.value(5) == 6 * kMiB);
    CHECK(p.cudart.call("cudaStreamSynchronize", p.stream) == 0);
    CHECK(p.value(5) == 4 * kMiB);
    CHECK(p.cudart.call("cudaMemPoolTrimTo", p.pool, std::size_t{0}) == 0);
    CHECK(p.value(5) == 4 * kMiB);  // still in use
    CHECK(p.cudart.call("cudaFree", first) == 0);
    CHECK(p.value(7) == 0);
    CHECK(p.cudart.call("cudaDeviceSynchronize") == 0);
    CHECK(p.value(5) == 3 * kMiB);
    CHECK(p.cudart.call("cudaMemPoolTrimTo", p.pool, std::size_t{0}) == 0);
    CHECK(p.value(5) == 0);
    CHECK(p.value(6) == 6 * kMiB);
    CHECK(p.value(8) == 5 * kMiB);
    CHECK(p.set(8, 0) == 0);
    CHECK(p.value(8) == 0);
}

TEST_CASE("interpreter: what a pool refuses") {
    Pools p;
    void* memory = nullptr;
    std::uint64_t value = 0;
    CHECK(p.cudart.call("cudaDeviceGetDefaultMemPool", &memory, 1) == 101);
    CHECK(p.cudart.call("cudaMemPoolTrimTo", static_cast<void*>(&p), std::size_t{0}) == 1);
    CHECK(p.get(0, value) == 1);
    CHECK(p.get(9, value) == 1);
    CHECK(p.get(1, value) == 801);
    CHECK(p.set(5, 0) == 1);
    CHECK(p.set(7, 0) == 1);
    CHECK(p.set(8, 1) == 1);
    CHECK(p.allocate(memory, std::size_t{1} << 50) == 2);
    CHECK(p.cudart.call("cudaMallocAsync", &memory, kMiB, static_cast<void*>(&p)) == 400);
    REQUIRE(p.allocate(memory, kMiB) == 0);
    CHECK(p.cudart.call("cudaFreeAsync", memory, static_cast<void*>(&p)) == 400);
    CHECK(p.release(static_cast<char*>(memory) + 4) == 1);
    CHECK(p.release(memory) == 0);
    CHECK(p.release(memory) == 1);
    CHECK(p.release(p.cudart.upload({1})) == 1);  // not of the pool
    CHECK(p.cudart.call("cudaMemsetAsync", memory, 0, std::size_t{4}, p.stream) == 1);
    // A graph would have to hold the allocation.
    REQUIRE(p.cudart.call("cudaStreamBeginCapture", p.stream, 0) == 0);
    CHECK(p.allocate(memory, kMiB) == 801);
    CHECK(p.cudart.call("cudaStreamEndCapture", p.stream, &memory) == 901);
    Pools old("11.0");
    CHECK(old.get(4, value) == 0);
    CHECK(old.get(5, value) == 1);  // from 11.3 on
}

TEST_CASE("interpreter: memory of a pool that was freed is gone") {
    Pools p;
    static char kernel = 0;
    p.cudart.add_kernel(&kernel, kNext);
    void* memory = nullptr;
    REQUIRE(p.allocate(memory, 4) == 0);
    REQUIRE(p.cudart.call("cudaMemsetAsync", memory, 0, std::size_t{4}, p.stream) == 0);
    REQUIRE(p.cudart.launch(&kernel, {}, {}, {&memory}, p.stream) == 0);
    CHECK(p.cudart.download(memory, 1)[0] == 1);
    REQUIRE(p.release(memory) == 0);
    REQUIRE(p.cudart.launch(&kernel, {}, {}, {&memory}, p.stream) == 0);
    CHECK(p.cudart.call("cudaStreamSynchronize", p.stream) == 700);
}

TEST_CASE("interpreter: host and kernels share managed memory") {
    Cudart cudart;
    static char kernel = 0;
    cudart.add_kernel(&kernel, kNext);
    std::uint32_t* values = nullptr;
    REQUIRE(cudart.call("cudaMallocManaged", &values, std::size_t{8}, 1U) == 0);
    values[0] = 5;
    values[1] = 6;
    REQUIRE(cudart.launch(&kernel, {}, {}, {&values}) == 0);
    CHECK(values[0] == 16);
    CHECK(values[1] == 6);
    // Copies take it for memory of both.
    std::uint32_t host = 0;
    for (const int direction : {0, 2, 4}) {
        host = 0;
        CHECK(cudart.call("cudaMemcpy", static_cast<void*>(&host), static_cast<const void*>(values),
                          std::size_t{4}, direction) == 0);
        CHECK(host == 16);
    }
    void* device = cudart.upload({77});
    CHECK(cudart.call("cudaMemcpy", static_cast<void*>(values), static_cast<const void*>(device),
                      std::size_t{4}, 3) == 0);
    CHECK(values[0] == 77);
    CHECK(cudart.call("cudaMemset", static_cast<void*>(values), 1, std::size_t{4}) == 0);
    CHECK(values[0] == 0x01010101);
    CHECK(cudart.call("cudaMemset", static_cast<void*>(values), 1, std::size_t{12}) == 1);
    // No more than was asked for.
    std::uint32_t* behind = values + 2;
    REQUIRE(cudart.launch(&kernel, {}, {}, {&behind}) == 0);
    CHECK(cudart.call("cudaDeviceSynchronize") == 700);
}

TEST_CASE("interpreter: managed memory is in the global state space, and in no other") {
    Cudart cudart;
    static char kernel = 0;
    cudart.add_kernel(&kernel,
                      "isspacep.global %p1, %rd1; selp.u32 %r2, 1, 0, %p1; isspacep.shared %p1, %rd1;\n"
                      "@%p1 add.u32 %r2, %r2, 2; isspacep.local %p1, %rd1; @%p1 add.u32 %r2, %r2, 4;\n"
                      "cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2], %r2;");
    std::uint32_t* values = nullptr;
    REQUIRE(cudart.call("cudaMallocManaged", &values, std::size_t{4}, 1U) == 0);
    REQUIRE(cudart.launch(&kernel, {}, {}, {&values}) == 0);
    CHECK(values[0] == 1);
    void* memory = cudart.upload({0});
    REQUIRE(cudart.launch(&kernel, {}, {}, {&memory}) == 0);
    CHECK(cudart.download(memory, 1)[0] == 1);
}

TEST_CASE("interpreter: what cudaMallocManaged refuses") {
    Cudart cudart;
    static char kernel = 0;
    cudart.add_kernel(&kernel, kNext);
    std::uint32_t* values = nullptr;
    CHECK(cudart.call("cudaMallocManaged", &values, std::size_t{0}, 1U) == 1);
    CHECK(cudart.call("cudaMallocManaged", &values, std::size_t{4}, 0U) == 1);
    CHECK(cudart.call("cudaMallocManaged", &values, std::size_t{4}, 2U) == 801);
    CHECK(cudart.call("cudaMallocManaged", &values, std::size_t{1} << 50, 1U) == 2);
    REQUIRE(cudart.call("cudaMallocManaged", &values, std::size_t{4}, 1U) == 0);
    CHECK(cudart.call("cudaFree", static_cast<void*>(values + 1)) == 1);
    CHECK(cudart.call("cudaFree", static_cast<void*>(values)) == 0);
    CHECK(cudart.call("cudaFree", static_cast<void*>(values)) == 1);
    // Memory of the host alone is still none of the device's.
    std::uint32_t own = 1;
    std::uint32_t* pointer = &own;
    REQUIRE(cudart.launch(&kernel, {}, {}, {&pointer}) == 0);
    CHECK(cudart.call("cudaDeviceSynchronize") == 700);
    CHECK(own == 1);
}

TEST_CASE("interpreter: cudaMemPrefetchAsync up to 12.x takes a device") {
    for (const char* version : {"11.0", "12"}) {
        CAPTURE(version);
        Cudart cudart(version);
        char* memory = nullptr;
        REQUIRE(cudart.call("cudaMallocManaged", &memory, std::size_t{4096}, 1U) == 0);
        void* const stream = cudart.stream();
        const auto prefetch = [&](const void* from, std::size_t size, int device, void* on) {
            return cudart.call("cudaMemPrefetchAsync", from, size, device, on);
        };
        CHECK(prefetch(memory, 4096, 0, stream) == 0);
        CHECK(prefetch(memory, 4096, -1, nullptr) == 0);
        CHECK(prefetch(memory, 4096, 1, stream) == 101);
        CHECK(prefetch(memory, 4096, -2, stream) == 101);
        CHECK(prefetch(memory, 4097, 0, stream) == 1);
        CHECK(prefetch(memory, 0, 0, stream) == 1);
        CHECK(prefetch(cudart.upload({1}), 4, 0, stream) == 1);
        CHECK(prefetch(memory, 4096, 0, memory) == 400);
    }
}

TEST_CASE("interpreter: cudaMemPrefetchAsync from 13.0 on takes a location and flags") {
    Cudart cudart("13");
    char* memory = nullptr;
    REQUIRE(cudart.call("cudaMallocManaged", &memory, std::size_t{4096}, 1U) == 0);
    void* const stream = cudart.stream();
    const auto prefetch = [&](Location where, unsigned flags, void* on) {
        return cudart.call("cudaMemPrefetchAsync", static_cast<const void*>(memory), std::size_t{4096}, where,
                           flags, on);
    };
    CHECK(prefetch({1, 0}, 0, stream) == 0);
    CHECK(prefetch({2, 0}, 0, nullptr) == 0);
    CHECK(prefetch({1, 1}, 0, stream) == 101);
    CHECK(prefetch({0, 0}, 0, stream) == 801);
    CHECK(prefetch({3, 0}, 0, stream) == 801);
    CHECK(prefetch({1, 0}, 1, stream) == 1);
    CHECK(prefetch({1, 0}, 0, memory) == 400);
    REQUIRE(cudart.call("cudaStreamBeginCapture", stream, 0) == 0);
    CHECK(prefetch({1, 0}, 0, stream) == 801);
}
#endif
