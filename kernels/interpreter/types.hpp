#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cudamatrix::suite::ptx {

/// Fundamental types (PTX ISA, "Fundamental Types", "Alternate Floating-Point Data Formats").
enum class Type : std::uint8_t {
    none,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    b8,
    b16,
    b32,
    b64,
    b128,
    f16,
    f16x2,
    bf16,
    bf16x2,
    f32,
    f64,
    pred,
};

/// State spaces (PTX ISA, "State Spaces"). Constants lie in global memory.
/// `cluster`: shared memory of any block of the cluster (PTX ISA, ".shared::cluster").
enum class Space : std::uint8_t { generic, global, shared, local, param, constant, cluster };

/// In bytes; 1 for a predicate.
[[nodiscard]] unsigned size_of(Type type);
[[nodiscard]] bool is_signed(Type type);    ///< an integer with a sign
[[nodiscard]] bool is_integer(Type type);   ///< .u or .s
[[nodiscard]] bool is_bits(Type type);      ///< .b
[[nodiscard]] bool is_floating(Type type);  ///< .f and .bf

/// "u32" (without its dot); no value for anything else.
[[nodiscard]] std::optional<Type> parse_type(std::string_view name);
/// "global" ... "const"; `param::entry`, `shared::cta` and their like are spellings of their space.
[[nodiscard]] std::optional<Space> parse_space(std::string_view name);

}  // namespace cudamatrix::suite::ptx
