#include "kernels/interpreter/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/interpreter/number_format.hpp"

namespace cudamatrix::suite::ptx {
namespace {

struct ElementRow {
    std::string_view name;
    Element element;
    unsigned bits;
};

constexpr ElementRow kElements[] = {
    {"f16", Element::f16, 16},    {"bf16", Element::bf16, 16}, {"tf32", Element::tf32, 32},
    {"e4m3", Element::e4m3, 8},   {"e5m2", Element::e5m2, 8},  {"e2m1", Element::e2m1, 4},
    {"s8", Element::s8, 8},       {"u8", Element::u8, 8},      {"f32", Element::f32, 32},
    {"f64", Element::f64, 64},    {"s32", Element::s32, 32},   {"ue4m3", Element::ue4m3, 8},
    {"ue8m0", Element::ue8m0, 8},
};

bool is_scale(Element element) {
    return element == Element::ue4m3 || element == Element::ue8m0;
}

std::optional<Element> parse(std::string_view name) {
    for (const ElementRow& row : kElements) {
        if (row.name == name) return row.element;
    }
    return std::nullopt;
}

double single_of(std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    float value = 0;
    std::memcpy(&value, &low, sizeof value);
    return static_cast<double>(value);
}

/// The host rounds as the format says, and faster than encode() does.
std::uint64_t single_bits(double value) {
    if (std::isnan(value)) return kSingleNan;
    const auto rounded = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

double double_of(std::uint64_t bits) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// `value` is whole and far from the limits of 64 bits.
std::uint64_t integer_bits(double value, bool saturates) {
    if (saturates) value = std::clamp(value, -0x1p31, 0x1p31 - 1);
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
}

}  // namespace

std::optional<Element> parse_element(std::string_view name) {
    const auto element = parse(name);
    return element && !is_scale(*element) ? element : std::nullopt;
}

std::optional<Element> parse_scale(std::string_view name) {
    const auto element = parse(name);
    return element && is_scale(*element) ? element : std::nullopt;
}

unsigned bits_of(Element element) {
    return kElements[static_cast<unsigned>(element)].bits;
}

Type register_of(Element element) {
    return element == Element::f32 ? Type::f32 : element == Element::f64 ? Type::f64 : Type::b32;
}

unsigned per_register(Element element) {
    return std::max(1U, 32 / bits_of(element));
}

Element family_of(Element element) {
    return element == Element::u8 ? Element::s8 : element == Element::e5m2 ? Element::e4m3 : element;
}

bool sums_in(Element element, Element sum) {
    switch (family_of(element)) {
        case Element::s8:
            return sum == Element::s32;
        case Element::f64:
            return sum == Element::f64;
        case Element::f16:
            return sum == Element::f16 || sum == Element::f32;
        default:
            return sum == Element::f32;
    }
}

double element_value(Element element, std::uint64_t bits) {
    switch (element) {
        case Element::f16:
            return decode_half(static_cast<std::uint16_t>(bits));
        case Element::bf16:
            return decode_bfloat(static_cast<std::uint16_t>(bits));
        case Element::tf32:
            return single_of(bits & ~std::uint64_t{0x1fff});
        case Element::e4m3:
            return decode_e4m3(static_cast<std::uint8_t>(bits));
        case Element::e5m2:
            return decode_e5m2(static_cast<std::uint8_t>(bits));
        case Element::e2m1:
            return decode_e2m1(static_cast<std::uint8_t>(bits));
        case Element::ue4m3:
            return decode_e4m3(static_cast<std::uint8_t>(bits & 0x7f));
        case Element::ue8m0:
            return decode_ue8m0(static_cast<std::uint8_t>(bits));
        case Element::s8:
            return static_cast<std::int8_t>(bits);
        case Element::u8:
            return static_cast<std::uint8_t>(bits);
        case Element::s32:
            return static_cast<std::int32_t>(bits);
        case Element::f32:
            return single_of(bits);
        default:
            return double_of(bits);
    }
}

std::uint64_t element_bits(Element element, double value, bool saturates) {
    const auto wide = static_cast<long double>(value);
    switch (element) {
        case Element::f16:
            return encode(wide, kHalf, Rounding::nearest, 0x7fff);
        case Element::bf16:
            return encode(wide, kBfloat, Rounding::nearest, 0x7fff);
        case Element::f32:
            return single_bits(value);
        case Element::f64: {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            return bits;
        }
        default:
            return integer_bits(value, saturates);
    }
}

}  // namespace cudamatrix::suite::ptx
