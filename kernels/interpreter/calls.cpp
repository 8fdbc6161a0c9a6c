// Calls of device functions: frames, parameters, results.
#include <algorithm>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr unsigned kMostDepth = 2048;
constexpr std::uint64_t kMostLocal = 512U << 10;  ///< bytes of one thread (CUDA C++ Programming Guide,
                                                  ///< "Technical Specifications")

void copy_param(Frame& to, const Variable& into, const Frame& from, const Variable& of, int lane) {
    const auto target = static_cast<std::size_t>(lane) * to.function->param_size + into.offset;
    const auto source = static_cast<std::size_t>(lane) * from.function->param_size + of.offset;
    const std::size_t size = std::min(into.size, of.size);
    std::copy_n(from.params.begin() + static_cast<std::ptrdiff_t>(source), size,
                to.params.begin() + static_cast<std::ptrdiff_t>(target));
    std::copy_n(from.params_written.begin() + static_cast<std::ptrdiff_t>(source), size,
                to.params_written.begin() + static_cast<std::ptrdiff_t>(target));
}

const Variable& variable(const Frame& frame, std::uint32_t index) {
    return frame.function->variables[index];
}

}  // namespace

std::int32_t Warp::add_frame(const Function& function, std::uint64_t local_base, unsigned depth) {
    if (free_frames_.empty()) {
        free_frames_.push_back(static_cast<std::int32_t>(frames_.size()));
        frames_.push_back(std::make_unique<Frame>());
    }
    const std::int32_t index = free_frames_.back();
    free_frames_.pop_back();
    Frame& frame = *frames_[static_cast<std::size_t>(index)];
    frame.function = &function;
    frame.rows.assign(function.rows, Row{});
    frame.predicates.assign(function.predicates, 0);
    const std::size_t params =
        function.param_size > function.kernel_param_size ? kLanes * function.param_size : 0;
    frame.params.assign(params, 0);
    frame.params_written.assign(params, 0);
    frame.local_base = local_base;
    frame.depth = depth;
    frame.marks.reset();
    const std::uint64_t top = local_base + function.local_size;
    for (LocalMemory& local : local_) {
        if (local.bytes.size() < top) local.bytes.resize(top);
        if (local.written.size() < top) local.written.resize(top);
    }
    return index;
}

/// The list: callee, number of results, results, arguments (indexes of the caller's variables).
void Warp::call(const Function& callee, const List& arguments, Mask lanes) {
    if (lanes == 0) return advance();
    if (lanes != mask_) return scatter({{pc_, lanes}, {pc_ + 1, mask_ & ~lanes}}, pc_ + 1);
    const std::uint64_t local_base = (frame_->local_base + frame_->function->local_size + 15) / 16 * 16;
    const int lane = __builtin_ctz(lanes);
    if (frame_->depth + 1 > kMostDepth || local_base + callee.local_size > kMostLocal)
        fault(FaultCode::hardware_stack, lane,
              "stack overflow: " + std::to_string(frame_->depth + 1) + " calls deep, " +
                  std::to_string(local_base + callee.local_size) + " bytes of local memory");
    store();
    Frame& caller = *frame_;
    Node first;
    first.mask = lanes;
    first.parent = current_;
    first.frame = add_frame(callee, local_base, caller.depth + 1);
    Frame& frame = *frames_[static_cast<std::size_t>(first.frame)];
    const auto results = static_cast<std::size_t>(arguments.items[1]);
    each(lanes, [&](int l) {
        std::fill(local_[l].written.begin() + static_cast<std::ptrdiff_t>(local_base),
                  local_[l].written.end(), std::uint8_t{0});
        for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
            const auto from = static_cast<std::uint32_t>(arguments.items[2 + results + i]);
            copy_param(frame, variable(frame, callee.parameters[i]), caller, variable(caller, from), l);
        }
    });
    ++nodes_[static_cast<std::size_t>(current_)].children;
    enter(first);
}

void Warp::leave_function(Mask lanes) {
    if (lanes == 0) return advance();
    std::int32_t first = current_;
    while (!nodes_[static_cast<std::size_t>(first)].call)
        first = nodes_[static_cast<std::size_t>(first)].parent;
    const std::int32_t above = nodes_[static_cast<std::size_t>(first)].parent;
    if (above < 0) return exit_lanes(lanes);
    const Node& parent = nodes_[static_cast<std::size_t>(above)];
    Frame& caller = *frames_[static_cast<std::size_t>(parent.frame)];
    const Instruction& in = caller.function->code[static_cast<std::size_t>(parent.pc)];
    const List& arguments = caller.function->lists[static_cast<std::size_t>(in.target)];
    const Function& callee = *frame_->function;
    each(lanes, [&](int l) {
        for (std::size_t i = 0; i < callee.results.size(); ++i) {
            const auto into = static_cast<std::uint32_t>(arguments.items[2 + i]);
            copy_param(caller, variable(caller, into), *frame_, variable(*frame_, callee.results[i]), l);
        }
    });
    remove_lanes(lanes, false);
}

}  // namespace cudamatrix::suite::ptx
