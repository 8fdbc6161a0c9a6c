#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/interpreter/types.hpp"

namespace cudamatrix::suite::ptx {

/// What matrices of tensor cores are of (PTX ISA, "Matrix Data-types").
/// ue4m3 and ue8m0 are scales, never elements of a matrix.
enum class Element : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m1, s8, u8, f32, f64, s32, ue4m3, ue8m0 };

/// "e4m3" (without its dot), but no scale; no value for anything else.
[[nodiscard]] std::optional<Element> parse_element(std::string_view name);
/// "ue4m3", "ue8m0"; no value for anything else.
[[nodiscard]] std::optional<Element> parse_scale(std::string_view name);
[[nodiscard]] unsigned bits_of(Element element);
/// The type of the registers that hold it; elements of 16, 8 and 4 bits lie in a .b32, the first in the low
/// bits.
[[nodiscard]] Type register_of(Element element);
/// How many lie in one register.
[[nodiscard]] unsigned per_register(Element element);

/// Which elements a product can mix: s8 for s8 and u8, e4m3 for e4m3 and e5m2, otherwise `element`.
[[nodiscard]] Element family_of(Element element);
/// Can products of `element` be summed up in `sum`?
[[nodiscard]] bool sums_in(Element element, Element sum);

/// Exact. Of a tf32 the low 13 bits are not looked at, of a ue4m3 not the highest one, which must be 0.
[[nodiscard]] double element_value(Element element, std::uint64_t bits);
/// The bits of `value` rounded once, to nearest; an integer that is too large wraps, or with `saturates` is
/// the nearest of the type.
[[nodiscard]] std::uint64_t element_bits(Element element, double value, bool saturates);

}  // namespace cudamatrix::suite::ptx
