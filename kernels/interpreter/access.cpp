// ld and st (PTX ISA, "ld", "ldu", "st", "prefetch").
#include "kernels/interpreter/access.hpp"

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum Flag : std::uint8_t { kSigned = 1, kStrong = 2 };

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

Place in_shared(Warp& warp, int lane, std::uint64_t offset, unsigned size) {
    auto& shared = warp.block().shared();
    if (offset > shared.size() || size > shared.size() - offset)
        fault_bounds(warp, lane, offset, size,
                     "of shared memory: the block has " + std::to_string(shared.size()) + " bytes");
    return {shared.data() + offset, warp.block().shared_written().data() + offset, nullptr, offset,
            Space::shared};
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

bool all_written(const std::uint8_t* written, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
        if (written[i] == 0) return false;
    }
    return true;
}

template <typename T>
bool all_written_as(const std::uint8_t* written) {
    T value = 0;
    std::memcpy(&value, written, sizeof value);
    return value == static_cast<T>(0x0101010101010101ULL);
}

std::uint64_t extend(std::uint64_t value, unsigned size, bool is_signed) {
    if (!is_signed || size == 8) return value;
    const unsigned shift = 64 - 8 * size;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

std::int32_t element(const Warp& warp, const Instruction& in, unsigned i, std::int32_t single) {
    return in.count == 1 ? single
                         : const_cast<Warp&>(warp)
                               .frame()
                               .function->lists[static_cast<std::size_t>(in.target)]
                               .items[i];
}

void load(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& base = warp.source(in.from[0]);
    const unsigned size = static_cast<unsigned>(in.width) * in.count;
    const bool races = warp.launch().options.races;
    const bool is_signed = (in.flags & kSigned) != 0;
    Row* to[8];
    for (unsigned i = 0; i < in.count; ++i)
        to[i] = &warp.destination(element(warp, in, i, in.to));
    const Row addresses = base;  // an element of the vector may be the address
    each(lanes, [&](int l) {
        const std::uint64_t address = addresses.lane[l] + static_cast<std::uint64_t>(in.offset);
        const Place place = locate(warp, in, l, address, size);
        if (place.written != nullptr) check_written(warp, l, place, address, size);
        if (races)
            record_access(warp, l, place, size,
                          (in.flags & kStrong) != 0 ? AccessKind::atomic : AccessKind::read);
        for (unsigned i = 0; i < in.count; ++i)
            to[i]->lane[l] = extend(load_value(place.bytes + i * in.width, in.width), in.width, is_signed);
    });
}

/// Does the store write what is there already?
bool has_values(const Place& place, const Instruction& in, const Row* const* from, int lane) {
    if (place.written == nullptr || (in.flags & kStrong) != 0) return false;
    for (unsigned i = 0; i < in.count; ++i) {
        const std::uint8_t* bytes = place.bytes + i * in.width;
        const std::uint64_t used = in.width == 8 ? ~0ULL : (1ULL << 8 * in.width) - 1;
        if (((load_value(bytes, in.width) ^ from[i]->lane[lane]) & used) != 0) return false;
        if (!all_written(place.written + i * in.width, in.width)) return false;
    }
    return true;
}

void store(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& base = warp.source(in.from[0]);
    const unsigned size = static_cast<unsigned>(in.width) * in.count;
    const bool races = warp.launch().options.races;
    const Row* from[8];
    for (unsigned i = 0; i < in.count; ++i)
        from[i] = &warp.source(element(warp, in, i, in.from[1]));
    each(lanes, [&](int l) {
        const std::uint64_t address = base.lane[l] + static_cast<std::uint64_t>(in.offset);
        const Place place = locate(warp, in, l, address, size);
        if (races) {
            const AccessKind kind = (in.flags & kStrong) != 0 ? AccessKind::atomic : AccessKind::write;
            record_access(warp, l, place, size, kind, has_values(place, in, from, l));
        }
        for (unsigned i = 0; i < in.count; ++i)
            store_value(place.bytes + i * in.width, from[i]->lane[l], in.width);
        if (place.written != nullptr) std::memset(place.written, 1, size);
    });
}

void nothing(Warp&, const Instruction&, Mask) {}

/// Hints to caches change no value. True while there are modifiers of that kind.
bool take_hint(Decoder& decoder, Instruction& in) {
    static constexpr std::string_view kStrongWords[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    for (const std::string_view word : kStrongWords) {
        if (!decoder.take(word)) continue;
        in.flags |= kStrong;
        return true;
    }
    return decoder.take_one_of({"weak",
                                "cta",
                                "cluster",
                                "gpu",
                                "sys",
                                "nc",
                                "ca",
                                "cg",
                                "cs",
                                "lu",
                                "cv",
                                "wb",
                                "wt",
                                "L1::evict_normal",
                                "L1::evict_unchanged",
                                "L1::evict_first",
                                "L1::evict_last",
                                "L1::no_allocate",
                                "L2::64B",
                                "L2::128B",
                                "L2::256B"}) >= 0;
}

void decode_prefetch(Decoder& decoder) {
    decoder.take_space();
    if (decoder.take_one_of({"L1", "L2", "L2::evict_last", "L2::evict_normal"}) < 0)
        decoder.unsupported("not in this form");
    decoder.expect(1, 1);
    decoder.emit(decoder.make(nothing));
}

void take_vector(Decoder& decoder, Instruction& in, const Operand& operand, Type type, bool loads) {
    if (operand.kind != OperandKind::vector || operand.elements.size() != in.count)
        decoder.unsupported("expected a vector of " + std::to_string(in.count));
    List list;
    for (const Operand& part : operand.elements) {
        if (!loads && part.kind == OperandKind::none) decoder.unsupported("a missing element");
        list.items.push_back(loads ? decoder.destination(part)
                                   : decoder.source(part, part.kind == OperandKind::reg ? Type::none : type));
    }
    in.target = decoder.add_list(std::move(list));
}

}  // namespace

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

Place locate(Warp& warp, const Instruction& in, int lane, std::uint64_t address, unsigned size) {
    if ((address & (size - 1)) != 0)
        warp.fault(FaultCode::misaligned_address, lane,
                   "address " + hex_address(address) + " is not aligned to " + bytes_text(size));
    switch (in.space) {
        case Space::shared:
            return in_shared(warp, lane, address & (kWindow - 1), size);
        case Space::local:
            return in_local(warp, lane, address & (kWindow - 1), size);
        case Space::param:
            return in_param(warp, lane, address & (kWindow - 1), size, false);
        case Space::generic:
            if (address - kSharedBase < kWindow) return in_shared(warp, lane, address - kSharedBase, size);
            if (address - kLocalBase < kWindow) return in_local(warp, lane, address - kLocalBase, size);
            if (address - kParamBase < kWindow) return in_param(warp, lane, address - kParamBase, size, true);
            return in_global(warp, lane, address, size);
        default:
            return in_global(warp, lane, address, size);
    }
}

void check_written(const Warp& warp, int lane, const Place& place, std::uint64_t address, unsigned size) {
    const bool written = size == 4   ? all_written_as<std::uint32_t>(place.written)
                         : size == 8 ? all_written_as<std::uint64_t>(place.written)
                                     : all_written(place.written, size);
    if (written) return;
    std::string text =
        "reads " + bytes_text(size) + " at address " + hex_address(address) + " that nothing has written";
    if (place.allocation != nullptr)
        text += ", at byte " + std::to_string(place.offset) + " of " + place.allocation->name;
    warp.fault(FaultCode::launch_failure, lane, text);
}

void decode_access(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "prefetch" || name == "prefetchu") return decode_prefetch(decoder);
    const bool loads = name != "st";
    Instruction in = decoder.make(loads ? load : store);
    while (take_hint(decoder, in)) {
    }
    in.space = decoder.take_space();
    while (take_hint(decoder, in)) {
    }
    const int vector = decoder.take_one_of({"v2", "v4", "v8"});
    in.count = static_cast<std::uint8_t>(vector < 0 ? 1 : 2 << vector);
    const Type type = decoder.take_type();
    in.width = static_cast<std::uint8_t>(size_of(type));
    if (type == Type::pred || in.width > 8 || in.width * in.count > 32)
        decoder.unsupported("not for this type");
    if (is_signed(type)) in.flags |= kSigned;
    decoder.expect(2, 2);
    const Operand& value = decoder.operand(loads ? 0 : 1);
    if (in.count > 1) {
        take_vector(decoder, in, value, type, loads);
    } else if (loads) {
        in.to = decoder.destination(value);
    } else {
        // Wider registers give their low bits.
        in.from[1] = decoder.source(value, value.kind == OperandKind::reg ? Type::none : type);
    }
    if (value.kind == OperandKind::reg && size_of(value.type) < in.width)
        decoder.unsupported("a register that is too small");
    decoder.address(decoder.operand(loads ? 1 : 0), in);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
