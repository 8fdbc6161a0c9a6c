// cudaGetDriverEntryPoint, and the one function of the driver that it knows.
#ifdef SUITE_CUDART  // not in the tree with sanitizers, which do not go into libraries that are loaded
#include <cstdlib>

#include "unit/kernels/cudart_fixture.hpp"

namespace {

using Encode = int (*)(void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                       const std::uint32_t*, const std::uint32_t*, int, int, int, int);
const char* const kName = "cuTensorMapEncodeTiled";

// A matrix of 64 x 16 elements of two bytes at the address, its rows so many bytes apart.
int encoded(Cudart& cudart, unsigned long long address, std::uint64_t stride) {
    void* function = nullptr;
    int answer = -1;
    REQUIRE(cudart.call("cudaGetDriverEntryPoint", kName, &function, 0ULL, &answer) == 0);
    REQUIRE(answer == 0);
    alignas(64) std::uint8_t map[128];
    const std::uint64_t sizes[] = {64, 16};
    const std::uint32_t box[] = {64, 8};
    const std::uint32_t steps[] = {1, 1};
    return reinterpret_cast<Encode>(function)(map, 9, 2, reinterpret_cast<void*>(address), sizes, &stride,
                                              box, steps, 0, 3, 2, 0);
}

}  // namespace

TEST_CASE("interpreter: the driver's functions that the runtime gives") {
    Cudart cudart;
    void* function = nullptr;
    int answer = -1;
    CHECK(cudart.call("cudaGetDriverEntryPoint", kName, &function, 0ULL, &answer) == 0);
    CHECK(answer == 0);
    CHECK(function != nullptr);
    function = nullptr;
    CHECK(cudart.call("cudaGetDriverEntryPointByVersion", kName, &function, 12000U, 0ULL, &answer) == 0);
    CHECK(answer == 0);
    CHECK(function != nullptr);
    CHECK(cudart.call("cudaGetDriverEntryPoint", kName, &function, 0ULL, static_cast<int*>(nullptr)) == 0);
    CHECK(function != nullptr);
    // What there is not.
    CHECK(cudart.call("cudaGetDriverEntryPointByVersion", kName, &function, 11080U, 0ULL, &answer) == 0);
    CHECK(answer == 2);
    CHECK(function == nullptr);
    CHECK(cudart.call("cudaGetDriverEntryPoint", "cuTensorMapEncodeIm2col", &function, 0ULL, &answer) == 0);
    CHECK(answer == 1);
    CHECK(function == nullptr);
    CHECK(cudart.call("cudaGetDriverEntryPoint", "", &function, 0ULL, static_cast<int*>(nullptr)) == 500);
    CHECK(cudart.call("cudaGetLastError") == 500);
    CHECK(cudart.call("cudaGetDriverEntryPoint", static_cast<const char*>(nullptr), &function, 0ULL,
                      &answer) == 1);
    CHECK(cudart.call("cudaGetDriverEntryPoint", kName, static_cast<void**>(nullptr), 0ULL, &answer) == 1);
}

TEST_CASE("interpreter: the runtime of 11.x knows no tensor maps") {
    Cudart cudart("11.0");
    void* function = nullptr;
    CHECK(cudart.call("cudaGetDriverEntryPoint", kName, &function, 0ULL) == 500);
    CHECK(function == nullptr);
}

TEST_CASE("interpreter: tensor maps are for 9.0 and later") {
    static char kernel = 0;
    Cudart old;
    old.add_module(&kernel, ptx_kernel(""), 80);
    CHECK(encoded(old, 0x1000, 128) == 801);
    Cudart cudart;
    std::string text = ptx_kernel("");
    text.replace(text.find("sm_80"), 5, "sm_90");
    cudart.add_module(&kernel, text, 90);
    CHECK(encoded(cudart, 0x1000, 128) == 0);
    CHECK(encoded(cudart, 0x1008, 128) == 1);
    CHECK(encoded(cudart, 0x1000, 136) == 1);
    CHECK(encoded(cudart, 0, 128) == 1);
}

TEST_CASE("interpreter: PTX of 9.0a is for devices of 9.0 only") {
    static char kernel = 0;
    constexpr std::uint64_t kSpecific = 0x100011;
    std::string text = ptx_kernel("st.global.u32 [%rd1], 7;");
    text.replace(text.find("sm_80"), 5, "sm_90a");
    const auto launched = [&](const char* capability, std::uint64_t flags) {
        ::setenv("CUDAMATRIX_INTERPRETER_CC", capability, 1);
        Cudart cudart;
        cudart.add_module(&kernel, text, 90, flags);
        void* memory = cudart.upload({0});
        const int error = cudart.launch(&kernel, {}, {}, {&memory});
        ::unsetenv("CUDAMATRIX_INTERPRETER_CC");
        return error;
    };
    CHECK(launched("9.0", kSpecific) == 0);
    CHECK(launched("8.9", kSpecific) == 209);
    CHECK(launched("10.0", kSpecific) == 209);
    CHECK(launched("12.0", kSpecific) == 209);
    CHECK(launched("10.0", 0x11) == 0);
    CHECK(launched("8.9", 0x11) == 209);
}

#endif
