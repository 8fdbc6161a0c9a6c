#include "kernels/interpreter/fragment.hpp"

#include <charconv>
#include <cmath>

namespace cudamatrix::suite::ptx {
namespace {

constexpr int kMostElements = 1024;  // of A of m16n8k64
constexpr std::size_t kHeader = 13;

std::int32_t number(Element element) {
    return static_cast<std::int32_t>(element);
}

List header_of(const Product& p) {
    return {{p.shape.m, p.shape.n, p.shape.k, number(p.d), number(p.a), number(p.b), number(p.c),
             p.registers[0], p.registers[1], p.registers[2], p.registers[3], p.chunks, number(p.scale)}};
}

Product product_of(const std::vector<std::int32_t>& items) {
    const auto element = [&](std::size_t i) { return static_cast<Element>(items[i]); };
    Product p;
    p.shape = {items[0], items[1], items[2]};
    p.d = element(3);
    p.a = element(4);
    p.b = element(5);
    p.c = element(6);
    for (std::size_t i = 0; i < 4; ++i)
        p.registers[i] = items[7 + i];
    p.chunks = items[11];
    p.scale = element(12);
    return p;
}

/// C + A * B. Products of anything but f64 are exact in a double, integers with their sums, too. PTX leaves
/// the order and the precision of the sums open; these are far finer than a device's, which a tolerance must
/// not be measured by.
void accumulate(const Product& p, const double* a, const double* b, double* c) {
    const bool fused = p.a == Element::f64;
    for (int row = 0; row < p.shape.m; ++row) {
        for (int column = 0; column < p.shape.n; ++column) {
            double sum = c[row * p.shape.n + column];
            for (int k = 0; k < p.shape.k; ++k) {
                const double x = a[row * p.shape.k + k];
                const double y = b[k * p.shape.n + column];
                sum = fused ? std::fma(x, y, sum) : sum + x * y;
            }
            c[row * p.shape.n + column] = sum;
        }
    }
}

template <Layout layout>
void multiply(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    const auto& items = warp.frame().function->lists[static_cast<std::size_t>(in.target)].items;
    const Product p = product_of(items);
    const std::int32_t* slots = items.data() + kHeader;
    double a[kMostElements];
    double b[kMostElements];
    double c[kMostElements];
    const auto read = [&](Part part, Element element, std::int32_t registers, double* into) {
        const std::uint64_t used = bits_of(element) == 64 ? ~0ULL : (1ULL << bits_of(element)) - 1;
        const int columns = columns_of(part, p.shape);
        for_values(part, p.shape, layout, element, registers,
                   [&](std::int32_t r, unsigned shift, int lane, const Position& at) {
                       into[at.row * columns + at.column] =
                           element_value(element, warp.source(slots[r]).lane[lane] >> shift & used);
                   });
        slots += registers;
    };
    const std::int32_t* const to = slots;
    slots += p.registers[0];
    read(Part::a, p.a, p.registers[1], a);
    read(Part::b, p.b, p.registers[2], b);
    read(Part::c, p.c, p.registers[3], c);
    if (p.chunks != 0) apply_scales(warp, p, slots, a, b);
    accumulate(p, a, b, c);
    for_values(Part::c, p.shape, layout, p.d, p.registers[0],
               [&](std::int32_t r, unsigned shift, int lane, const Position& at) {
                   const double value = c[at.row * p.shape.n + at.column];
                   std::uint64_t& bits = warp.destination(to[r]).lane[lane];
                   if (shift == 0) bits = 0;
                   bits |= element_bits(p.d, value, in.flags != 0) << shift;
               });
    warp.advance();
}

/// The number at the begin of `text`, which loses it, behind `letter`; 0 when there is none.
int take_extent(std::string_view& text, char letter) {
    if (text.empty() || text[0] != letter) return 0;
    int value = 0;
    const auto end = std::from_chars(text.data() + 1, text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
    return value;
}

}  // namespace

std::optional<Shape> parse_shape(std::string_view name) {
    Shape shape;
    shape.m = take_extent(name, 'm');
    shape.n = take_extent(name, 'n');
    shape.k = take_extent(name, 'k');
    if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0 || !name.empty()) return std::nullopt;
    return shape;
}

int rows_of(Part part, const Shape& shape) {
    return part == Part::b ? shape.k : shape.m;
}

int columns_of(Part part, const Shape& shape) {
    return part == Part::a ? shape.k : shape.n;
}

std::int32_t registers_of(Part part, const Shape& shape, Element element) {
    const int values = rows_of(part, shape) * columns_of(part, shape) / kLanes;
    return values / static_cast<int>(per_register(element));
}

// PTX ISA, "Matrix Fragments for mma": every matrix is tiled by 8 x 4 registers; the lanes go over a tile
// four by four, and further registers are further tiles, down first.
Position mma_position(Part part, const Shape& shape, unsigned per, int lane, unsigned value) {
    const int group = lane / 4;
    const int thread = lane % 4;
    const int tile = static_cast<int>(value / per);
    const int within = static_cast<int>(value % per);
    const int width = static_cast<int>(per);
    const int down = shape.m / 8;
    const auto pair = static_cast<int>(value);
    switch (part) {
        case Part::a:
            return {group + 8 * (tile % down), width * (thread + 4 * (tile / down)) + within};
        case Part::b:
            return {width * (thread + 4 * tile) + within, group};
        default:
            return {group + 8 * (pair / 2), 2 * thread + pair % 2};
    }
}

Position wmma_position(Part part, const Shape& shape, unsigned, int lane, unsigned value) {
    const int columns = columns_of(part, shape);
    const int at = (static_cast<int>(value) * kLanes + lane) % (rows_of(part, shape) * columns);
    return {at / columns, at % columns};
}

bool whole_warp(Warp& warp, Mask lanes) {
    if (lanes == 0) {
        warp.advance();
        return false;
    }
    if (!warp.together(~Mask{0}, lanes)) return false;
    if (lanes != ~Mask{0})
        warp.fault(FaultCode::launch_failure, __builtin_ctz(lanes),
                   "needs all 32 lanes of a warp, and only " + hex_address(lanes) + " are there");
    return true;
}

Element take_element(Decoder& decoder) {
    const std::string_view name = decoder.take_word("a type");
    const auto element = parse_element(name);
    if (!element) decoder.unsupported("expected a type of matrices, found ." + std::string(name));
    return *element;
}

void take_fragment(Decoder& decoder, const Operand& operand, Element element, std::int32_t count, bool writes,
                   List& list) {
    if (operand.kind != OperandKind::vector || operand.elements.size() != static_cast<std::size_t>(count))
        decoder.unsupported("expected a vector of " + std::to_string(count) + " registers, found " +
                            (operand.kind == OperandKind::vector
                                 ? "one of " + std::to_string(operand.elements.size())
                                 : found(operand.token)));
    for (const Operand& part : operand.elements) {
        if (writes && part.kind == OperandKind::reg && size_of(part.type) != size_of(register_of(element)))
            decoder.unsupported("operand " + found(part.token) + " has " +
                                std::to_string(8 * size_of(part.type)) + " bits, expected " +
                                std::to_string(8 * size_of(register_of(element))));
        if (!writes && part.kind == OperandKind::none) decoder.unsupported("a missing element");
        list.items.push_back(writes ? decoder.destination(part) : decoder.source(part, register_of(element)));
    }
}

void emit_product(Decoder& decoder, Product product, Layout layout,
                  std::int32_t (*count)(Part part, const Shape& shape, Element element), bool saturates) {
    const std::size_t operands = product.chunks != 0 ? 8 : 4;
    decoder.expect(operands, operands);
    constexpr Part kParts[4] = {Part::c, Part::a, Part::b, Part::c};
    const Element elements[4] = {product.d, product.a, product.b, product.c};
    for (std::size_t i = 0; i < 4; ++i)
        product.registers[i] = count(kParts[i], product.shape, elements[i]);
    Instruction in = decoder.make(layout == mma_position ? multiply<mma_position> : multiply<wmma_position>);
    in.flow = true;
    in.flags = saturates ? 1 : 0;
    List list = header_of(product);
    for (std::size_t i = 0; i < 4; ++i)
        take_fragment(decoder, decoder.operand(i), elements[i], product.registers[i], i == 0, list);
    if (product.chunks != 0) take_scales(decoder, list);
    in.target = decoder.add_list(std::move(list));
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
