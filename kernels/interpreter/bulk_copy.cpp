// cp.async.bulk.tensor from global to shared memory (PTX ISA, "Data Movement and Conversion Instructions:
// Tensor copy"), of one block or of several ones of its cluster. A copy reads its source and completes its
// transactions when it is issued, and its bytes are in shared memory once somebody has waited for that phase
// of its mbarrier.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/gang.hpp"
#include "kernels/interpreter/mbarrier.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/tensor_map.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::uint64_t kDestinationAlign = 128;
constexpr std::uint32_t kChunk = 16;
constexpr unsigned kMbarrierSize = 8;
constexpr unsigned kBitsOfMask = 16;

/// In the list of an instruction: offset of the destination and of the map, then coordinates, then the mask
/// of a multicast.
constexpr std::size_t kFirstCoordinate = 2;

enum CopyFlag : std::uint8_t { kMulticast = 1 };

TensorMap read_map(Warp& warp, const Instruction& in, int lane, std::uint64_t address) {
    if (address % kTensorMapAlign != 0)
        warp.fault(FaultCode::misaligned_address, lane,
                   "address " + hex_address(address) + " of a tensor map is not aligned to 64 bytes");
    Instruction from = in;
    from.space = Space::generic;
    std::uint8_t bytes[kTensorMapSize];
    for (unsigned at = 0; at < kTensorMapSize; at += 8) {
        const Place place = locate(warp, from, lane, address + at, 8);
        if (place.written != nullptr) check_written(warp, lane, place, address + at, 8);
        std::memcpy(bytes + at, place.bytes, 8);
    }
    TensorMap map;
    std::memcpy(&map, bytes, sizeof map);
    if (!map.valid())
        warp.fault(FaultCode::launch_failure, lane,
                   "there is no tensor map at address " + hex_address(address));
    if (map.rank != in.count)
        warp.fault(FaultCode::launch_failure, lane,
                   "a copy of " + std::to_string(in.count) + " dimensions by a tensor map of " +
                       std::to_string(map.rank));
    return map;
}

/// One lane's copy.
class TensorCopy {
  public:
    TensorCopy(Warp& warp, const Instruction& in, int lane, const TensorMap& map)
        : warp_(warp), in_(in), lane_(lane), map_(map) {
        in_.space = Space::global;
        inner_ = std::uint64_t{map.box[0]} * map.element;
        for (unsigned i = 1; i < map.rank; ++i)
            rows_ *= map.box[i];
    }

    void read(const std::int32_t* coordinates) {
        bytes_.assign(rows_ * inner_, 0);
        for (std::uint64_t row = 0; row < rows_; ++row) {
            std::uint64_t address = map_.address;
            std::uint64_t rest = row;
            bool inside = true;
            for (unsigned i = 1; i < map_.rank; ++i) {
                const std::int64_t at = coordinates[i] + static_cast<std::int64_t>(rest % map_.box[i]);
                rest /= map_.box[i];
                inside = inside && at >= 0 && at <= map_.last[i];
                address += static_cast<std::uint64_t>(at) * map_.strides[i - 1];
            }
            if (inside) read_row(address, coordinates[0], row * inner_);
        }
    }

    /// The box lies row behind row from `to` on in the block, each 16 bytes of it where the swizzle has them.
    /// Its end, for which the mbarrier waits, is at once.
    void write(Block& block, std::uint64_t to, std::uint64_t mbarrier) {
        const Place barrier = block.shared_place(mbarrier);
        check_mbarrier(warp_, lane_, barrier, mbarrier);
        BulkCopy copy;
        for (std::uint64_t at = 0; at < bytes_.size(); at += kChunk) {
            const Place place = block.shared_place(swizzled(map_.swizzle, to + at));
            check_not_in_flight(warp_, lane_, place, place.offset, kChunk);
            record_access(warp_, lane_, place, kChunk, AccessKind::write);
            copy.pieces.push_back({place.offset, kChunk});
        }
        for (const BulkPiece& piece : copy.pieces)
            std::memset(block.shared_written().data() + piece.to, kInFlight, piece.size);
        copy.line = in_.line;
        copy.mbarrier = mbarrier;
        copy.phase = Mbarrier::unpack(load_value(barrier.bytes, 8)).phase;
        copy.bytes = bytes_;
        block.bulk_copies().add(std::move(copy));
        change_transactions(warp_, lane_, barrier, -static_cast<std::int64_t>(bytes_.size()));
    }

  private:
    /// What lies beyond the tensor stays zero.
    void read_row(std::uint64_t address, std::int64_t first, std::uint64_t into) {
        const std::int64_t end = std::min<std::int64_t>(first + map_.box[0], std::int64_t{map_.last[0]} + 1);
        const std::int64_t begin = std::max<std::int64_t>(first, 0);
        if (begin >= end) return;
        address += static_cast<std::uint64_t>(begin) * map_.element;
        into += static_cast<std::uint64_t>(begin - first) * map_.element;
        std::uint64_t left = static_cast<std::uint64_t>(end - begin) * map_.element;
        while (left > 0) {
            unsigned size = 8;
            while (address % size != 0 || size > left)
                size /= 2;
            const Place place = locate(warp_, in_, lane_, address, size);
            check_written(warp_, lane_, place, address, size);
            record_access(warp_, lane_, place, size, AccessKind::read);
            const std::uint64_t value = load_value(place.bytes, size);
            std::memcpy(bytes_.data() + into, &value, size);
            address += size;
            into += size;
            left -= size;
        }
    }

    Warp& warp_;
    Instruction in_;
    int lane_;
    const TensorMap& map_;
    std::uint64_t inner_ = 0;
    std::uint64_t rows_ = 1;
    std::vector<std::uint8_t> bytes_;  // of the box, row behind row
};

/// The begin of the box in shared memory, all of which must be there.
std::uint64_t destination_of(Warp& warp, const Instruction& in, int lane, std::uint64_t address,
                             const TensorMap& map) {
    if (address % kDestinationAlign != 0)
        warp.fault(FaultCode::misaligned_address, lane,
                   "address " + hex_address(address) + " is not aligned to 128 bytes");
    const std::uint64_t inner = std::uint64_t{map.box[0]} * map.element;
    if (map.swizzle != Swizzle::none && inner != swizzle_span(map.swizzle))
        warp.fault(FaultCode::illegal_instruction, lane,
                   "not supported by the interpreter: rows of " + std::to_string(inner) +
                       " bytes that are swizzled by " + std::to_string(swizzle_span(map.swizzle)));
    const std::uint64_t offset = address & (kWindow - 1);
    const std::uint64_t size = warp.block().shared().size();
    // The swizzle may move a row to the end of the 1024 bytes in which the box begins or ends.
    const std::uint64_t pattern = 8 * swizzle_span(map.swizzle);
    const bool whole =
        map.swizzle == Swizzle::none || (offset % pattern == 0 && map.box_bytes() % pattern == 0);
    const std::uint64_t end =
        whole ? offset + map.box_bytes() : (offset + map.box_bytes() + pattern - 1) / pattern * pattern;
    Instruction at = in;
    at.space = Space::shared;
    const Place place = locate_shared(warp, at, lane, offset, kChunk);
    if (end > size)
        warp.fault(FaultCode::illegal_address, lane,
                   std::to_string(map.box_bytes()) + " bytes at address " + hex_address(offset) +
                       " of shared memory: the block has " + std::to_string(size) + " bytes");
    return place.offset;
}

/// The blocks of the cluster that get a copy with this mask, each at the same offset.
std::vector<Block*> receivers(Warp& warp, int lane, std::uint64_t mask) {
    const std::uint64_t size = std::min<std::uint64_t>(cluster_size(warp, lane), kBitsOfMask);
    if (mask == 0) warp.fault(FaultCode::launch_failure, lane, "a multicast to no block of the cluster");
    if (mask >> size != 0)
        warp.fault(FaultCode::illegal_address, lane,
                   "a multicast to block " +
                       std::to_string(size + static_cast<unsigned>(__builtin_ctzll(mask >> size))) +
                       " of a cluster of " + std::to_string(size));
    std::vector<Block*> blocks;
    for (std::uint64_t rank = 0; rank < size; ++rank) {
        if ((mask >> rank & 1) != 0) blocks.push_back(&block_of_cluster(warp, lane, rank));
    }
    return blocks;
}

/// from[0] and offset: the mbarrier; from[1]: to; from[2]: the tensor map; count: dimensions.
void copy_tensor(Warp& warp, const Instruction& in, Mask lanes) {
    const auto& items = warp.frame().function->lists[static_cast<std::size_t>(in.target)].items;
    each(lanes, [&](int lane) {
        const auto address = [&](int which) {
            return warp.source(in.from[which]).lane[lane] +
                   static_cast<std::uint64_t>(std::int64_t{items[static_cast<std::size_t>(which - 1)]});
        };
        const TensorMap map = read_map(warp, in, lane, address(2));
        const std::uint64_t to = destination_of(warp, in, lane, address(1), map);
        std::int32_t coordinates[kMostDimensions] = {};
        for (std::size_t i = 0; i < map.rank; ++i)
            coordinates[i] =
                static_cast<std::int32_t>(warp.source(items[kFirstCoordinate + i]).lane[lane] & 0xffffffff);
        TensorCopy copy(warp, in, lane, map);
        copy.read(coordinates);
        const std::uint64_t barrier =
            warp.source(in.from[0]).lane[lane] + static_cast<std::uint64_t>(in.offset);
        const std::uint64_t mbarrier = locate_shared(warp, in, lane, barrier, kMbarrierSize).offset;
        std::vector<Block*> blocks = {&warp.block()};
        if ((in.flags & kMulticast) != 0)
            blocks = receivers(warp, lane, warp.source(items.back()).lane[lane] & 0xffff);
        for (Block* block : blocks)
            copy.write(*block, to, mbarrier);
    });
    warp.block().tick(warp.index());
}

/// An address that an instruction has besides its first one.
Slot take_address(Decoder& decoder, const Operand& operand, std::int32_t& offset) {
    Instruction in;
    decoder.address(operand, in);
    offset = static_cast<std::int32_t>(in.offset);
    if (offset != in.offset) decoder.unsupported("an offset of more than 32 bits");
    return in.from[0];
}

void take_coordinates(Decoder& decoder, const Operand& operand, std::size_t count, Instruction& in,
                      List& list) {
    if (operand.kind != OperandKind::address || operand.elements.size() != 2 ||
        operand.elements[1].kind != OperandKind::vector || operand.elements[1].elements.size() != count)
        decoder.unsupported("expected [map, {" + std::to_string(count) + " coordinates}]");
    Operand map = operand;
    map.elements.resize(1);
    in.from[2] = take_address(decoder, map, list.items[1]);
    for (const Operand& coordinate : operand.elements[1].elements)
        list.items.push_back(decoder.source(coordinate, Type::b32));
}

}  // namespace

void decode_bulk_copy(Decoder& decoder) {
    if (!decoder.take("tensor")) decoder.unsupported("expected .tensor");
    decoder.need_target(90);
    const int rank = decoder.take_one_of({"1d", "2d", "3d", "4d", "5d"}) + 1;
    if (rank == 0) decoder.unsupported("expected .1d to .5d");
    const bool in_cluster = decoder.take("shared::cluster");
    if (!in_cluster && !decoder.take("shared::cta"))
        decoder.unsupported("only copies to shared memory are known");
    if (!decoder.take("global")) decoder.unsupported("expected .global");
    decoder.take("tile");
    if (!decoder.take("mbarrier::complete_tx::bytes"))
        decoder.unsupported("expected .mbarrier::complete_tx::bytes");
    const bool multicast = decoder.take("multicast::cluster");
    if (multicast && !in_cluster) decoder.unsupported("expected .shared::cluster with .multicast::cluster");
    const bool hint = decoder.take("L2::cache_hint");
    const std::size_t operands = 3U + (multicast ? 1 : 0) + (hint ? 1 : 0);
    decoder.expect(operands, operands);
    Instruction in = decoder.make(copy_tensor);
    in.flags = multicast ? kMulticast : 0;
    in.count = static_cast<std::uint8_t>(rank);
    decoder.address(decoder.operand(2), in);
    in.space = Space::shared;
    List list;
    list.items.resize(kFirstCoordinate);
    in.from[1] = take_address(decoder, decoder.operand(0), list.items[0]);
    take_coordinates(decoder, decoder.operand(1), static_cast<std::size_t>(rank), in, list);
    if (multicast) list.items.push_back(decoder.source(3, Type::b16));
    if (hint) static_cast<void>(decoder.source(operands - 1, Type::b64));
    in.target = decoder.add_list(std::move(list));
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
