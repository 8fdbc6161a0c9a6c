// ld and st (PTX ISA, "ld", "ldu", "st", "prefetch").
#include "kernels/interpreter/access.hpp"

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum AccessFlag : std::uint8_t { kSigned = 1, kStrong = 2, kReleases = 4 };

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

/// A strong load, which may be one of those that grid.sync waits with.
void strong_load(Warp& warp, const Instruction& in, Mask lanes) {
    if (lanes == 0) return warp.advance();
    const Allocation* workspace = warp.launch().workspace;
    const int first = __builtin_ctz(lanes);
    const std::uint64_t address = warp.source(in.from[0]).lane[first] + static_cast<std::uint64_t>(in.offset);
    const bool waits = workspace != nullptr && address - workspace->address < workspace->size;
    load(warp, in, lanes);
    warp.advance();
    if (waits) warp.pause();
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
    const AccessKind kind = (in.flags & kReleases) != 0 ? AccessKind::release
                            : (in.flags & kStrong) != 0 ? AccessKind::atomic
                                                        : AccessKind::write;
    const Row* from[8];
    for (unsigned i = 0; i < in.count; ++i)
        from[i] = &warp.source(element(warp, in, i, in.from[1]));
    each(lanes, [&](int l) {
        const std::uint64_t address = base.lane[l] + static_cast<std::uint64_t>(in.offset);
        const Place place = locate(warp, in, l, address, size);
        check_not_in_flight(warp, l, place, address, size);
        const auto is_silent = [&] { return has_values(place, in, from, l); };
        if (races) check_access(warp, l, place, size, kind, std::cref(is_silent));
        for (unsigned i = 0; i < in.count; ++i)
            store_value(place.bytes + i * in.width, from[i]->lane[l], in.width);
        if (place.written != nullptr) std::memset(place.written, 1, size);
        if (races) publish_access(warp, l, place, size, kind);
    });
}

void no_access(Warp&, const Instruction&, Mask) {}

/// Hints to caches change no value. True while there are modifiers of that kind.
bool take_hint(Decoder& decoder, Instruction& in) {
    static constexpr std::string_view kStrongWords[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    for (const std::string_view word : kStrongWords) {
        if (!decoder.take(word)) continue;
        in.flags |= word == "release" ? kStrong | kReleases : kStrong;
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
    if (decoder.take_one_of({"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"}) < 0)
        decoder.unsupported("not in this form");
    decoder.expect(1, 1);
    decoder.emit(decoder.make(no_access));
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
    if (loads && (in.flags & kStrong) != 0) {
        in.handler = strong_load;
        in.flow = true;
    }
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
