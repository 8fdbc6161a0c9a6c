// Bits and fields (PTX ISA, "popc" ... "prmt", "shf").
#include <algorithm>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

template <typename F>
void one(Warp& warp, const Instruction& in, Mask lanes, F f) {
    const Row& a = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    const std::uint64_t used = in.width == 8 ? ~0ULL : 0xffffffff;
    each(lanes, [&](int l) { to.lane[l] = f(a.lane[l] & used); });
}

void population(Warp& warp, const Instruction& in, Mask lanes) {
    one(warp, in, lanes, [](std::uint64_t a) { return static_cast<std::uint64_t>(__builtin_popcountll(a)); });
}

void leading_zeros(Warp& warp, const Instruction& in, Mask lanes) {
    const int bits = 8 * in.width;
    one(warp, in, lanes, [bits](std::uint64_t a) {
        return static_cast<std::uint64_t>(a == 0 ? bits : __builtin_clzll(a) - (64 - bits));
    });
}

void reversed(Warp& warp, const Instruction& in, Mask lanes) {
    const int bits = 8 * in.width;
    one(warp, in, lanes, [bits](std::uint64_t a) {
        std::uint64_t result = 0;
        for (int i = 0; i < bits; ++i)
            result |= (a >> i & 1) << (bits - 1 - i);
        return result;
    });
}

/// flags: 1 signed, 2 .shiftamt.
void find_bit(Warp& warp, const Instruction& in, Mask lanes) {
    const int bits = 8 * in.width;
    one(warp, in, lanes, [&](std::uint64_t a) {
        if ((in.flags & 1) != 0 && (a >> (bits - 1) & 1) != 0) a = ~a & (bits == 64 ? ~0ULL : 0xffffffff);
        if (a == 0) return std::uint64_t{0xffffffff};
        const int place = 63 - __builtin_clzll(a);
        return static_cast<std::uint64_t>((in.flags & 2) != 0 ? bits - 1 - place : place);
    });
}

/// flags: 1 signed.
void extract_field(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    const unsigned bits = 8U * in.width;
    each(lanes, [&](int l) {
        const auto place = static_cast<unsigned>(b.lane[l] & 255);
        const auto length = static_cast<unsigned>(c.lane[l] & 255);
        const bool is_signed = (in.flags & 1) != 0;
        const unsigned top = std::min(place + length - 1, bits - 1);
        const bool sign = is_signed && length != 0 && (a.lane[l] >> top & 1) != 0;
        std::uint64_t result = 0;
        for (unsigned i = 0; i < bits; ++i) {
            const bool inside = i < length && place + i < bits;
            result |= static_cast<std::uint64_t>(inside ? a.lane[l] >> (place + i) & 1 : sign ? 1 : 0) << i;
        }
        to.lane[l] = result;
    });
}

/// from: what is put in, into what, place; `target`: the slot of the length.
void insert_field(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    const Row& d = warp.source(in.target);
    Row& to = warp.destination(in.to);
    const unsigned bits = 8U * in.width;
    each(lanes, [&](int l) {
        const auto place = static_cast<unsigned>(c.lane[l] & 255);
        const auto length = static_cast<unsigned>(d.lane[l] & 255);
        std::uint64_t result = b.lane[l];
        for (unsigned i = 0; i < length && place + i < bits; ++i)
            result = (result & ~(1ULL << (place + i))) | (a.lane[l] >> i & 1) << (place + i);
        to.lane[l] = result;
    });
}

/// prmt without a mode: each of four selectors takes a byte of {b, a}, or its sign.
void permute(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const std::uint64_t both = b.lane[l] << 32 | (a.lane[l] & 0xffffffff);
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const auto selector = static_cast<unsigned>(c.lane[l] >> (4 * i) & 15);
            std::uint64_t byte = both >> (8 * (selector & 7)) & 255;
            if ((selector & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
            result |= byte << (8 * i);
        }
        to.lane[l] = result;
    });
}

/// shf: flags 1 right, 2 wrap.
void funnel_shift(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const auto amount = static_cast<std::uint32_t>(c.lane[l]);
        const unsigned by = (in.flags & 2) != 0 ? amount & 31 : std::min<std::uint32_t>(amount, 32);
        const std::uint64_t both = b.lane[l] << 32 | (a.lane[l] & 0xffffffff);
        to.lane[l] = ((in.flags & 1) != 0 ? both >> by : both << by >> 32) & 0xffffffff;
        if ((in.flags & 1) == 0 && by == 32) to.lane[l] = both & 0xffffffff;
    });
}

struct BitRow {
    std::string_view name;
    Handler handler;
    std::size_t sources;
    bool bits;       ///< for .b types, otherwise for .u and .s
    unsigned words;  ///< from this source on, sources are .u32
};
constexpr BitRow kBits[] = {
    {"popc", population, 1, true, 9}, {"clz", leading_zeros, 1, true, 9},  {"brev", reversed, 1, true, 9},
    {"bfind", find_bit, 1, false, 9}, {"bfe", extract_field, 3, false, 1}, {"bfi", insert_field, 4, true, 2},
    {"prmt", permute, 3, true, 1},    {"shf", funnel_shift, 3, true, 2},
};

}  // namespace

void decode_bits(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    const BitRow& row = decoder.row_of(kBits);
    unsigned flags = 0;
    if (name == "bfind" && decoder.take("shiftamt")) flags |= 2;
    if (name == "shf") {
        const int direction = decoder.take_one_of({"l", "r"});
        const int mode = decoder.take_one_of({"clamp", "wrap"});
        if (direction < 0 || mode < 0) decoder.unsupported("not in this form");
        flags |= static_cast<unsigned>(direction | mode << 1);
    }
    const Type type = decoder.take_type();
    const bool only_words = name == "prmt" || name == "shf";
    if (is_bits(type) != row.bits || is_floating(type) || size_of(type) < 4 ||
        size_of(type) > (only_words ? 4 : 8))
        decoder.unsupported("not for this type");
    if (is_signed(type)) flags |= 1;
    Instruction in = decoder.make(row.handler);
    in.flags = static_cast<std::uint8_t>(flags);
    in.width = static_cast<std::uint8_t>(size_of(type));
    decoder.expect(row.sources + 1, row.sources + 1);
    in.to = decoder.destination(0);
    for (std::size_t i = 0; i < row.sources; ++i) {
        const Slot slot = decoder.source(i + 1, i >= row.words ? Type::u32 : type);
        (i < 3 ? in.from[i] : in.target) = slot;
    }
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
