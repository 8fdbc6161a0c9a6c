// tcgen05.mma (PTX ISA, "TensorCore 5th Generation Family Instructions"), of 16-bit elements that lie in
// shared memory, by one block. A product is made when it is issued; nobody may look at it, or change what it
// reads, before the mbarrier of its commit was waited for.
#include <algorithm>
#include <vector>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/mbarrier.hpp"
#include "kernels/interpreter/tcgen05.hpp"
#include "kernels/interpreter/wgmma.hpp"

namespace cudamatrix::suite::ptx {
namespace {

/// PTX ISA, "Instruction Descriptor", of .kind::f16.
struct TensorInstruction {
    static constexpr std::uint32_t kReserved = 3U << 30 | 1U << 29 | 1U << 23 | 1U << 6 | 1U << 3;
    static constexpr std::uint32_t kSparse = 7;

    Element a = Element::f16;
    Element b = Element::f16;
    bool negates = false;
    bool a_k_major = true;
    bool b_k_major = true;
    std::uint32_t m = 0;
    std::uint32_t n = 0;
};

TensorInstruction instruction_of(Warp& warp, int lane, std::uint32_t bits) {
    const auto refuse = [&](const char* why) {
        warp.fault(FaultCode::illegal_instruction, lane,
                   std::string("not supported by the interpreter: an instruction descriptor with ") + why);
    };
    const auto wrong = [&](const std::string& why) {
        warp.fault(FaultCode::launch_failure, lane, "instruction descriptor: " + why);
    };
    if ((bits & TensorInstruction::kReserved) != 0) wrong("bits that must be 0 are set");
    if ((bits & TensorInstruction::kSparse) != 0) refuse("sparsity");
    if ((bits >> 4 & 3) != 1) refuse("sums that are not float32");
    const std::uint32_t a = bits >> 7 & 7;
    const std::uint32_t b = bits >> 10 & 7;
    if (a > 1 || b > 1) wrong("types that .kind::f16 does not have");
    TensorInstruction result;
    result.a = a == 1 ? Element::bf16 : Element::f16;
    result.b = b == 1 ? Element::bf16 : Element::f16;
    result.negates = (bits >> 13 & 1) != (bits >> 14 & 1);
    result.a_k_major = (bits >> 15 & 1) == 0;
    result.b_k_major = (bits >> 16 & 1) == 0;
    result.n = (bits >> 17 & 63) * 8;
    result.m = (bits >> 24 & 31) * 16;
    if (result.m == 64) refuse("M of 64");
    if (result.m != kTensorLanes) wrong("M of " + std::to_string(result.m) + ": expected 64 or 128");
    if (result.n < 16 || result.n > 256 || result.n % 16 != 0)
        wrong("N of " + std::to_string(result.n) + ": expected a multiple of 16 up to 256");
    return result;
}

/// Descriptors are those of wgmma but for the number of the swizzle, and a version.
SharedMatrix tensor_operand(Warp& warp, int lane, std::uint64_t bits, bool is_a,
                            const TensorInstruction& form) {
    const std::string name = is_a ? "descriptor of A: " : "descriptor of B: ";
    const auto refuse = [&](const char* why) {
        warp.fault(FaultCode::illegal_instruction, lane, "not supported by the interpreter: " + name + why);
    };
    if ((bits >> 46 & 7) != 1)
        warp.fault(FaultCode::launch_failure, lane, name + "bits 46 to 48 are not 1, 0, 0");
    if ((bits >> 52 & 1) != 0) refuse("an absolute address of the leading dimension");
    const auto swizzle = static_cast<unsigned>(bits >> 61);
    if (swizzle == 1) refuse("a swizzle by 32 bytes");
    if (swizzle % 2 != 0) warp.fault(FaultCode::launch_failure, lane, name + "a swizzle that there is not");
    const std::uint64_t old = (bits & ~(7ULL << 46) & ~(7ULL << 61)) | std::uint64_t{swizzle / 2} << 62;
    SharedMatrix matrix;
    matrix.descriptor = MatrixDescriptor::unpack(old);
    matrix.k_major = is_a ? form.a_k_major : form.b_k_major;
    matrix.is_a = is_a;
    matrix.extent = is_a ? form.m : form.n;
    matrix.k = 16;
    bool known = true;
    const std::string wrong = fault_of(old, matrix.k_major, matrix.extent, known);
    if (!known) refuse(wrong.c_str());
    if (!wrong.empty()) warp.fault(FaultCode::launch_failure, lane, name + wrong);
    return matrix;
}

void sum_up(TensorMemory& memory, const TensorInstruction& form, const TensorProduct& product, Block& block,
            bool adds) {
    constexpr std::size_t kDepth = 16;
    std::vector<double> a(form.m * kDepth);
    std::vector<double> b(form.n * kDepth);
    read_matrix(block, product.reads[0], form.a, a.data());
    read_matrix(block, product.reads[1], form.b, b.data());
    std::vector<double> rows(form.n * kDepth);  // B by rows of K
    for (std::size_t n = 0; n < form.n; ++n) {
        for (std::size_t k = 0; k < kDepth; ++k)
            rows[k * form.n + n] = form.negates ? -b[n * kDepth + k] : b[n * kDepth + k];
    }
    std::vector<double> sums(form.n);
    for (std::uint32_t row = 0; row < form.m; ++row) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t k = 0; k < kDepth; ++k) {
            const double x = a[row * kDepth + k];
            const double* y = rows.data() + k * form.n;
            for (std::size_t n = 0; n < form.n; ++n)
                sums[n] += x * y[n];
        }
        for (std::uint32_t n = 0; n < form.n; ++n) {
            std::uint32_t& cell = memory.cell(row, product.sums.first + n);
            const double before = adds ? element_value(Element::f32, cell) : 0.0;
            cell = static_cast<std::uint32_t>(element_bits(Element::f32, before + sums[n], false));
        }
    }
}

}  // namespace

void end_tensor_products(Warp& warp, int lane, std::uint64_t mbarrier, std::uint64_t phase) {
    for (const TensorProduct& product : warp.block().tensor_memory().wait(mbarrier, phase)) {
        if (sum_of_reads(warp, lane, product.reads, false) == product.checksum) continue;
        warp.fault(FaultCode::launch_failure, lane,
                   "what the tcgen05.mma of PTX line " + std::to_string(product.line) +
                       " reads was changed before it had ended");
    }
}

/// from[0]: address of the sums; from[1], from[2]: descriptors of A and B; to2: that of the instruction; the
/// predicate: whether it adds.
void multiply_in_tensor_memory(Warp& warp, const Instruction& in, Mask lanes) {
    Block& block = warp.block();
    TensorMemory& memory = block.tensor_memory();
    const Mask adds = warp.source_predicate(in);
    each(lanes, [&](int lane) {
        const auto address = static_cast<std::uint32_t>(warp.source(in.from[0]).lane[lane]);
        const TensorInstruction form =
            instruction_of(warp, lane, static_cast<std::uint32_t>(warp.source(in.to2).lane[lane]));
        TensorProduct product;
        product.line = in.line;
        product.thread = warp.index() * kLanes + static_cast<std::uint32_t>(lane);
        product.sums = {address & 0xffff, form.n};
        if (address >> 16 != 0 || !memory.is_allocated(product.sums))
            warp.fault(FaultCode::illegal_address, lane,
                       std::to_string(form.n) + " columns of tensor memory at address " +
                           hex_address(address) + " are not allocated");
        product.reads.push_back(tensor_operand(warp, lane, warp.source(in.from[1]).lane[lane], true, form));
        product.reads.push_back(tensor_operand(warp, lane, warp.source(in.from[2]).lane[lane], false, form));
        product.checksum = sum_of_reads(warp, lane, product.reads, true);
        const bool adds_here = (adds >> lane & 1) != 0;
        if (adds_here && !memory.is_written(product.sums))
            warp.fault(FaultCode::launch_failure, lane, "adds to tensor memory that nothing has written");
        sum_up(memory, form, product, block, adds_here);
        memory.set_written(product.sums);
        memory.add(std::move(product));
    });
}

/// The arrival is made at once: it is the sums that are there only for who has seen the phase end.
void commit_tensor_products(Warp& warp, const Instruction& in, Mask lanes) {
    Block& block = warp.block();
    each(lanes, [&](int lane) {
        const Place place = locate_mbarrier(warp, in, lane);
        const std::uint64_t phase = Mbarrier::unpack(load_value(place.bytes, 8)).phase;
        block.tensor_memory().commit(warp.index() * kLanes + static_cast<std::uint32_t>(lane), place.offset,
                                     phase);
        arrive_at(warp, lane, place, 1);
    });
    block.tick(warp.index());
}

}  // namespace cudamatrix::suite::ptx
