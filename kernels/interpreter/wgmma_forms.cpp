// The forms of wgmma and of what goes with it (PTX ISA, "wgmma.mma_async", "setmaxnreg").
#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/fragment.hpp"
#include "kernels/interpreter/wgmma.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr unsigned kTarget = 90;

/// An operand that must be one of two numbers; true when it is the second.
bool take_choice(Decoder& decoder, const Operand& operand, std::int64_t first, std::int64_t second) {
    std::int64_t value = first - 1;
    if (operand.kind == OperandKind::constant && operand.token.kind == TokenKind::integer)
        value = static_cast<std::int64_t>(operand.token.value) * (operand.negated ? -1 : 1);
    if (value != first && value != second)
        decoder.unsupported("expected " + std::to_string(first) + " or " + std::to_string(second) +
                            ", found " + found(operand.token));
    return value == second;
}

unsigned depth_of(Element element) {
    return 256 / bits_of(element);
}

bool has_sums(const WgmmaForm& form) {
    const Element family = family_of(form.a);
    if (family != family_of(form.b)) return false;
    switch (family) {
        case Element::s8:
            return form.d == Element::s32;
        case Element::f16:
        case Element::e4m3:
            return form.d == Element::f32 || form.d == Element::f16;
        case Element::bf16:
        case Element::tf32:
            return form.d == Element::f32;
        default:
            return false;
    }
}

/// "m64n128k16": N is a multiple of 8; above 32, of integers, of 16.
void take_shape(Decoder& decoder, WgmmaForm& form, std::string_view name) {
    const auto shape = parse_shape(name);
    if (!shape || shape->m != static_cast<int>(kWgmmaRows) || shape->n % 8 != 0 || shape->n > 256)
        decoder.unsupported("not for this shape");
    form.n = static_cast<unsigned>(shape->n);
    form.k = static_cast<unsigned>(shape->k);
    const bool odd = form.d == Element::s32 && form.n % 16 != 0 && form.n != 8 && form.n != 24;
    if (!has_sums(form) || form.k != depth_of(form.a) || odd)
        decoder.unsupported("not for this shape with these types");
}

/// imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b: which of them there are depends on the types.
void take_immediates(Decoder& decoder, WgmmaForm& form) {
    const bool floating = form.d != Element::s32;
    const bool transposes = bits_of(form.a) == 16;
    const std::size_t scales = floating ? 2 : 0;
    const std::size_t majors = !transposes ? 0 : form.a_in_registers ? 1 : 2;
    decoder.expect(4 + scales + majors, 4 + scales + majors);
    std::size_t next = 4;
    if (floating) {
        const bool a = take_choice(decoder, decoder.operand(next), 1, -1);
        const bool b = take_choice(decoder, decoder.operand(next + 1), 1, -1);
        form.negate = a != b;
        next += 2;
    }
    if (majors == 2) form.a_k_major = !take_choice(decoder, decoder.operand(next++), 0, 1);
    if (majors != 0) form.b_k_major = !take_choice(decoder, decoder.operand(next), 0, 1);
}

void decode_product(Decoder& decoder) {
    decoder.take_aligned();
    WgmmaForm form;
    const std::string_view shape = decoder.take_word("a shape");
    form.d = take_element(decoder);
    form.a = take_element(decoder);
    form.b = take_element(decoder);
    Instruction in = decoder.make(find_wgmma_handler(3));
    in.flow = true;
    if (decoder.take("satfinite")) in.flags = 1;
    take_shape(decoder, form, shape);
    if (in.flags != 0 && form.d != Element::s32) decoder.unsupported(".satfinite of this type");
    decoder.expect(4, 8);
    form.a_in_registers = decoder.operand(1).kind == OperandKind::vector;
    take_immediates(decoder, form);
    List list;
    list.items = form.pack();
    take_fragment(decoder, decoder.operand(0), form.d, static_cast<std::int32_t>(form.sums()), true, list);
    if (form.a_in_registers) {
        take_fragment(decoder, decoder.operand(1), form.a, static_cast<std::int32_t>(form.fragments()), false,
                      list);
    } else {
        in.from[0] = decoder.source(1, Type::b64);
    }
    in.from[1] = decoder.source(2, Type::b64);
    decoder.source_predicate(decoder.operand(3), in);
    in.target = decoder.add_list(std::move(list));
    decoder.emit(in);
}

/// All warps of the warpgroup have to come, as to wgmma (PTX ISA, "setmaxnreg").
void keep_registers(Warp& warp, const Instruction&, Mask lanes) {
    if (whole_warp(warp, lanes) && warp.block().gather_warpgroup(warp)) warp.block().release_warpgroup(warp);
}

}  // namespace

void decode_wgmma(Decoder& decoder) {
    decoder.need_specific_target(kTarget);
    const int kind = decoder.take_one_of({"fence", "commit_group", "wait_group", "mma_async"});
    if (kind < 0) decoder.unsupported("not in this form");
    if (kind == 3) return decode_product(decoder);
    decoder.take_aligned();
    Instruction in = decoder.make(find_wgmma_handler(kind));
    in.flow = true;
    const std::size_t operands = kind == 2 ? 1 : 0;
    decoder.expect(operands, operands);
    if (kind == 2) {
        const Operand& groups = decoder.operand(0);
        if (groups.kind != OperandKind::constant || groups.negated || groups.token.value > INT32_MAX)
            decoder.unsupported("expected a number of groups");
        in.target = static_cast<std::int32_t>(groups.token.value);
    }
    decoder.emit(in);
}

/// Registers are not counted here.
void decode_setmaxnreg(Decoder& decoder) {
    decoder.need_specific_target(kTarget);
    if (decoder.take_one_of({"inc", "dec"}) < 0) decoder.unsupported("expected .inc or .dec");
    decoder.take_aligned();
    if (decoder.take_type() != Type::u32) decoder.unsupported("not for this type");
    decoder.expect(1, 1);
    const Operand& count = decoder.operand(0);
    const std::uint64_t registers = count.token.value;
    if (count.kind != OperandKind::constant || count.negated || registers < 24 || registers > 256 ||
        registers % 8 != 0)
        decoder.unsupported("expected a multiple of 8 from 24 to 256");
    Instruction in = decoder.make(keep_registers);
    in.flow = true;
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
