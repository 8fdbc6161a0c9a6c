// Special registers (PTX ISA, "Special Registers").
#include <chrono>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

using Value = std::uint64_t (*)(Warp&, std::uint32_t lane);

Dim3 own_index(Warp& warp, std::uint32_t lane) {
    return warp.block().thread(warp.index() * kLanes + lane);
}
const LaunchRequest& request_of(Warp& warp) {
    return warp.launch().request;
}
/// Where grid.sync counts; 0 where the launch is not cooperative. cooperative_groups gets its upper half from
/// %envreg1 and its lower from %envreg2 (details/driver_abi.h of the toolkit).
std::uint64_t workspace_of(Warp& warp) {
    const Allocation* workspace = warp.launch().workspace;
    return workspace == nullptr ? 0 : workspace->address;
}
/// One tick for each warp instruction, so that loops that wait for time end.
std::uint64_t ticks(Warp& warp) {
    return warp.steps() * 4;
}

Dim3 cluster_of(Warp& warp) {
    return warp.launch().request.cluster;
}
/// Of the block, in its cluster.
Dim3 cluster_index(Warp& warp) {
    const Dim3 of = cluster_of(warp);
    const Dim3 id = warp.block().id();
    return {id.x % of.x, id.y % of.y, id.z % of.z};
}
std::uint64_t cluster_rank(Warp& warp) {
    const Dim3 of = cluster_of(warp);
    const Dim3 at = cluster_index(warp);
    return at.x + std::uint64_t{of.x} * (at.y + std::uint64_t{of.y} * at.z);
}

struct SpecialRow {
    std::string_view name;
    Value value;
};

const SpecialRow kSpecial[] = {
    {"%tid.x", [](Warp& w, std::uint32_t l) { return std::uint64_t{own_index(w, l).x}; }},
    {"%tid.y", [](Warp& w, std::uint32_t l) { return std::uint64_t{own_index(w, l).y}; }},
    {"%tid.z", [](Warp& w, std::uint32_t l) { return std::uint64_t{own_index(w, l).z}; }},
    {"%ntid.x", [](Warp& w, std::uint32_t) { return std::uint64_t{request_of(w).block.x}; }},
    {"%ntid.y", [](Warp& w, std::uint32_t) { return std::uint64_t{request_of(w).block.y}; }},
    {"%ntid.z", [](Warp& w, std::uint32_t) { return std::uint64_t{request_of(w).block.z}; }},
    {"%ctaid.x", [](Warp& w, std::uint32_t) { return std::uint64_t{w.block().id().x}; }},
    {"%ctaid.y", [](Warp& w, std::uint32_t) { return std::uint64_t{w.block().id().y}; }},
    {"%ctaid.z", [](Warp& w, std::uint32_t) { return std::uint64_t{w.block().id().z}; }},
    {"%nctaid.x", [](Warp& w, std::uint32_t) { return std::uint64_t{request_of(w).grid.x}; }},
    {"%nctaid.y", [](Warp& w, std::uint32_t) { return std::uint64_t{request_of(w).grid.y}; }},
    {"%nctaid.z", [](Warp& w, std::uint32_t) { return std::uint64_t{request_of(w).grid.z}; }},
    {"%cluster_ctaid.x", [](Warp& w, std::uint32_t) { return std::uint64_t{cluster_index(w).x}; }},
    {"%cluster_ctaid.y", [](Warp& w, std::uint32_t) { return std::uint64_t{cluster_index(w).y}; }},
    {"%cluster_ctaid.z", [](Warp& w, std::uint32_t) { return std::uint64_t{cluster_index(w).z}; }},
    {"%cluster_nctaid.x", [](Warp& w, std::uint32_t) { return std::uint64_t{cluster_of(w).x}; }},
    {"%cluster_nctaid.y", [](Warp& w, std::uint32_t) { return std::uint64_t{cluster_of(w).y}; }},
    {"%cluster_nctaid.z", [](Warp& w, std::uint32_t) { return std::uint64_t{cluster_of(w).z}; }},
    {"%cluster_ctarank", [](Warp& w, std::uint32_t) { return cluster_rank(w); }},
    {"%cluster_nctarank", [](Warp& w, std::uint32_t) { return cluster_of(w).count(); }},
    {"%laneid", [](Warp&, std::uint32_t l) { return std::uint64_t{l}; }},
    {"%warpid", [](Warp& w, std::uint32_t) { return std::uint64_t{w.index()}; }},
    {"%nwarpid", [](Warp& w, std::uint32_t) { return std::uint64_t{w.block().warps()}; }},
    {"%smid", [](Warp&, std::uint32_t) { return std::uint64_t{0}; }},
    {"%nsmid", [](Warp&, std::uint32_t) { return std::uint64_t{1}; }},
    {"%gridid", [](Warp& w, std::uint32_t) { return std::uint64_t{w.launch().number}; }},
    {"%lanemask_eq", [](Warp&, std::uint32_t l) { return std::uint64_t{1} << l; }},
    {"%lanemask_lt", [](Warp&, std::uint32_t l) { return (std::uint64_t{1} << l) - 1; }},
    {"%lanemask_le", [](Warp&, std::uint32_t l) { return (std::uint64_t{2} << l) - 1; }},
    {"%lanemask_gt", [](Warp&, std::uint32_t l) { return 0xffffffff & ~((std::uint64_t{2} << l) - 1); }},
    {"%lanemask_ge", [](Warp&, std::uint32_t l) { return 0xffffffff & ~((std::uint64_t{1} << l) - 1); }},
    {"%clock", [](Warp& w, std::uint32_t) { return ticks(w) & 0xffffffff; }},
    {"%clock_hi", [](Warp& w, std::uint32_t) { return ticks(w) >> 32; }},
    {"%clock64", [](Warp& w, std::uint32_t) { return ticks(w); }},
    {"%globaltimer",
     [](Warp&, std::uint32_t) {
         return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                           std::chrono::nanoseconds(1));
     }},
    {"%envreg1", [](Warp& w, std::uint32_t) { return workspace_of(w) >> 32; }},
    {"%envreg2", [](Warp& w, std::uint32_t) { return workspace_of(w) & 0xffffffff; }},
    {"%dynamic_smem_size",
     [](Warp& w, std::uint32_t) { return std::uint64_t{request_of(w).dynamic_shared}; }},
    {"%total_smem_size", [](Warp& w, std::uint32_t) { return std::uint64_t{w.block().shared().size()}; }},
};

}  // namespace

int special_register(std::string_view name) {
    int index = 0;
    for (const SpecialRow& row : kSpecial) {
        if (row.name == name) return index;
        ++index;
    }
    return -1;
}

void execute_special(Warp& warp, const Instruction& in, Mask lanes) {
    Row& to = warp.destination(in.to);
    const Value value = kSpecial[in.detail].value;
    each(lanes, [&](int l) { to.lane[l] = value(warp, static_cast<std::uint32_t>(l)); });
}

}  // namespace cudamatrix::suite::ptx
