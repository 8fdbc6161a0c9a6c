#include "kernels/interpreter/flow.hpp"

#include <algorithm>
#include <utility>

#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

/// Basic blocks of a function, and the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
/// Algorithm") over the reversed graph.
class PostDominators {
  public:
    explicit PostDominators(const Function& function) : function_(function) {
        find_blocks();
        link_blocks();
        number_blocks();
        iterate();
    }

    /// First instruction behind the branch at `place` that all ways meet in; -1 when there is none.
    [[nodiscard]] std::int32_t meeting(std::size_t place) const {
        const std::size_t block = block_of_[place];
        const std::int32_t above = dominator_[block];
        return above < 0 || above == exit() ? -1 : begin_[static_cast<std::size_t>(above)];
    }

  private:
    [[nodiscard]] std::int32_t exit() const { return static_cast<std::int32_t>(begin_.size()); }

    [[nodiscard]] bool ends_block(const Instruction& in) const {
        return in.handler == find_branch_handler() || in.handler == find_indexed_branch_handler() ||
               ends_lanes(in);
    }
    [[nodiscard]] static bool ends_lanes(const Instruction& in) { return is_end_of_lanes(in); }

    void find_blocks() {
        const auto& code = function_.code;
        std::vector<char> leader(code.size() + 1, 0);
        leader[0] = 1;
        for (std::size_t i = 0; i < code.size(); ++i) {
            if (!ends_block(code[i])) continue;
            leader[i + 1] = 1;
            for (const std::int32_t target : targets(code[i]))
                leader[static_cast<std::size_t>(target)] = 1;
        }
        block_of_.resize(code.size());
        for (std::size_t i = 0; i < code.size(); ++i) {
            if (leader[i] != 0) begin_.push_back(static_cast<std::int32_t>(i));
            block_of_[i] = begin_.size() - 1;
        }
    }

    [[nodiscard]] std::vector<std::int32_t> targets(const Instruction& in) const {
        if (in.handler == find_branch_handler()) return {in.target};
        if (in.handler == find_indexed_branch_handler())
            return function_.lists[static_cast<std::size_t>(in.target)].items;
        return {};
    }

    void link_blocks() {
        successors_.resize(begin_.size());
        predecessors_.resize(begin_.size() + 1);
        for (std::size_t b = 0; b < begin_.size(); ++b) {
            const std::size_t last =
                (b + 1 < begin_.size() ? static_cast<std::size_t>(begin_[b + 1]) : function_.code.size()) - 1;
            const Instruction& in = function_.code[last];
            for (const std::int32_t target : targets(in))
                successors_[b].push_back(
                    static_cast<std::int32_t>(block_of_[static_cast<std::size_t>(target)]));
            const bool leaves = ends_lanes(in);
            if (leaves) successors_[b].push_back(exit());
            if ((in.guard >= 0 || !ends_block(in)) && last + 1 < function_.code.size())
                successors_[b].push_back(static_cast<std::int32_t>(block_of_[last + 1]));
            for (const std::int32_t next : successors_[b])
                predecessors_[static_cast<std::size_t>(next)].push_back(static_cast<std::int32_t>(b));
        }
    }

    /// Post-order of the reversed graph from the exit, without recursion.
    void number_blocks() {
        number_.assign(begin_.size() + 1, -1);
        std::vector<char> seen(begin_.size() + 1, 0);
        std::vector<std::pair<std::int32_t, std::size_t>> open = {{exit(), 0}};
        seen[begin_.size()] = 1;
        while (!open.empty()) {
            const auto block = static_cast<std::size_t>(open.back().first);
            const std::size_t child = open.back().second++;
            if (child < predecessors_[block].size()) {
                const std::int32_t next = predecessors_[block][child];
                if (std::exchange(seen[static_cast<std::size_t>(next)], char{1}) == 0)
                    open.push_back({next, 0});
                continue;
            }
            number_[block] = static_cast<std::int32_t>(order_.size());
            order_.push_back(static_cast<std::int32_t>(block));
            open.pop_back();
        }
    }

    [[nodiscard]] std::int32_t intersect(std::int32_t a, std::int32_t b) const {
        while (a != b) {
            while (number_[static_cast<std::size_t>(a)] < number_[static_cast<std::size_t>(b)])
                a = dominator_[static_cast<std::size_t>(a)];
            while (number_[static_cast<std::size_t>(b)] < number_[static_cast<std::size_t>(a)])
                b = dominator_[static_cast<std::size_t>(b)];
        }
        return a;
    }

    void iterate() {
        dominator_.assign(begin_.size() + 1, -1);
        dominator_[begin_.size()] = exit();
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = order_.size() - 1; i-- > 0;) {
                const auto block = static_cast<std::size_t>(order_[i]);
                std::int32_t best = -1;
                for (const std::int32_t next : successors_[block]) {
                    if (dominator_[static_cast<std::size_t>(next)] < 0) continue;
                    best = best < 0 ? next : intersect(best, next);
                }
                if (best != dominator_[block]) {
                    dominator_[block] = best;
                    changed = true;
                }
            }
        }
    }

    const Function& function_;
    std::vector<std::int32_t> begin_;    // first instruction of each block
    std::vector<std::size_t> block_of_;  // of each instruction
    std::vector<std::vector<std::int32_t>> successors_;
    std::vector<std::vector<std::int32_t>> predecessors_;
    std::vector<std::int32_t> order_;  // blocks that reach the exit, which is last
    std::vector<std::int32_t> number_;
    std::vector<std::int32_t> dominator_;  // -1: the exit cannot be reached
};

}  // namespace

void find_reconvergence(Function& function) {
    if (function.code.empty()) return;
    const PostDominators tree(function);
    for (std::size_t i = 0; i < function.code.size(); ++i) {
        Instruction& in = function.code[i];
        if (in.handler == find_branch_handler() || in.handler == find_indexed_branch_handler())
            in.reconverge = tree.meeting(i);
    }
}

}  // namespace cudamatrix::suite::ptx
