// Tensor memory (PTX ISA, "TensorCore 5th Generation Family Instructions"): its allocation, loads, fences,
// and the forms of all tcgen05 instructions that are known.
#include "kernels/interpreter/tcgen05.hpp"

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/fragment.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

std::uint32_t common(Warp& warp, Slot slot, const char* what) {
    const Row& row = warp.source(slot);
    for (int lane = 1; lane < kLanes; ++lane) {
        if (static_cast<std::uint32_t>(row.lane[lane]) != static_cast<std::uint32_t>(row.lane[0]))
            warp.fault(FaultCode::launch_failure, lane, std::string("the lanes have different ") + what);
    }
    return static_cast<std::uint32_t>(row.lane[0]);
}

std::uint32_t column_count(Warp& warp, Slot slot) {
    const std::uint32_t count = common(warp, slot, "numbers of columns");
    if (count < 32 || count > kTensorColumns || (count & (count - 1)) != 0)
        warp.fault(FaultCode::launch_failure, 0,
                   std::to_string(count) + " columns: expected 32, 64, 128, 256 or 512");
    return count;
}

/// from[0]: where in shared memory the address is written; from[1]: how many columns.
void allocate(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    TensorMemory& memory = warp.block().tensor_memory();
    const std::uint32_t count = column_count(warp, in.from[1]);
    if (memory.relinquished())
        warp.fault(FaultCode::launch_failure, 0, "allocates after tcgen05.relinquish_alloc_permit");
    const std::uint32_t first = memory.allocate(count);
    if (first == kTensorColumns)
        warp.fault(FaultCode::launch_failure, 0,
                   "tensor memory has no " + std::to_string(count) + " columns left: a device would wait");
    const std::uint64_t address = warp.source(in.from[0]).lane[0] + static_cast<std::uint64_t>(in.offset);
    const Place place = locate_shared(warp, in, 0, address, 4);
    check_not_in_flight(warp, 0, place, address, 4);
    record_access(warp, 0, place, 4, AccessKind::write);
    store_value(place.bytes, first, 4);
    std::memset(place.written, 1, 4);
    warp.advance();
}

/// from[0]: address; from[1]: how many columns.
void release(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    TensorMemory& memory = warp.block().tensor_memory();
    const std::uint32_t count = column_count(warp, in.from[1]);
    const TensorColumns columns{common(warp, in.from[0], "addresses"), count};
    const TensorProduct* product = memory.writes(columns);
    if (product != nullptr)
        warp.fault(FaultCode::launch_failure, 0,
                   "deallocates what the tcgen05.mma of PTX line " + std::to_string(product->line) +
                       " writes, which was not waited for");
    if (!memory.release(columns))
        warp.fault(FaultCode::launch_failure, 0,
                   std::to_string(count) + " columns of tensor memory at address " +
                       hex_address(columns.first) + " were not allocated together");
    warp.advance();
}

void relinquish(Warp& warp, const Instruction&, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    warp.block().tensor_memory().relinquish();
    warp.advance();
}

/// Checks that a warp can load these columns.
void check_load(Warp& warp, TensorMemory& memory, std::uint32_t address, const TensorColumns& columns) {
    if (address >> 16 != warp.index() % kWarpgroup * kLanes)
        warp.fault(FaultCode::illegal_address, 0,
                   "lane " + std::to_string(address >> 16) + " of tensor memory: this warp has those from " +
                       std::to_string(warp.index() % kWarpgroup * kLanes) + " on");
    if (!memory.is_allocated(columns))
        warp.fault(FaultCode::illegal_address, 0,
                   std::to_string(columns.count) + " columns of tensor memory at address " +
                       hex_address(columns.first) + " are not allocated");
    const TensorProduct* product = memory.writes(columns);
    if (product != nullptr)
        warp.fault(FaultCode::launch_failure, 0,
                   "loads what the tcgen05.mma of PTX line " + std::to_string(product->line) +
                       " writes, whose commit was not waited for");
    if (!memory.is_written(columns))
        warp.fault(FaultCode::launch_failure, 0, "loads tensor memory that nothing has written");
    if (!memory.sees(warp.index(), columns))
        warp.fault(FaultCode::launch_failure, 0,
                   "needs a tcgen05.fence::after_thread_sync between the end of the tcgen05.mma and this");
}

/// Lane i of the warp loads from lane i of its quarter, one column into each register.
void load_columns(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    TensorMemory& memory = warp.block().tensor_memory();
    const auto& slots = warp.frame().function->lists[static_cast<std::size_t>(in.target)].items;
    const std::uint32_t address =
        common(warp, in.from[0], "addresses") + static_cast<std::uint32_t>(in.offset);
    const TensorColumns columns{address & 0xffff, static_cast<std::uint32_t>(slots.size())};
    check_load(warp, memory, address, columns);
    RegisterMarks& marks = warp.marks();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] < 0) continue;
        Row& to = warp.destination(slots[i]);
        for (std::uint32_t lane = 0; lane < kLanes; ++lane)
            to.lane[lane] =
                memory.cell((address >> 16) + lane, columns.first + static_cast<std::uint32_t>(i));
        marks.in_flight[static_cast<std::size_t>(slots[i])] = RegisterMarks::kLoading;
    }
    warp.advance();
}

void wait_loads(Warp& warp, const Instruction&, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    for (std::uint8_t& mark : warp.marks().in_flight) {
        if (mark == RegisterMarks::kLoading) mark = 0;
    }
    warp.advance();
}

void fence_before(Warp&, const Instruction&, Mask) {}

void fence_after(Warp& warp, const Instruction&, Mask) {
    warp.block().tensor_memory().fence(warp.index());
}

void need_one_block(Decoder& decoder) {
    if (!decoder.take("cta_group::1")) decoder.unsupported("only .cta_group::1 is known");
}

Instruction whole(Decoder& decoder, Handler handler, std::size_t operands) {
    decoder.take_aligned();
    decoder.expect(operands, operands);
    Instruction in = decoder.make(handler);
    in.flow = true;
    return in;
}

void decode_allocation(Decoder& decoder, bool begins) {
    need_one_block(decoder);
    Instruction in = whole(decoder, begins ? allocate : release, 2);
    if (begins) in.space = decoder.take_shared_space();
    if (decoder.take_type() != Type::b32) decoder.unsupported("not for this type");
    if (begins) {
        decoder.address(decoder.operand(0), in);
    } else {
        in.from[0] = decoder.source(0, Type::b32);
    }
    in.from[1] = decoder.source(1, Type::b32);
    decoder.emit(in);
}

void decode_load(Decoder& decoder) {
    Instruction in = whole(decoder, load_columns, 2);
    if (!decoder.take("32x32b")) decoder.unsupported("only .32x32b is known");
    const int count = decoder.take_one_of({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
    if (count < 0) decoder.unsupported("expected .x1 to .x128");
    if (decoder.take_type() != Type::b32) decoder.unsupported("not for this type");
    List list;
    take_fragment(decoder, decoder.operand(0), Element::f16, 1 << count, true, list);
    in.target = decoder.add_list(std::move(list));
    decoder.address(decoder.operand(1), in);
    decoder.emit(in);
}

/// [sums], a, b, instruction, adds: what else there may be is not known.
void decode_tensor_product(Decoder& decoder) {
    need_one_block(decoder);
    if (!decoder.take("kind::f16")) decoder.unsupported("only .kind::f16 is known");
    decoder.expect(5, 5);
    if (decoder.operand(1).kind == OperandKind::address) decoder.unsupported("A in tensor memory");
    Instruction in = decoder.make(multiply_in_tensor_memory);
    decoder.address(decoder.operand(0), in);
    if (in.offset != 0) decoder.unsupported("an offset");
    in.from[1] = decoder.source(1, Type::b64);
    in.from[2] = decoder.source(2, Type::b64);
    in.to2 = decoder.source(3, Type::b32);
    decoder.source_predicate(decoder.operand(4), in);
    decoder.emit(in);
}

void decode_commit(Decoder& decoder) {
    need_one_block(decoder);
    if (!decoder.take("mbarrier::arrive::one")) decoder.unsupported("expected .mbarrier::arrive::one");
    Instruction in = decoder.make(commit_tensor_products);
    in.space = decoder.take("shared::cluster") ? Space::shared : decoder.take_shared_space();
    if (decoder.take_type() != Type::b64) decoder.unsupported("not for this type");
    decoder.expect(1, 1);
    decoder.address(decoder.operand(0), in);
    decoder.emit(in);
}

}  // namespace

void decode_tcgen05(Decoder& decoder) {
    const Module& module = decoder.module();
    constexpr unsigned kTargets[] = {100, 101, 103, 110};
    bool has = false;
    for (const unsigned target : kTargets)
        has = has || (module.target == target && module.variant != 0);
    if (!has)
        decoder.unsupported("needs sm_100a or its family, the module is for sm_" +
                            std::to_string(module.target) +
                            (module.variant == 0 ? std::string() : std::string(1, module.variant)));
    if (decoder.take("alloc")) return decode_allocation(decoder, true);
    if (decoder.take("dealloc")) return decode_allocation(decoder, false);
    if (decoder.take("relinquish_alloc_permit")) {
        need_one_block(decoder);
        return decoder.emit(whole(decoder, relinquish, 0));
    }
    if (decoder.take("mma")) return decode_tensor_product(decoder);
    if (decoder.take("commit")) return decode_commit(decoder);
    if (decoder.take("ld")) return decode_load(decoder);
    if (decoder.take("wait::ld")) return decoder.emit(whole(decoder, wait_loads, 0));
    const int fence = decoder.take_one_of({"fence::before_thread_sync", "fence::after_thread_sync"});
    if (fence < 0) decoder.unsupported("not in this form");
    decoder.expect(0, 0);
    decoder.emit(decoder.make(fence == 0 ? fence_before : fence_after));
}

}  // namespace cudamatrix::suite::ptx
