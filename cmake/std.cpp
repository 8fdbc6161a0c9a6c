// A library needs a file: this one carries the precompiled header of cmake/cudamatrix.cmake.
