// wmma (PTX ISA, "Warp-level Matrix Multiply-Accumulate Instructions", "wmma.load" ... "wmma.mma").
#include <algorithm>

#include "kernels/interpreter/access.hpp"
#include "kernels/interpreter/fragment.hpp"
#include "kernels/interpreter/races.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum WmmaFlag : std::uint8_t { kColumns = 1 };  // one column after the other

constexpr ShapeRow kWmmaForms[] = {
    {"m16n16k16", Element::f16, 70},  {"m32n8k16", Element::f16, 70},  {"m8n32k16", Element::f16, 70},
    {"m16n16k16", Element::bf16, 80}, {"m32n8k16", Element::bf16, 80}, {"m8n32k16", Element::bf16, 80},
    {"m16n16k16", Element::s8, 72},   {"m32n8k16", Element::s8, 72},   {"m8n32k16", Element::s8, 72},
    {"m16n16k8", Element::tf32, 80},  {"m8n8k4", Element::f64, 80},
};

/// The first form of `shape` with A and B, or with C, of `element`.
const ShapeRow& wmma_form_of(const Decoder& decoder, std::string_view shape, Part part, Element element) {
    for (const ShapeRow& row : kWmmaForms) {
        const bool fits = part == Part::c ? sums_in(row.family, element) : row.family == family_of(element);
        if (row.shape == shape && fits) return row;
    }
    decoder.unsupported("not for this shape with these types");
}

std::int32_t fragment_registers(Part part, const Shape& shape, Element element) {
    return part != Part::c && element == Element::f16 ? 8 : registers_of(part, shape, element);
}

/// A matrix in memory: where it begins, and the elements from one row (or column) to the next.
struct Stored {
    Part part;
    Element element;
    Shape shape;
    std::uint64_t address = 0;
    std::uint64_t stride = 0;
    bool columns = false;
    const std::int32_t* slots = nullptr;
    std::int32_t registers = 0;
};

std::uint64_t same_for_all(const Warp& warp, const Row& row, std::uint64_t used, const char* what) {
    for (int lane = 1; lane < kLanes; ++lane) {
        if (((row.lane[lane] ^ row.lane[0]) & used) != 0)
            warp.fault(FaultCode::launch_failure, lane, std::string("the lanes have different ") + what);
    }
    return row.lane[0] & used;
}

/// Rows must begin where a fragment can be read at once ("Matrix Storage"); of strides, multiples of 16 bytes
/// are enough (CUDA C++ Programming Guide, "load_matrix_sync").
void check_alignment(const Warp& warp, const Stored& m, std::uint64_t size) {
    const std::uint64_t fragment = static_cast<std::uint64_t>(m.registers) * size_of(register_of(m.element));
    if (m.address % fragment != 0)
        warp.fault(FaultCode::misaligned_address, 0,
                   "address " + hex_address(m.address) + " of a matrix is not aligned to " +
                       std::to_string(fragment) + " bytes");
    const std::uint64_t least = std::min<std::uint64_t>(fragment, 16);
    if (m.stride * size % least != 0)
        warp.fault(FaultCode::misaligned_address, 0,
                   "a stride of " + std::to_string(m.stride) + " elements is no multiple of " +
                       std::to_string(least) + " bytes");
    const int extent = m.columns ? rows_of(m.part, m.shape) : columns_of(m.part, m.shape);
    if (m.stride < static_cast<std::uint64_t>(extent))
        warp.fault(FaultCode::launch_failure, 0,
                   "a stride of " + std::to_string(m.stride) + " elements: there are " +
                       std::to_string(extent) + " in a " + (m.columns ? "column" : "row"));
}

/// detail: element, part above 4 bits. The list: m, n, k, registers. from[1]: stride.
Stored stored_of(Warp& warp, const Instruction& in) {
    const auto& items = warp.frame().function->lists[static_cast<std::size_t>(in.target)].items;
    Stored m{static_cast<Part>(in.detail >> 4),
             static_cast<Element>(in.detail & 15),
             {items[0], items[1], items[2]}};
    m.address = same_for_all(warp, warp.source(in.from[0]), ~0ULL, "addresses") +
                static_cast<std::uint64_t>(in.offset);
    m.stride = same_for_all(warp, warp.source(in.from[1]), 0xffffffff, "strides");
    m.columns = (in.flags & kColumns) != 0;
    m.slots = items.data() + 3;
    m.registers = static_cast<std::int32_t>(items.size()) - 3;
    check_alignment(warp, m, in.width);
    return m;
}

/// f(register, shift, lane, bytes) for each value of the fragment, whose place has been checked.
template <typename F>
void for_stored(Warp& warp, const Instruction& in, const Stored& m, AccessKind kind, F f) {
    for_values(m.part, m.shape, wmma_position, m.element, m.registers,
               [&](std::int32_t r, unsigned shift, int lane, const Position& at) {
                   const auto line = static_cast<std::uint64_t>(m.columns ? at.column : at.row);
                   const auto within = static_cast<std::uint64_t>(m.columns ? at.row : at.column);
                   const std::uint64_t address = m.address + (line * m.stride + within) * in.width;
                   const Place place = locate(warp, in, lane, address, in.width);
                   if (kind == AccessKind::read && place.written != nullptr)
                       check_written(warp, lane, place, address, in.width);
                   if (kind == AccessKind::write) check_not_in_flight(warp, lane, place, address, in.width);
                   record_access(warp, lane, place, in.width, kind);
                   f(m.slots[r], shift, lane, place);
               });
}

void load_fragment(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    const Stored m = stored_of(warp, in);
    for_stored(warp, in, m, AccessKind::read, [&](Slot slot, unsigned shift, int lane, const Place& place) {
        std::uint64_t& bits = warp.destination(slot).lane[lane];
        if (shift == 0) bits = 0;
        bits |= load_value(place.bytes, in.width) << shift;
    });
    warp.advance();
}

void store_fragment(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    const Stored m = stored_of(warp, in);
    for_stored(warp, in, m, AccessKind::write, [&](Slot slot, unsigned shift, int lane, const Place& place) {
        store_value(place.bytes, warp.source(slot).lane[lane] >> shift, in.width);
        if (place.written != nullptr) std::memset(place.written, 1, in.width);
    });
    warp.advance();
}

bool take_order(Decoder& decoder) {
    const int order = decoder.take_one_of({"row", "col"});
    if (order < 0) decoder.unsupported("expected .row or .col");
    return order == 1;
}

void decode_stored(Decoder& decoder, bool loads) {
    const int part = loads ? decoder.take_one_of({"a", "b", "c"}) : decoder.take("d") ? 2 : -1;
    if (part < 0) decoder.unsupported(loads ? "expected .a, .b or .c" : "expected .d");
    decoder.take_aligned();
    Instruction in = decoder.make(loads ? load_fragment : store_fragment);
    in.flow = true;
    in.flags = take_order(decoder) ? kColumns : 0;
    const std::string_view name = decoder.take_word("a shape");
    in.space = decoder.take_space();
    if (in.space != Space::generic && in.space != Space::global && in.space != Space::shared)
        decoder.unsupported("not in this state space");
    const Element element = take_element(decoder);
    const auto of = static_cast<Part>(part);
    decoder.need_target(wmma_form_of(decoder, name, of, element).least);
    const Shape shape = *parse_shape(name);
    in.width = static_cast<std::uint8_t>(bits_of(element) / 8);
    in.detail = static_cast<std::uint16_t>(static_cast<int>(element) | part << 4);
    decoder.expect(2, 3);
    List list{{shape.m, shape.n, shape.k}};
    take_fragment(decoder, decoder.operand(loads ? 0 : 1), element, fragment_registers(of, shape, element),
                  loads, list);
    in.target = decoder.add_list(std::move(list));
    decoder.address(decoder.operand(loads ? 1 : 0), in);
    const int extent = in.flags != 0 ? rows_of(of, shape) : columns_of(of, shape);
    in.from[1] = decoder.count() == 3 ? decoder.source(2, Type::b32)
                                      : decoder.constant(static_cast<std::uint64_t>(extent));
    decoder.emit(in);
}

/// .d.c, A and B being of f16, or .d.a.b.c.
void take_elements(Decoder& decoder, Product& p) {
    p.d = take_element(decoder);
    p.c = take_element(decoder);
    if (p.c == Element::f16 || p.c == Element::f32) return;
    p.a = p.c;
    p.b = take_element(decoder);
    p.c = take_element(decoder);
    if (p.c != p.d) decoder.unsupported("not for this shape with these types");
}

void decode_wmma_product(Decoder& decoder) {
    decoder.take_aligned();
    take_order(decoder);
    take_order(decoder);
    const std::string_view name = decoder.take_word("a shape");
    Product p;
    take_elements(decoder, p);
    const ShapeRow& form = wmma_form_of(decoder, name, Part::a, p.a);
    if (p.a != p.b || !sums_in(p.a, p.d) || !sums_in(p.a, p.c))
        decoder.unsupported("not for this shape with these types");
    decoder.need_target(form.least);
    if (p.d == Element::f64) decoder.take("rn");
    const bool saturates = decoder.take("satfinite");
    if (saturates && p.d != Element::s32) decoder.unsupported(".satfinite of this type");
    p.shape = *parse_shape(name);
    emit_product(decoder, p, wmma_position, fragment_registers, saturates);
}

}  // namespace

void decode_wmma(Decoder& decoder) {
    switch (decoder.take_one_of({"load", "store", "mma"})) {
        case 0:
            return decode_stored(decoder, true);
        case 1:
            return decode_stored(decoder, false);
        case 2:
            return decode_wmma_product(decoder);
        default:
            decoder.unsupported("expected .load, .store or .mma");
    }
}

}  // namespace cudamatrix::suite::ptx
