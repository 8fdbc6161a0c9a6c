#pragma once

#include <optional>
#include <string_view>

#include "kernels/interpreter/elements.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/warp.hpp"

/// Matrices that the lanes of a warp hold together (PTX ISA, "Matrix Shape", "Matrix Fragments").
namespace cudamatrix::suite::ptx {

/// D = A * B + C; A has m rows and k columns, B k rows and n columns. D is laid out as C.
struct Shape {
    int m = 0;
    int n = 0;
    int k = 0;
};
/// "m16n8k16"; no value for anything else.
[[nodiscard]] std::optional<Shape> parse_shape(std::string_view name);

/// A shape that there is, with A and B of one family of elements.
struct ShapeRow {
    std::string_view shape;
    Element family;
    unsigned least;  ///< architecture
};

enum class Part : std::uint8_t { a, b, c };
[[nodiscard]] int rows_of(Part part, const Shape& shape);
[[nodiscard]] int columns_of(Part part, const Shape& shape);

struct Position {
    int row = 0;
    int column = 0;
};
/// Where value number `value` of `lane` is in the matrix, with `per` values in one register.
using Layout = Position (*)(Part part, const Shape& shape, unsigned per, int lane, unsigned value);

/// Registers of a fragment without copies.
[[nodiscard]] std::int32_t registers_of(Part part, const Shape& shape, Element element);

/// f(register number, shift, lane, position) for each value of a fragment.
template <typename F>
void for_values(Part part, const Shape& shape, Layout layout, Element element, std::int32_t registers, F f) {
    const unsigned per = per_register(element);
    for (std::int32_t r = 0; r < registers; ++r) {
        for (unsigned i = 0; i < per; ++i) {
            for (int lane = 0; lane < kLanes; ++lane) {
                const unsigned value = static_cast<unsigned>(r) * per + i;
                f(r, i * bits_of(element), lane, layout(part, shape, per, lane, value));
            }
        }
    }
}

/// That of mma, for all shapes: a table of three formulas.
[[nodiscard]] Position mma_position(Part part, const Shape& shape, unsigned per, int lane, unsigned value);
/// That of wmma, which no program may know: rows one after the other over the lanes, and where a fragment has
/// more values than the matrix has elements (A and B of f16), all of them again.
[[nodiscard]] Position wmma_position(Part part, const Shape& shape, unsigned per, int lane, unsigned value);

/// A product as the list of an instruction holds it.
struct Product {
    Shape shape;
    Element a = Element::f16;
    Element b = Element::f16;
    Element c = Element::f32;
    Element d = Element::f32;
    std::int32_t registers[4] = {0, 0, 0, 0};  ///< how many d, a, b and c have
    std::int32_t chunks = 0;                   ///< of K, each with a scale of its own; 0: without scales
    Element scale = Element::ue8m0;            ///< what scales are of
};

/// The next modifier as a type of elements.
[[nodiscard]] Element take_element(Decoder& decoder);

/// Takes the operands d, a, b, c, each of as many registers as `count` says, and the scales of a product with
/// chunks; the handler is that of `layout`. `saturates`: .satfinite.
void emit_product(Decoder& decoder, Product product, Layout layout,
                  std::int32_t (*count)(Part part, const Shape& shape, Element element), bool saturates);

// Scales of blocks (scales.cpp; PTX ISA, "Block Scaling for mma.sync").
/// Takes the operands behind the first four: registers of scales and selectors of A, the same of B.
void take_scales(Decoder& decoder, List& list);
/// Multiplies A and B, rows one after the other, by their scales; `slots`: what take_scales() put into the
/// list. Exact. Throws Fault where the selectors, or the bits of a scale, have no meaning.
void apply_scales(Warp& warp, const Product& product, const std::int32_t* slots, double* a, double* b);

/// The registers of a fragment, which are `count` of `element`, behind what is in `list`.
void take_fragment(Decoder& decoder, const Operand& operand, Element element, std::int32_t count, bool writes,
                   List& list);

/// True when all lanes of the warp execute the instruction at once, as .sync.aligned asks. Throws Fault when
/// some never will.
[[nodiscard]] bool whole_warp(Warp& warp, Mask lanes);

}  // namespace cudamatrix::suite::ptx
