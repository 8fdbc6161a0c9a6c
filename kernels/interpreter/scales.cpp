// Scales of blocks of mma.sync (PTX ISA, "Block Scaling for mma.sync").
#include "kernels/interpreter/fragment.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::size_t kSlots = 3;  ///< of one matrix: scales, byte-id, thread-id

/// A selector, which is the same in all lanes.
unsigned selector_of(Warp& warp, std::int32_t slot, const char* name) {
    const Row& row = warp.source(slot);
    const auto value = static_cast<unsigned>(row.lane[0] & 0xffff);
    for (int lane = 1; lane < kLanes; ++lane) {
        const auto other = static_cast<unsigned>(row.lane[lane] & 0xffff);
        if (other != value)
            warp.fault(FaultCode::launch_failure, lane,
                       std::string(name) + " is " + std::to_string(other) + ", and " + std::to_string(value) +
                           " in lane 0");
    }
    return value;
}

/// One scale; what bits beyond its format mean nobody says.
double scale_of(Warp& warp, Element element, int lane, std::uint64_t bits) {
    if (element == Element::ue4m3 && (bits & 0x80) != 0)
        warp.fault(FaultCode::launch_failure, lane, "the scale " + hex_address(bits) + " is no ue4m3");
    return element_value(element, bits);
}

/// The matrix that scales belong to: M rows of A or N columns of B, which is `lines` of them.
struct Scaled {
    const char* byte_id;
    const char* thread_id;
    int lines;
    unsigned threads;  ///< values of the thread-id
};

/// Where the scales of a line are. Of A two lanes of each group of four have them, the first those of the row
/// that the group has the number of, the second of the row 8 below; of B one lane.
int lane_of(const Scaled& of, int line, unsigned thread) {
    const int within = of.lines == 16 ? 2 * static_cast<int>(thread) + line / 8 : static_cast<int>(thread);
    return 4 * (line % 8) + within;
}

/// Multiplies element `at(line, k)` by its scale, for all.
template <typename At>
void scale(Warp& warp, const Product& p, const std::int32_t* slots, const Scaled& of, At at) {
    const Row& data = warp.source(slots[0]);
    const unsigned byte = selector_of(warp, slots[1], of.byte_id);
    const unsigned thread = selector_of(warp, slots[2], of.thread_id);
    const auto chunks = static_cast<unsigned>(p.chunks);
    if (byte % chunks != 0 || byte >= 4)
        warp.fault(FaultCode::launch_failure, 0,
                   std::string(of.byte_id) + " " + std::to_string(byte) + ": expected " +
                       (chunks == 4   ? "0"
                        : chunks == 2 ? "0 or 2"
                                      : "0 to 3"));
    if (thread >= of.threads)
        warp.fault(FaultCode::launch_failure, 0,
                   std::string(of.thread_id) + " " + std::to_string(thread) + ": expected 0 to " +
                       std::to_string(of.threads - 1));
    for (int line = 0; line < of.lines; ++line) {
        const int lane = lane_of(of, line, thread);
        for (unsigned chunk = 0; chunk < chunks; ++chunk) {
            const std::uint64_t bits = data.lane[lane] >> 8 * (byte + chunk) & 0xff;
            const double factor = scale_of(warp, p.scale, lane, bits);
            const int length = p.shape.k / p.chunks;
            for (int k = 0; k < length; ++k)
                at(line, static_cast<int>(chunk) * length + k) *= factor;
        }
    }
}

/// {byte-id, thread-id}
void take_selectors(Decoder& decoder, const Operand& operand, List& list) {
    if (operand.kind != OperandKind::vector || operand.elements.size() != 2)
        decoder.unsupported("expected {byte-id, thread-id}, found " + found(operand.token));
    for (const Operand& part : operand.elements) {
        if (part.kind == OperandKind::none) decoder.unsupported("a missing element");
        list.items.push_back(decoder.source(part, Type::u16));
    }
}

}  // namespace

void take_scales(Decoder& decoder, List& list) {
    for (std::size_t i = 4; i < 8; i += 2) {
        const Operand& data = decoder.operand(i);
        // {%r1} is how CUTLASS writes it.
        const bool braces = data.kind == OperandKind::vector && data.elements.size() == 1;
        const Operand& scales = braces ? data.elements[0] : data;
        if (scales.kind != OperandKind::reg)
            decoder.unsupported("expected a register of scales, found " + found(data.token));
        list.items.push_back(decoder.source(scales, Type::b32));
        take_selectors(decoder, decoder.operand(i + 1), list);
    }
}

void apply_scales(Warp& warp, const Product& product, const std::int32_t* slots, double* a, double* b) {
    const Shape& shape = product.shape;
    scale(warp, product, slots, {"byte-id-a", "thread-id-a", shape.m, 2},
          [&](int row, int k) -> double& { return a[row * shape.k + k]; });
    scale(warp, product, slots + kSlots, {"byte-id-b", "thread-id-b", shape.n, 4},
          [&](int column, int k) -> double& { return b[k * shape.n + column]; });
}

}  // namespace cudamatrix::suite::ptx
