// Where accesses go, and what is known of the bytes there.
#include "kernels/interpreter/access.hpp"
#include "kernels/interpreter/gang.hpp"

namespace cudamatrix::suite::ptx {
namespace {

std::string bytes_text(unsigned size) {
    return std::to_string(size) + (size == 1 ? " byte" : " bytes");
}

[[noreturn]] void fault_bounds(const Warp& warp, int lane, std::uint64_t address, unsigned size,
                               const std::string& why) {
    warp.fault(FaultCode::illegal_address, lane,
               bytes_text(size) + " at address " + hex_address(address) + " " + why);
}

[[noreturn]] void fault_global(Warp& warp, int lane, std::uint64_t address, unsigned size) {
    const Allocation* begin = warp.launch().memory.find(address);
    if (begin != nullptr)
        fault_bounds(warp, lane, address, size,
                     "reach over the end of " + begin->name + " (" + std::to_string(begin->size) +
                         " bytes at " + hex_address(begin->address) + ")");
    if (address < kGlobalBase || address >= kSharedBase)
        fault_bounds(warp, lane, address, size, "are not in device memory: is it a pointer of the host?");
    fault_bounds(warp, lane, address, size, "lie " + warp.launch().memory.describe(address));
}

Place in_global(Warp& warp, int lane, std::uint64_t address, unsigned size) {
    const Allocation*& recent = warp.recent();
    if (recent == nullptr || address - recent->address >= recent->size ||
        size > recent->size - (address - recent->address)) {
        recent = warp.launch().memory.find(address, size);
        if (recent == nullptr) fault_global(warp, lane, address, size);
    }
    const std::uint64_t offset = address - recent->address;
    return {recent->bytes.get() + offset, recent->written.get() + offset, recent, offset, Space::global};
}

Place in_shared(Warp& warp, Block& owner, int lane, std::uint64_t offset, unsigned size) {
    auto& shared = owner.shared();
    if (offset > shared.size() || size > shared.size() - offset)
        fault_bounds(warp, lane, offset, size,
                     "of shared memory: the block has " + std::to_string(shared.size()) + " bytes");
    return {shared.data() + offset,
            owner.shared_written().data() + offset,
            nullptr,
            offset,
            Space::shared,
            &owner};
}

/// By a generic address: of this block, or of another one of its cluster, which must still be there.
Place in_cluster(Warp& warp, int lane, std::uint64_t offset, unsigned size) {
    if (offset < kSharedOfBlock) return in_shared(warp, warp.block(), lane, offset, size);
    const std::uint64_t rank = offset / kSharedOfBlock - 1;
    if (rank >= warp.block().gang().numbers().size())
        fault_bounds(warp, lane, offset, size, "of shared memory: the cluster has no such block");
    return in_shared(warp, block_of_cluster(warp, lane, rank), lane, offset % kSharedOfBlock, size);
}

Place in_local(Warp& warp, int lane, std::uint64_t offset, unsigned size) {
    LocalMemory& local = warp.local(lane);
    const std::uint64_t top = warp.frame().local_base + warp.frame().function->local_size;
    if (offset > top || size > top - offset)
        fault_bounds(warp, lane, offset, size,
                     "of local memory: the thread has " + std::to_string(top) + " bytes");
    return {local.bytes.data() + offset, local.written.data() + offset, nullptr, offset, Space::local};
}

/// `kernel`: of the kernel, whatever function this is.
Place in_param(Warp& warp, int lane, std::uint64_t offset, unsigned size, bool kernel) {
    const Function& function = *warp.frame().function;
    const auto& parameters = warp.launch().request.parameters;
    if (kernel || offset < function.kernel_param_size) {
        if (offset > parameters.size() || size > parameters.size() - offset)
            fault_bounds(warp, lane, offset, size,
                         "of the parameters, which have " + std::to_string(parameters.size()) + " bytes");
        return {const_cast<std::uint8_t*>(parameters.data()) + offset, nullptr, nullptr, offset,
                Space::param};
    }
    if (offset > function.param_size || size > function.param_size - offset)
        fault_bounds(warp, lane, offset, size,
                     "of the parameters, which have " + std::to_string(function.param_size) + " bytes");
    const std::size_t at = static_cast<std::size_t>(lane) * function.param_size + offset;
    return {warp.frame().params.data() + at, warp.frame().params_written.data() + at, nullptr, offset,
            Space::param};
}

/// Throws Fault, which begins with `what`, when cp.async copies to one of the bytes.
void check_in_flight(Warp& warp, int lane, const Place& place, const std::string& what, unsigned size) {
    const Copy* copy =
        place.space == Space::shared ? place.owner->copies().find(place.offset, size) : nullptr;
    if (copy != nullptr)
        warp.fault(FaultCode::launch_failure, lane,
                   what + " to which a copy is under way: cp.async not waited for (PTX line " +
                       std::to_string(copy->line) + ")");
    const BulkCopy* bulk =
        place.space == Space::shared ? place.owner->bulk_copies().find(place.offset, size) : nullptr;
    if (bulk != nullptr)
        warp.fault(FaultCode::launch_failure, lane,
                   what + " to which a copy is under way: cp.async.bulk not waited for (PTX line " +
                       std::to_string(bulk->line) + ")");
}

template <typename T>
bool all_written_as(const std::uint8_t* written) {
    T value = 0;
    std::memcpy(&value, written, sizeof value);
    return value == static_cast<T>(0x0101010101010101ULL);
}

}  // namespace

bool all_written(const std::uint8_t* written, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
        if (written[i] != 1) return false;
    }
    return true;
}

std::uint64_t load_value(const std::uint8_t* bytes, unsigned size) {
    switch (size) {
        case 1:
            return __atomic_load_n(bytes, __ATOMIC_RELAXED);
        case 2:
            return __atomic_load_n(reinterpret_cast<const std::uint16_t*>(bytes), __ATOMIC_RELAXED);
        case 4:
            return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(bytes), __ATOMIC_RELAXED);
        default:
            return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(bytes), __ATOMIC_RELAXED);
    }
}

void store_value(std::uint8_t* bytes, std::uint64_t value, unsigned size) {
    switch (size) {
        case 1:
            return __atomic_store_n(bytes, static_cast<std::uint8_t>(value), __ATOMIC_RELAXED);
        case 2:
            return __atomic_store_n(reinterpret_cast<std::uint16_t*>(bytes),
                                    static_cast<std::uint16_t>(value), __ATOMIC_RELAXED);
        case 4:
            return __atomic_store_n(reinterpret_cast<std::uint32_t*>(bytes),
                                    static_cast<std::uint32_t>(value), __ATOMIC_RELAXED);
        default:
            return __atomic_store_n(reinterpret_cast<std::uint64_t*>(bytes), value, __ATOMIC_RELAXED);
    }
}

void check_aligned(const Warp& warp, int lane, std::uint64_t address, unsigned size) {
    if ((address & (size - 1)) != 0)
        warp.fault(FaultCode::misaligned_address, lane,
                   "address " + hex_address(address) + " is not aligned to " + bytes_text(size));
}

std::uint64_t cluster_size(Warp& warp, int lane) {
    const Gang& gang = warp.block().gang();
    if (gang.is_whole_grid())
        warp.fault(FaultCode::illegal_instruction, lane,
                   "not supported by the interpreter: clusters in a cooperative launch");
    return gang.numbers().size();
}

Block& block_of_cluster(Warp& warp, int lane, std::uint64_t rank) {
    Block& block = warp.block().gang().at(rank);
    if (block.ended())
        warp.fault(FaultCode::illegal_address, lane,
                   "the shared memory of block " + text_of(block.id()) + ", which has ended");
    return block;
}

Place locate_shared(Warp& warp, const Instruction& in, int lane, std::uint64_t address, unsigned size) {
    const Place place = locate(warp, in, lane, address, size);
    if (place.space != Space::shared)
        warp.fault(FaultCode::illegal_address, lane,
                   "address " + hex_address(address) + " is not in shared memory");
    if (place.owner != &warp.block() && in.space != Space::cluster)
        warp.fault(FaultCode::illegal_instruction, lane,
                   "not supported by the interpreter: shared memory of another block here");
    return place;
}

Place locate(Warp& warp, const Instruction& in, int lane, std::uint64_t address, unsigned size) {
    check_aligned(warp, lane, address, size);
    switch (in.space) {
        case Space::shared:
            return in_shared(warp, warp.block(), lane, address & (kWindow - 1), size);
        case Space::cluster:
            return in_cluster(warp, lane, address & (kWindow - 1), size);
        case Space::local:
            return in_local(warp, lane, address & (kWindow - 1), size);
        case Space::param:
            return in_param(warp, lane, address & (kWindow - 1), size, false);
        case Space::generic:
            if (address - kSharedBase < kWindow) return in_cluster(warp, lane, address - kSharedBase, size);
            if (address - kLocalBase < kWindow) return in_local(warp, lane, address - kLocalBase, size);
            if (address - kParamBase < kWindow) return in_param(warp, lane, address - kParamBase, size, true);
            return in_global(warp, lane, address, size);
        default:
            return in_global(warp, lane, address, size);
    }
}

void check_written(Warp& warp, int lane, const Place& place, std::uint64_t address, unsigned size) {
    const bool written = size == 4   ? all_written_as<std::uint32_t>(place.written)
                         : size == 8 ? all_written_as<std::uint64_t>(place.written)
                                     : all_written(place.written, size);
    if (written) return;
    check_in_flight(warp, lane, place, "reads " + bytes_text(size) + " at address " + hex_address(address),
                    size);
    std::string text =
        "reads " + bytes_text(size) + " at address " + hex_address(address) + " that nothing has written";
    if (place.allocation != nullptr)
        text += ", at byte " + std::to_string(place.offset) + " of " + place.allocation->name;
    warp.fault(FaultCode::launch_failure, lane, text);
}

void check_not_in_flight(Warp& warp, int lane, const Place& place, std::uint64_t address, unsigned size) {
    if (place.space != Space::shared) return;
    if (!place.owner->copies().any() && !place.owner->bulk_copies().any()) return;
    if (std::memchr(place.written, kInFlight, size) == nullptr) return;
    check_in_flight(warp, lane, place, "writes " + bytes_text(size) + " at address " + hex_address(address),
                    size);
}

}  // namespace cudamatrix::suite::ptx
