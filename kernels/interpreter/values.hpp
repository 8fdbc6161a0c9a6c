#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/interpreter/module.hpp"

/// How values lie in registers.
namespace cudamatrix::suite::ptx {

/// A lane of a row as T: its low bits.
template <typename T>
inline T get(const Row& row, int lane) {
    if constexpr (std::is_same_v<T, float>) {
        const auto bits = static_cast<std::uint32_t>(row.lane[lane]);
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    } else if constexpr (std::is_same_v<T, double>) {
        double value = 0;
        std::memcpy(&value, &row.lane[lane], sizeof value);
        return value;
    } else {
        return static_cast<T>(row.lane[lane]);
    }
}

/// Signed integers are extended, as loads and conversions into wider registers need.
template <typename T>
inline void put(Row& row, int lane, T value) {
    if constexpr (std::is_same_v<T, float>) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        row.lane[lane] = bits;
    } else if constexpr (std::is_same_v<T, double>) {
        std::memcpy(&row.lane[lane], &value, sizeof value);
    } else {
        row.lane[lane] = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        if constexpr (std::is_unsigned_v<T>) row.lane[lane] = static_cast<std::uint64_t>(value);
    }
}

/// Handler<T>::run for an integer type of 16 to 64 bits; null for others.
template <template <typename> class H>
Handler for_integer(Type type) {
    switch (type) {
        case Type::u16:
        case Type::b16:
            return H<std::uint16_t>::run;
        case Type::s16:
            return H<std::int16_t>::run;
        case Type::u32:
        case Type::b32:
            return H<std::uint32_t>::run;
        case Type::s32:
            return H<std::int32_t>::run;
        case Type::u64:
        case Type::b64:
            return H<std::uint64_t>::run;
        case Type::s64:
            return H<std::int64_t>::run;
        default:
            return nullptr;
    }
}

}  // namespace cudamatrix::suite::ptx
