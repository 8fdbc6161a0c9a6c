#pragma once

#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

namespace cudamatrix::suite {

using PartFunction = Record (*)(const Context&);

/// main() of a program that holds one test: reads the options, runs the part asked for, writes the record.
/// `gpu` serves the interpreter, too; `cpu` is null where the test has no such part. Exit codes: 0 pass, 1
/// fail, 2 usage, 3 error, 77 skip.
int test_main(int argc, char** argv, const char* id, PartFunction gpu, PartFunction cpu);

}  // namespace cudamatrix::suite

#define CUDAMATRIX_TEST_MAIN(id, gpu, cpu)                             \
    int main(int argc, char** argv) {                                  \
        return cudamatrix::suite::test_main(argc, argv, id, gpu, cpu); \
    }
