// The table of instructions.
#include <algorithm>

#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

/// add, fma ... exist for integers, for f32 and f64, and for f16 and bf16; the last type tells.
void decode_by_type(Decoder& decoder) {
    const auto& modifiers = decoder.statement().modifiers;
    const Type type = modifiers.empty() ? Type::none : parse_type(modifiers.back()).value_or(Type::none);
    bool carries = false;
    for (const std::string_view modifier : modifiers)
        carries = carries || modifier == "cc";
    if (carries) return decode_extended(decoder);
    if (type == Type::f32 || type == Type::f64) return decode_floating(decoder);
    if (is_floating(type)) return decode_half(decoder);
    decode_arithmetic(decoder);
}

bool is_narrow(std::string_view type) {
    return type == "tf32" || type == "e4m3x2" || type == "e5m2x2";
}

/// cvt is known for tf32, e4m3 and e5m2 by itself.
void decode_cvt(Decoder& decoder) {
    const auto& modifiers = decoder.statement().modifiers;
    const bool narrow = std::any_of(modifiers.begin(), modifiers.end(), is_narrow);
    return narrow ? decode_narrow(decoder) : decode_conversion(decoder);
}

struct InstructionRow {
    std::string_view name;
    Decode decode;
};

constexpr InstructionRow kInstructions[] = {
    {"add", decode_by_type},       {"sub", decode_by_type},
    {"mul", decode_by_type},       {"mad", decode_by_type},
    {"fma", decode_by_type},       {"div", decode_by_type},
    {"neg", decode_by_type},       {"abs", decode_by_type},
    {"min", decode_by_type},       {"max", decode_by_type},
    {"rem", decode_arithmetic},    {"mul24", decode_arithmetic},
    {"mad24", decode_arithmetic},  {"sad", decode_arithmetic},
    {"dp4a", decode_arithmetic},   {"addc", decode_extended},
    {"subc", decode_extended},     {"madc", decode_extended},
    {"rcp", decode_floating},      {"sqrt", decode_floating},
    {"copysign", decode_floating}, {"testp", decode_compare},
    {"rsqrt", decode_approximate}, {"ex2", decode_approximate},
    {"lg2", decode_approximate},   {"sin", decode_approximate},
    {"cos", decode_approximate},   {"tanh", decode_approximate},
    {"and", decode_logic},         {"or", decode_logic},
    {"xor", decode_logic},         {"not", decode_logic},
    {"cnot", decode_logic},        {"shl", decode_logic},
    {"shr", decode_logic},         {"lop3", decode_logic},
    {"shf", decode_bits},          {"popc", decode_bits},
    {"clz", decode_bits},          {"brev", decode_bits},
    {"bfind", decode_bits},        {"bfe", decode_bits},
    {"bfi", decode_bits},          {"prmt", decode_bits},
    {"setp", decode_compare},      {"set", decode_compare},
    {"selp", decode_compare},      {"slct", decode_compare},
    {"cvt", decode_cvt},           {"mov", decode_move},
    {"cvta", decode_move},         {"isspacep", decode_move},
    {"ld", decode_access},         {"ldu", decode_access},
    {"st", decode_access},         {"prefetch", decode_access},
    {"prefetchu", decode_access},  {"atom", decode_atomic},
    {"red", decode_atomic},        {"shfl", decode_exchange},
    {"vote", decode_exchange},     {"match", decode_exchange},
    {"redux", decode_exchange},    {"activemask", decode_exchange},
    {"elect", decode_exchange},    {"bar", decode_barrier},
    {"barrier", decode_barrier},   {"membar", decode_barrier},
    {"fence", decode_barrier},     {"nanosleep", decode_control},
    {"bra", decode_control},       {"brx", decode_control},
    {"call", decode_control},      {"ret", decode_control},
    {"exit", decode_control},      {"trap", decode_control},
    {"brkpt", decode_control},     {"pmevent", decode_control},
    {"mma", decode_mma},           {"ldmatrix", decode_ldmatrix},
    {"wmma", decode_wmma},         {"cp", decode_cp_async},
    {"mbarrier", decode_mbarrier}, {"mapa", decode_mapa},
    {"wgmma", decode_wgmma},       {"setmaxnreg", decode_setmaxnreg},
    {"tcgen05", decode_tcgen05},
};

}  // namespace

Decode find_decode(std::string_view name) {
    for (const InstructionRow& row : kInstructions) {
        if (row.name == name) return row.decode;
    }
    return nullptr;
}

}  // namespace cudamatrix::suite::ptx
