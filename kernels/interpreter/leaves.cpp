// Leaves of a warp that wait for each other.
#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {

void Warp::note_change() {
    ++changes_;
    changed_at_ = steps_;
}

/// Takes the lanes of leaves that wait before the same instruction into the one that runs. True when there
/// were any.
bool Warp::merge_waiting() {
    Node& here = nodes_[static_cast<std::size_t>(current_)];
    const Mask before = here.mask;
    for (Node& node : nodes_) {
        if (!node.used || node.children != 0 || node.wait != Wait::lanes || &node == &here) continue;
        if (node.pc != here.pc || node.parent != here.parent || node.frame != here.frame) continue;
        here.mask |= node.mask;
        node.used = false;
        --nodes_[static_cast<std::size_t>(here.parent)].children;
        note_change();
    }
    mask_ = here.mask;
    return mask_ != before;
}

/// Lanes that wait at a meeting place go on without the others, who may wait for what these do: a lock that
/// one lane of a warp holds. PTX promises progress to each thread from sm_70 on (CUDA C++ Programming Guide,
/// "Independent Thread Scheduling").
void Warp::release_arrived() {
    note_change();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].used || nodes_[i].call || nodes_[i].children == 0) continue;
        Mask arrived = nodes_[i].mask;
        for (const Node& node : nodes_) {
            if (node.used && node.parent == static_cast<std::int32_t>(i)) arrived &= ~node.mask;
        }
        if (arrived == 0) continue;
        nodes_[i].mask &= ~arrived;
        Node leaf;
        leaf.pc = nodes_[i].pc;
        leaf.reconverge = nodes_[i].reconverge;
        leaf.mask = arrived;
        leaf.parent = nodes_[i].parent;
        leaf.frame = nodes_[i].frame;
        if (leaf.pc == leaf.reconverge) continue;  // they wait for the next meeting place
        ++nodes_[static_cast<std::size_t>(leaf.parent)].children;
        add_node(leaf);
    }
}

bool Warp::together(Mask members, Mask lanes, bool barrier) {
    const Mask missing = members & live_ & ~lanes;
    if (missing == 0) return true;
    Node& node = nodes_[static_cast<std::size_t>(current_)];
    node.members = members;
    node.barrier = barrier;
    node.changes = changes_;
    if ((missing & mask_) != 0) {
        Node here = node;
        here.mask = lanes;
        if (lanes != 0) fault_absent(here);
        advance();  // nobody is here
        return false;
    }
    store();
    if (merge_waiting()) return false;  // it is executed again, by more lanes
    node.wait = Wait::lanes;
    current_ = -1;
    return false;
}

void Warp::warp_barrier(Mask members) {
    store();
    const std::int32_t self = current_;
    Mask arrived = mask_;
    for (const Node& node : nodes_) {
        if (node.used && node.wait == Wait::warp_barrier && node.members == members) arrived |= node.mask;
    }
    Node& here = nodes_[static_cast<std::size_t>(self)];
    here.wait = Wait::warp_barrier;
    here.members = members;
    here.barrier = false;
    here.changes = changes_;
    current_ = -1;
    if ((members & live_ & ~arrived) != 0) return;
    block_->tick(index_);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].used && nodes_[i].wait == Wait::warp_barrier && nodes_[i].members == members)
            pass(static_cast<std::int32_t>(i));
    }
}

/// A leaf that waited goes on behind its instruction.
void Warp::pass(std::int32_t index) {
    Node& node = nodes_[static_cast<std::size_t>(index)];
    node.wait = Wait::none;
    note_change();
    if (++node.pc == node.reconverge) arrive(index);
}

}  // namespace cudamatrix::suite::ptx
