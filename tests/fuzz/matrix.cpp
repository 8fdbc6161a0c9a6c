// libFuzzer: any text as a matrix file, to the verdict of each cell and back to text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "matrix_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static cudamatrix::test::MatrixProperties properties(100);
    const auto found = properties.look_at({reinterpret_cast<const char*>(data), size});
    if (found.broken.empty()) return 0;
    std::fprintf(stderr, "%s\n", found.broken.c_str());
    std::abort();
}
