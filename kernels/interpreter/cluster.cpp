// What the blocks of a cluster share: its barrier, and each other's shared memory (PTX ISA,
// "barrier.cluster", "mapa").
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/gang.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum ClusterFlag : std::uint8_t { kArrivalReleases = 1, kInWindow = 2 };

/// Lanes of a warp that come apart are not known here.
bool all_here(Warp& warp, Mask lanes) {
    if (lanes != 0) return warp.together(warp.live(), lanes, true);
    warp.advance();
    return false;
}

void cluster_arrive(Warp& warp, const Instruction& in, Mask lanes) {
    if (!all_here(warp, lanes)) return;
    warp.block().gang().arrive(warp, (in.flags & kArrivalReleases) != 0);
    warp.advance();
}

void cluster_wait(Warp& warp, const Instruction&, Mask lanes) {
    if (!all_here(warp, lanes)) return;
    if (warp.block().gang().wait(warp)) warp.advance();
}

/// from[0]: an address in shared memory, generic or in its window; from[1]: whose shared memory is meant.
void map_address(Warp& warp, const Instruction& in, Mask lanes) {
    const Row addresses = warp.source(in.from[0]);
    const Row ranks = warp.source(in.from[1]);
    Row& to = warp.destination(in.to);
    const std::uint64_t window = (in.flags & kInWindow) != 0 ? 0 : kSharedBase;
    each(lanes, [&](int l) {
        const std::uint64_t address = window == 0 ? addresses.lane[l] & (kWindow - 1) : addresses.lane[l];
        const std::uint64_t offset = address - window;
        const std::uint64_t rank = ranks.lane[l] & 0xffffffff;
        if (offset >= kWindow)
            warp.fault(FaultCode::illegal_address, l,
                       "address " + hex_address(addresses.lane[l]) + " is not in shared memory");
        const std::uint64_t size = cluster_size(warp, l);
        if (rank >= size)
            warp.fault(FaultCode::illegal_address, l,
                       "block " + std::to_string(rank) + " of a cluster of " + std::to_string(size));
        to.lane[l] = window + (rank + 1) * kSharedOfBlock + offset % kSharedOfBlock;
    });
}

}  // namespace

void ClusterBarrier::start(std::size_t warps) {
    phase = 0;
    came.assign(warps, kNot);
    coming.clear();
    passed.clear();
}

void Gang::arrive(Warp& warp, bool releases) {
    const std::size_t number = warp.block().first_warp() + warp.index();
    if (cluster_.came[number] != ClusterBarrier::kNot)
        warp.fault(FaultCode::launch_failure, __builtin_ctz(warp.active()),
                   "comes to the cluster's barrier twice, without a wait in between");
    cluster_.came[number] = cluster_.phase;
    if (releases) clocks_.join(cluster_.coming, number);
    clocks_.tick(number);
    check_cluster();
}

bool Gang::wait(Warp& warp) {
    const std::size_t number = warp.block().first_warp() + warp.index();
    if (cluster_.came[number] == ClusterBarrier::kNot)
        warp.fault(FaultCode::launch_failure, __builtin_ctz(warp.active()),
                   "waits at the cluster's barrier without having come to it");
    if (cluster_.came[number] == cluster_.phase) {
        warp.block().wait_for_cluster(warp);
        return false;
    }
    pass_cluster(number);
    return true;
}

void Gang::pass_cluster(std::size_t warp) {
    cluster_.came[warp] = ClusterBarrier::kNot;
    clocks_.adopt(warp, cluster_.passed);
    clocks_.tick(warp);
}

/// Complete once all warps that live have come.
void Gang::check_cluster() {
    bool any = false;
    for (std::size_t rank = 0; rank < numbers_.size(); ++rank) {
        const Block& block = *blocks_[rank];
        for (std::uint32_t w = 0; w < block.warps_of_block(); ++w) {
            if (block.has_ended(w)) continue;
            if (cluster_.came[block.first_warp() + w] != cluster_.phase) return;
            any = true;
        }
    }
    if (!any) return;
    ++cluster_.phase;
    cluster_.passed.swap(cluster_.coming);
    cluster_.coming.clear();
    for (std::size_t rank = 0; rank < numbers_.size(); ++rank)
        blocks_[rank]->leave_cluster_barrier();
}

void decode_mapa(Decoder& decoder) {
    decoder.need_target(90);
    const bool in_window = decoder.take("shared::cluster");
    const Type type = in_window ? Type::u32 : Type::u64;
    if (decoder.take_type() != type) decoder.unsupported("not in this form");
    decoder.expect(3, 3);
    Instruction in = decoder.make(map_address);
    in.flags = in_window ? kInWindow : 0;
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, type);
    in.from[1] = decoder.source(2, Type::b32);
    decoder.emit(in);
}

void decode_cluster_barrier(Decoder& decoder) {
    decoder.need_target(90);
    const int kind = decoder.take_one_of({"arrive", "wait"});
    if (kind < 0) decoder.unsupported("expected .arrive or .wait");
    Instruction in = decoder.make(kind == 0 ? cluster_arrive : cluster_wait);
    in.flow = true;
    if (kind == 0) {
        if (decoder.take_one_of({"release", "relaxed"}) != 1) in.flags = kArrivalReleases;
    } else {
        decoder.take("acquire");
    }
    decoder.take("aligned");
    decoder.expect(0, 0);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
