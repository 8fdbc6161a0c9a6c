#pragma once

#include <cstdint>
#include <vector>

#include "kernels/interpreter/tensor_map.hpp"

enum MapType : std::uint32_t { kBytes = 0, kWords = 2, kFloats64 = 8, kBfloats = 9 };

// Arguments of cuTensorMapEncodeTiled for a matrix that lies row by row.
struct Request {
    std::uint32_t type = kBfloats;
    std::uint32_t rank = 2;
    std::uint64_t address = 0x1000;
    std::vector<std::uint64_t> sizes = {100, 20};
    std::vector<std::uint64_t> strides = {208};
    std::vector<std::uint32_t> box = {64, 8};
    std::vector<std::uint32_t> steps = {1, 1};
    std::uint32_t interleave = 0;
    std::uint32_t swizzle = 0;
    std::uint32_t promotion = 0;
    std::uint32_t fill = 0;

    int encode(void* into) const {
        cudamatrix::suite::ptx::TensorMapRequest request;
        request.type = type;
        request.rank = rank;
        request.address = address;
        request.sizes = sizes.data();
        request.strides = strides.data();
        request.box = box.data();
        request.steps = steps.data();
        request.interleave = interleave;
        request.swizzle = swizzle;
        request.promotion = promotion;
        request.fill = fill;
        return cudamatrix::suite::ptx::encode_tensor_map(into, request);
    }
};
