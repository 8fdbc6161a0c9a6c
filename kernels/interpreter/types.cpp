#include "kernels/interpreter/types.hpp"

namespace cudamatrix::suite::ptx {
namespace {

struct TypeRow {
    std::string_view name;
    Type type;
    unsigned size;
};

constexpr TypeRow kTypes[] = {
    {"", Type::none, 0},     {"u8", Type::u8, 1},         {"u16", Type::u16, 2}, {"u32", Type::u32, 4},
    {"u64", Type::u64, 8},   {"s8", Type::s8, 1},         {"s16", Type::s16, 2}, {"s32", Type::s32, 4},
    {"s64", Type::s64, 8},   {"b8", Type::b8, 1},         {"b16", Type::b16, 2}, {"b32", Type::b32, 4},
    {"b64", Type::b64, 8},   {"b128", Type::b128, 16},    {"f16", Type::f16, 2}, {"f16x2", Type::f16x2, 4},
    {"bf16", Type::bf16, 2}, {"bf16x2", Type::bf16x2, 4}, {"f32", Type::f32, 4}, {"f64", Type::f64, 8},
    {"pred", Type::pred, 1},
};

struct SpaceRow {
    std::string_view name;
    Space space;
};

constexpr SpaceRow kSpaces[] = {
    {"global", Space::global},     {"shared", Space::shared},  {"shared::cta", Space::shared},
    {"local", Space::local},       {"param", Space::param},    {"param::entry", Space::param},
    {"param::func", Space::param}, {"const", Space::constant},
};

}  // namespace

unsigned size_of(Type type) {
    return kTypes[static_cast<unsigned>(type)].size;
}

bool is_signed(Type type) {
    return type >= Type::s8 && type <= Type::s64;
}

bool is_integer(Type type) {
    return type >= Type::u8 && type <= Type::s64;
}

bool is_bits(Type type) {
    return type >= Type::b8 && type <= Type::b128;
}

bool is_floating(Type type) {
    return type >= Type::f16 && type <= Type::f64;
}

std::optional<Type> parse_type(std::string_view name) {
    for (const TypeRow& row : kTypes) {
        if (row.name == name && row.type != Type::none) return row.type;
    }
    return std::nullopt;
}

std::optional<Space> parse_space(std::string_view name) {
    for (const SpaceRow& row : kSpaces) {
        if (row.name == name) return row.space;
    }
    return std::nullopt;
}

}  // namespace cudamatrix::suite::ptx
