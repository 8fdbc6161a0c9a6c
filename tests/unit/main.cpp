#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "folders.hpp"

namespace cudamatrix {

const char* tests_dir() {
    return CUDAMATRIX_TESTS_DIR;
}
const char* source_dir() {
    return CUDAMATRIX_SOURCE_DIR;
}

}  // namespace cudamatrix
