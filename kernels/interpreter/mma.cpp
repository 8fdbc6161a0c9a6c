// mma.sync (PTX ISA, "Warp-level matrix multiply-accumulate instruction using mma").
#include "kernels/interpreter/fragment.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr ShapeRow kForms[] = {
    {"m16n8k8", Element::f16, 75},   {"m16n8k16", Element::f16, 80},  {"m16n8k8", Element::bf16, 80},
    {"m16n8k16", Element::bf16, 80}, {"m16n8k4", Element::tf32, 80},  {"m16n8k8", Element::tf32, 80},
    {"m8n8k4", Element::f64, 80},    {"m8n8k16", Element::s8, 75},    {"m16n8k16", Element::s8, 80},
    {"m16n8k32", Element::s8, 80},   {"m16n8k32", Element::e4m3, 89},
};

/// What ptxas 13.0 takes.
struct ScaledForm {
    std::string_view kind;
    std::string_view shape;
    Element family;
    std::int32_t chunks;
    Element scale;
    bool by_default;  ///< what the kind means without .scale_vec
};
constexpr ScaledForm kScaledForms[] = {
    {"kind::mxf4nvf4", "m16n8k64", Element::e2m1, 4, Element::ue4m3, false},
    {"kind::mxf4nvf4", "m16n8k64", Element::e2m1, 2, Element::ue8m0, false},
    {"kind::mxf4", "m16n8k64", Element::e2m1, 2, Element::ue8m0, true},
    {"kind::mxf8f6f4", "m16n8k32", Element::e4m3, 1, Element::ue8m0, true},
};
constexpr unsigned kScaledTarget = 120;

/// .kind.block_scale{.scale_vec}, which stand before the shape or behind .row.col.
struct Kind {
    std::string_view name;
    std::int32_t chunks = 0;  ///< 0: not said
};

void take_kind(Decoder& decoder, Kind& kind) {
    std::string_view name;
    for (const ScaledForm& row : kScaledForms) {
        if (name.empty() && decoder.take(row.kind)) name = row.kind;
    }
    if (name.empty()) return;
    if (!kind.name.empty()) decoder.unsupported("two kinds");
    kind.name = name;
    if (!decoder.take("block_scale")) decoder.unsupported("expected .block_scale");
    const int vec = decoder.take_one_of({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
    if (vec >= 0) kind.chunks = 1 << vec;
}

bool types_match(const Product& p) {
    return family_of(p.a) == family_of(p.b) && p.c == p.d && sums_in(p.a, p.d);
}

const ShapeRow& form_of(const Decoder& decoder, std::string_view shape, const Product& p) {
    for (const ShapeRow& row : kForms) {
        if (row.shape == shape && row.family == family_of(p.a) && types_match(p)) return row;
    }
    decoder.unsupported("not for this shape with these types");
}

const ScaledForm& scaled_form_of(Decoder& decoder, std::string_view shape, const Product& p,
                                 const Kind& kind) {
    const auto scale = parse_scale(decoder.take_word("a type of scales"));
    for (const ScaledForm& row : kScaledForms) {
        if (row.kind == kind.name && row.shape == shape && row.family == family_of(p.a) && types_match(p) &&
            row.scale == scale && (row.chunks == kind.chunks || (kind.chunks == 0 && row.by_default)))
            return row;
    }
    decoder.unsupported("not for this shape with these types and scales");
}

}  // namespace

void decode_mma(Decoder& decoder) {
    decoder.take_aligned();
    Kind kind;
    take_kind(decoder, kind);
    const std::string_view name = decoder.take_word("a shape");
    const auto shape = parse_shape(name);
    if (!shape) decoder.unsupported("expected a shape, found ." + std::string(name));
    if (!decoder.take("row") || !decoder.take("col")) decoder.unsupported("expected .row.col");
    take_kind(decoder, kind);
    const bool saturates = decoder.take("satfinite");
    Product p;
    p.d = take_element(decoder);
    p.a = take_element(decoder);
    p.b = take_element(decoder);
    p.c = take_element(decoder);
    if (kind.name.empty()) {
        decoder.need_target(form_of(decoder, name, p).least);
    } else {
        const ScaledForm& form = scaled_form_of(decoder, name, p, kind);
        decoder.need_target(kScaledTarget);
        if (decoder.module().variant == 0) decoder.unsupported("needs sm_120a or sm_120f, or of a later one");
        p.chunks = form.chunks;
        p.scale = form.scale;
    }
    if (saturates && p.d != Element::s32) decoder.unsupported(".satfinite of this type");
    p.shape = *shape;
    emit_product(decoder, p, mma_position, registers_of, saturates);
}

}  // namespace cudamatrix::suite::ptx
