#pragma once

#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// The tests that are part of the `suite` program itself; one file each. Each runs in a process of its own.
namespace cudamatrix::suite {

#define CUDAMATRIX_HOST_TEST(id, group, function, ...) [[nodiscard]] Record function(const Context& context);
#define CUDAMATRIX_CUDA_TEST(...)
#define CUDAMATRIX_PYTHON_TEST(...)
#include "kernels/registry.def"
#undef CUDAMATRIX_HOST_TEST
#undef CUDAMATRIX_CUDA_TEST
#undef CUDAMATRIX_PYTHON_TEST

}  // namespace cudamatrix::suite
