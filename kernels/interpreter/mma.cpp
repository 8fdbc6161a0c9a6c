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

const ShapeRow& form_of(const Decoder& decoder, std::string_view shape, const Product& p) {
    const bool mixes = family_of(p.a) == family_of(p.b) && p.c == p.d;
    const bool sums = sums_in(p.a, p.d);
    for (const ShapeRow& row : kForms) {
        if (row.shape == shape && row.family == family_of(p.a) && mixes && sums) return row;
    }
    decoder.unsupported("not for this shape with these types");
}

}  // namespace

void decode_mma(Decoder& decoder) {
    decoder.take_aligned();
    const std::string_view name = decoder.take_word("a shape");
    if (!decoder.take("row") || !decoder.take("col")) decoder.unsupported("expected .row.col");
    const bool saturates = decoder.take("satfinite");
    Product p;
    p.d = take_element(decoder);
    p.a = take_element(decoder);
    p.b = take_element(decoder);
    p.c = take_element(decoder);
    const ShapeRow& form = form_of(decoder, name, p);
    if (saturates && p.d != Element::s32) decoder.unsupported(".satfinite of this type");
    decoder.need_target(form.least);
    p.shape = *parse_shape(name);
    emit_product(decoder, p, mma_position, registers_of, saturates);
}

}  // namespace cudamatrix::suite::ptx
