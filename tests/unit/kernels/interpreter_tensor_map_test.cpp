// Which arguments cuTensorMapEncodeTiled takes (CUDA Driver API).
#include <doctest/doctest.h>

#include "unit/kernels/tensor_map_request.hpp"

TEST_CASE("interpreter: arguments of cuTensorMapEncodeTiled") {
    alignas(64) std::uint8_t map[192];
    constexpr int kInvalid = 1;
    constexpr int kNotSupported = 801;
    const auto with = [&](auto change) {
        Request request;
        change(request);
        return request.encode(map);
    };
    CHECK(with([](Request&) {}) == 0);
    CHECK(with([](Request& r) { r.swizzle = 3; }) == 0);
    CHECK(with([](Request& r) { r.box = {64, 256}; }) == 0);
    CHECK(with([](Request& r) { r.sizes[0] = std::uint64_t{1} << 32; }) == 0);
    CHECK(Request().encode(nullptr) == kInvalid);
    CHECK(Request().encode(map + 32) == kInvalid);
    CHECK(with([](Request& r) { r.address = 0; }) == kInvalid);
    CHECK(with([](Request& r) { r.address += 8; }) == kInvalid);
    CHECK(with([](Request& r) { r.rank = 0; }) == kInvalid);
    CHECK(with([](Request& r) { r.rank = 6; }) == kInvalid);
    CHECK(with([](Request& r) { r.type = 16; }) == kInvalid);
    CHECK(with([](Request& r) { r.sizes[1] = 0; }) == kInvalid);
    CHECK(with([](Request& r) { r.sizes[0] = (std::uint64_t{1} << 32) + 1; }) == kInvalid);
    CHECK(with([](Request& r) { r.strides[0] = 200; }) == kInvalid);
    CHECK(with([](Request& r) { r.strides[0] = std::uint64_t{1} << 40; }) == kInvalid);
    CHECK(with([](Request& r) { r.box[1] = 257; }) == kInvalid);
    CHECK(with([](Request& r) { r.box[0] = 0; }) == kInvalid);
    CHECK(with([](Request& r) { r.box[0] = 60; }) == kInvalid);  // 120 bytes
    CHECK(with([](Request& r) { r.steps[0] = 0; }) == kInvalid);
    CHECK(with([](Request& r) { r.steps[1] = 9; }) == kInvalid);
    CHECK(with([](Request& r) { r.swizzle = 7; }) == kInvalid);
    CHECK(with([](Request& r) { r.interleave = 3; }) == kInvalid);
    CHECK(with([](Request& r) { r.promotion = 4; }) == kInvalid);
    CHECK(with([](Request& r) { r.fill = 2; }) == kInvalid);
    for (const std::uint32_t swizzle : {1U, 2U, 3U}) {
        CAPTURE(swizzle);
        CHECK(with([&](Request& r) { r.swizzle = swizzle, r.box[0] = 8U << swizzle; }) == 0);
        CHECK(with([&](Request& r) { r.swizzle = swizzle, r.box[0] = (8U << swizzle) + 8; }) == kInvalid);
    }
    // Right, but not known here.
    CHECK(with([](Request& r) { r.steps[1] = 2; }) == kNotSupported);
    CHECK(with([](Request& r) { r.interleave = 1; }) == kNotSupported);
    CHECK(with([](Request& r) { r.fill = 1; }) == kNotSupported);
    CHECK(with([](Request& r) { r.swizzle = 4; }) == kNotSupported);
    CHECK(with([](Request& r) { r.type = 13; }) == kNotSupported);
}
