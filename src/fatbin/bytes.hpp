#pragma once

#include <cstddef>
#include <cstdint>

namespace cudamatrix::fatbin {

/// A view of bytes that somebody else owns. C++17 has no std::span.
struct Bytes {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;

    /// True when [offset, offset + length) lies inside. Cannot overflow, whatever the arguments.
    [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t length) const {
        return offset <= size && length <= size - offset;
    }
    /// The part [offset, offset + length); empty when it does not lie inside.
    [[nodiscard]] Bytes sub(std::uint64_t offset, std::uint64_t length) const {
        if (!contains(offset, length)) return {};
        return {data + offset, static_cast<std::size_t>(length)};
    }
    /// Little-endian number of N bytes at an offset that the caller has checked with contains().
    template <typename T>
    [[nodiscard]] T number(std::uint64_t offset) const {
        T value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value = static_cast<T>(value | static_cast<T>(static_cast<T>(data[offset + i]) << (8 * i)));
        }
        return value;
    }
};

}  // namespace cudamatrix::fatbin
