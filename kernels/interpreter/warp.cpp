#include "kernels/interpreter/warp.hpp"

#include <algorithm>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
void Warp::start(Launch& launch, Block& block, std::uint32_t index, Mask mask) {
    launch_ = &launch;
    block_ = &block;
    index_ = index;
    live_ = mask;
    interrupted_ = fenced_ = watching_ = false;
    steps_ = changes_ = changed_at_ = turn_ = 0;
    std::fill(std::begin(recent_), std::end(recent_), nullptr);
    nodes_.clear();
    free_frames_.clear();
    for (std::size_t i = frames_.size(); i-- > 0;)
        free_frames_.push_back(static_cast<std::int32_t>(i));
    Node root;
    root.mask = mask;
    root.frame = add_frame(*launch.request.function, 0, 0);
    enter(root);
}

/// The first node of a call stands for all of it; what runs is below.
void Warp::enter(Node first) {
    first.call = true;
    first.pc = first.reconverge = -1;
    first.children = 1;
    Node leaf;
    leaf.mask = first.mask;
    leaf.frame = first.frame;
    leaf.parent = add_node(first);
    select(add_node(leaf));
}

Warp::Stop Warp::run(std::uint64_t slice) {
    interrupted_ = false;
    while (current_ >= 0 || choose()) {
        while (current_ >= 0) {
            if (slice-- == 0) {
                store();
                current_ = -1;
                if (steps_ - changed_at_ > kPatience) release_arrived();
                return Stop::slice;
            }
            const Instruction& in = code_[pc_];
            Mask lanes = mask_;
            if (in.guard >= 0) lanes &= in.guard_not ? ~predicates_[in.guard] : predicates_[in.guard];
            ++steps_;
            if (watching_ && lanes != 0) note_registers();
            if (!in.flow) {
                if (lanes != 0) in.handler(*this, in, lanes);
                advance();
                continue;
            }
            in.handler(*this, in, lanes);
            if (interrupted_) return why_;
        }
    }
    return Stop::done;
}

void Warp::pass_barrier(const Barrier& barrier) {
    Block::give_result(*this, at(), barrier);
    advance();
}

void Warp::leave(Stop why) {
    if (current_ >= 0) store();
    current_ = -1;
    interrupt(why);
}

void Warp::wait_for_phase(std::uint32_t line, std::uint64_t mbarrier) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        const bool other = static_cast<std::int32_t>(i) != current_;
        if (node.used && other && node.children == 0 && node.wait == Wait::none) return;
    }
    wait_line_ = line;
    wait_mbarrier_ = mbarrier;
    leave(Stop::mbarrier);
}

void Warp::fault(FaultCode code, int lane, const std::string& text) const {
    const Instruction& in = at();
    const LaunchRequest& request = launch_->request;
    throw Fault(code, "kernel " + request.function->name + ", block " + text_of(block_->id()) + ", thread " +
                          text_of(block_->thread(index_ * kLanes + static_cast<std::uint32_t>(lane))) +
                          ", PTX line " + std::to_string(in.line) + " \"" +
                          std::string(request.module->line(in.line)) + "\": " + text);
}

void Warp::advance() {
    if (++pc_ == reconverge_) {
        store();
        arrive(current_);
    }
}

void Warp::branch(std::int32_t target, std::int32_t reconverge, Mask taken) {
    if (taken == 0) return advance();
    if (taken != mask_) return scatter({{target, taken}, {pc_ + 1, mask_ & ~taken}}, reconverge);
    pc_ = target;
    if (pc_ == reconverge_) {
        store();
        arrive(current_);
    }
}

void Warp::scatter(const std::vector<std::pair<std::int32_t, Mask>>& places, std::int32_t reconverge) {
    store();
    std::int32_t parent = current_;
    const Node now = nodes_[static_cast<std::size_t>(current_)];
    // Lanes that part again on the way to the same meeting place become siblings: loops do not grow the tree.
    const bool siblings = now.reconverge == reconverge && !now.call;
    if (siblings) parent = now.parent;
    nodes_[static_cast<std::size_t>(current_)].pc = reconverge;
    std::int32_t first = -1;
    for (const auto& place : places) {
        if (place.second == 0 || (place.first == reconverge)) continue;
        Node child;
        child.pc = place.first;
        child.reconverge = reconverge;
        child.mask = place.second;
        child.parent = parent;
        child.frame = now.frame;
        ++nodes_[static_cast<std::size_t>(parent)].children;
        const std::int32_t added = add_node(child);
        if (first < 0) first = added;
    }
    const std::int32_t before = current_;
    current_ = -1;
    if (siblings) arrive(before);
    if (first >= 0) return select(first);
    if (!siblings) select(before);  // all go on at the meeting place
}

std::int32_t Warp::add_node(const Node& node) {
    std::size_t index = 0;
    while (index < nodes_.size() && nodes_[index].used)
        ++index;
    if (index == nodes_.size()) nodes_.emplace_back();
    nodes_[index] = node;
    nodes_[index].used = true;
    return static_cast<std::int32_t>(index);
}

void Warp::select(std::int32_t index) {
    const Node& node = nodes_[static_cast<std::size_t>(index)];
    current_ = index;
    pc_ = node.pc;
    reconverge_ = node.reconverge;
    mask_ = node.mask;
    frame_ = frames_[static_cast<std::size_t>(node.frame)].get();
    code_ = frame_->function->code.data();
    rows_ = frame_->rows.data();
    constants_ = frame_->function->constants.data();
    predicates_ = frame_->predicates.data();
}

void Warp::store() {
    nodes_[static_cast<std::size_t>(current_)].pc = pc_;
}

/// The next leaf that does not wait; false when no lane is left.
bool Warp::choose() {
    const std::size_t count = nodes_.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t index = (++turn_) % count;
        const Node& node = nodes_[index];
        if (!node.used || node.children != 0 || node.wait != Wait::none) continue;
        select(static_cast<std::int32_t>(index));
        return true;
    }
    return retry_waiting();
}

bool Warp::retry_waiting() {
    std::int32_t waiting = -1;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Node& node = nodes_[i];
        if (!node.used || node.children != 0) continue;
        waiting = static_cast<std::int32_t>(i);
        if (node.changes == changes_) continue;
        node.wait = Wait::none;
        select(waiting);
        return true;
    }
    if (waiting < 0) return false;
    select(waiting);
    fault_absent(nodes_[static_cast<std::size_t>(waiting)]);
}

void Warp::fault_absent(const Node& node) {
    const Mask absent = node.members & live_ & ~node.mask;
    const int lane = __builtin_ctz(node.mask);
    if (node.barrier)
        fault(FaultCode::launch_failure, lane,
              "barrier divergence: the lanes " + hex_address(absent) +
                  " of the warp do not come to this barrier");
    fault(FaultCode::launch_failure, lane,
          "the lanes " + hex_address(absent) + " of the member mask " + hex_address(node.members) +
              " do not execute this instruction");
}

/// A leaf has come to its end: its lanes go on in the node above, once all leaves below that one have come.
void Warp::arrive(std::int32_t index) {
    note_change();
    if (index == current_) current_ = -1;
    while (true) {
        Node& node = nodes_[static_cast<std::size_t>(index)];
        node.used = false;
        if (node.call) free_frames_.push_back(node.frame);
        const std::int32_t above = node.parent;
        if (above < 0) return;
        Node& parent = nodes_[static_cast<std::size_t>(above)];
        if (--parent.children > 0) return;
        if (node.call && parent.mask != 0) ++parent.pc;  // the call is over
        if (parent.mask != 0 && parent.pc != parent.reconverge) return;
        index = above;
    }
}

/// Takes lanes out of the leaf and of what is above it, up to the begin of the call, or of the thread.
void Warp::remove_lanes(Mask lanes, bool whole_thread) {
    store();
    note_change();
    for (std::int32_t i = current_; i >= 0; i = nodes_[static_cast<std::size_t>(i)].parent) {
        Node& node = nodes_[static_cast<std::size_t>(i)];
        node.mask &= ~lanes;
        if (node.call && !whole_thread) break;
    }
    mask_ &= ~lanes;
    if (mask_ == 0) {
        arrive(current_);
    } else {
        advance();
    }
}

void Warp::exit_lanes(Mask lanes) {
    if (lanes == 0) return advance();
    live_ &= ~lanes;
    remove_lanes(lanes, true);
}

}  // namespace cudamatrix::suite::ptx
