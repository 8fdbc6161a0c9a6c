#include "knowledge/judge/count/count.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace cudamatrix::rules {
namespace {

using Code = Diagrams::Code;
using Ref = Diagrams::Ref;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kOnes = ~std::uint64_t{0};
constexpr std::size_t kWordBits = 64;
constexpr std::size_t kRemembered = 2u << 20u;  // words of planes: 16 MiB

// std::popcount is a call where the processor's instruction may not be assumed.
std::uint64_t bits_in(std::uint64_t word) {
    word -= (word >> 1u) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2u) & 0x3333333333333333u);
    word = (word + (word >> 4u)) & 0x0F0F0F0F0F0F0F0Fu;
    return (word * 0x0101010101010101u) >> 56u;
}

template <class Visit>
void for_each_flag(Code code, const Visit& visit) {
    for (std::size_t flag = 0; flag < 8; ++flag) {
        if ((code >> flag & 1u) != 0) visit(flag);
    }
}

class Walk {
  public:
    Walk(const Diagrams& diagrams, const std::vector<Ref>& layers, std::uint64_t block, Progress* progress)
        : diagrams_(diagrams), progress_(progress), place_(diagrams.sizes().size(), 0) {
        Diagrams::Axes axes = 0;
        Code flags = kDead;
        for (const auto layer : layers) {
            axes |= diagrams.support(layer);
            flags |= diagrams.flags(layer);
        }
        planes_ = static_cast<std::size_t>(std::bit_width(flags));
        divide(axes, block);
        words_ = (inner_cells_.front() + kWordBits - 1) / kWordBits;
        levels_.resize(outer_.size() + 1);
        for (auto& level : levels_)
            level.planes.resize(planes_ * words_);
    }

    BitsetCounts run(const std::vector<Ref>& layers) {
        auto& planes = levels_[0].planes;
        set(planes, 0, 0, words_ * kWordBits);  // what is behind the last cell counts for nothing
        clear(planes, inner_cells_.front());
        if (absorb(layers, planes, levels_[0].open)) walk(0, 0, factor_);
        return counts_;
    }

  private:
    // What the walk holds at one depth.
    struct Level {
        Words planes;  ///< the flags so far, of the layers that outer axes no longer decide
        std::vector<Ref> open;
        std::vector<Ref> parts;  ///< what each row makes of the open layers that ask for this axis
        std::vector<std::uint32_t> rows;
        std::vector<Ref> next;
    };

    // Axes that matter: the last ones of the order fill the block, the others are walked; what does not
    // matter is a factor.
    void divide(Diagrams::Axes axes, std::uint64_t block) {
        std::vector<std::size_t> used;
        for (const auto axis : diagrams_.order()) {
            if ((axes >> axis & 1u) != 0) {
                used.push_back(axis);
            } else {
                factor_ *= diagrams_.sizes()[axis];
            }
        }
        inner_cells_.assign(1, 1);
        while (!used.empty() && inner_cells_.front() * diagrams_.sizes()[used.back()] <= block) {
            inner_cells_.insert(inner_cells_.begin(), inner_cells_.front() * diagrams_.sizes()[used.back()]);
            inner_.insert(inner_.begin(), used.back());
            used.pop_back();
        }
        outer_ = std::move(used);
        outer_cells_.assign(outer_.size() + 1, 1);
        for (std::size_t i = outer_.size(); i-- > 0;)
            outer_cells_[i] = outer_cells_[i + 1] * diagrams_.sizes()[outer_[i]];
        for (const auto axis : inner_)
            place_[axis] = 1;
    }

    [[nodiscard]] bool is_inner(Ref diagram) const { return place_[diagrams_.axis(diagram)] == 1; }

    // Adds the layers that no outer axis decides any more to `planes`, the others to `open`. False where
    // that leaves no cell alive.
    bool absorb(const std::vector<Ref>& layers, Words& planes, std::vector<Ref>& open) {
        Code everywhere = 0;
        for (const auto layer : layers) {
            if (Diagrams::is_constant(layer)) everywhere |= static_cast<Code>(layer);
        }
        if ((everywhere & kDead) != 0) return false;
        for_each_flag(everywhere, [&](std::size_t flag) { set(planes, flag, 0, words_ * kWordBits); });
        open.clear();
        for (const auto layer : layers) {
            if (Diagrams::is_constant(layer)) continue;
            if (is_inner(layer)) {
                add(planes, layer);
            } else {
                open.push_back(layer);
            }
        }
        const auto end = planes.begin() + static_cast<std::ptrdiff_t>(words_);
        return std::any_of(planes.begin(), end, [](std::uint64_t word) { return word != kOnes; });
    }

    void walk(std::size_t depth, std::size_t level, std::uint64_t weight) {
        if (progress_ != nullptr && !progress_->tick()) return;
        auto& here = levels_[level];
        if (here.open.empty()) return tally(here.planes, weight * outer_cells_[depth]);
        const auto axis = outer_[depth];
        const auto asking = static_cast<std::size_t>(std::count_if(
            here.open.begin(), here.open.end(), [&](Ref layer) { return diagrams_.axis(layer) == axis; }));
        if (asking == 0) return walk(depth + 1, level, weight * diagrams_.sizes()[axis]);
        group_rows(here, axis, asking);
        auto& deeper = levels_[level + 1];
        const auto part = [&](std::uint32_t row) { return here.parts.data() + row * asking; };
        for (std::size_t i = 0; i < here.rows.size();) {
            const auto row = here.rows[i];
            std::uint64_t alike = 0;  // rows that go on in the same way are walked once
            for (; i < here.rows.size() && std::equal(part(row), part(row) + asking, part(here.rows[i])); ++i)
                ++alike;
            here.next.clear();
            for (const auto layer : here.open) {
                here.next.push_back(diagrams_.axis(layer) == axis ? diagrams_.row(layer, row) : layer);
            }
            deeper.planes = here.planes;
            if (absorb(here.next, deeper.planes, deeper.open)) walk(depth + 1, level + 1, weight * alike);
        }
    }

    // The rows of the axis, those beside each other that make the same of every open layer.
    void group_rows(Level& here, std::size_t axis, std::size_t asking) const {
        const auto size = diagrams_.sizes()[axis];
        here.parts.clear();
        for (std::size_t row = 0; row < size; ++row) {
            for (const auto layer : here.open) {
                if (diagrams_.axis(layer) == axis) here.parts.push_back(diagrams_.row(layer, row));
            }
        }
        here.rows.resize(size);
        std::iota(here.rows.begin(), here.rows.end(), std::uint32_t{0});
        std::sort(here.rows.begin(), here.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto* left = here.parts.data() + a * asking;
            const auto* right = here.parts.data() + b * asking;
            return std::lexicographical_compare(left, left + asking, right, right + asking);
        });
    }

    void tally(const Words& planes, std::uint64_t weight) {
        std::array<std::uint64_t, 8> found{};
        for (std::size_t w = 0; w < words_; ++w)
            found[0] += bits_in(~planes[w]);
        for (std::size_t p = 1; p < planes_; ++p) {
            const auto* plane = planes.data() + p * words_;
            for (std::size_t w = 0; w < words_; ++w)
                found[p] += bits_in(plane[w] & ~planes[w]);
        }
        counts_.alive += found[0] * weight;
        for (std::size_t p = 1; p < planes_; ++p)
            counts_.flag[p] += found[p] * weight;
    }

    void add(Words& planes, Ref diagram) {
        const auto& more = planes_of(diagram);
        for_each_flag(diagrams_.flags(diagram), [&](std::size_t flag) {
            auto* to = planes.data() + flag * words_;
            const auto* from = more.data() + flag * words_;
            for (std::size_t w = 0; w < words_; ++w)
                to[w] |= from[w];
        });
    }

    const Words& planes_of(Ref diagram) {
        const auto known = made_.find(diagram);
        if (known != made_.end()) return known->second;
        if ((made_.size() + 1) * planes_ * words_ > kRemembered) made_.clear();
        Words planes(planes_ * words_, 0);
        fill(planes, diagram, 0, 0);
        return made_.emplace(diagram, std::move(planes)).first->second;
    }

    void fill(Words& planes, Ref diagram, std::size_t depth, std::uint64_t at) const {
        if (Diagrams::is_constant(diagram)) {
            for_each_flag(static_cast<Code>(diagram),
                          [&](std::size_t flag) { set(planes, flag, at, inner_cells_[depth]); });
            return;
        }
        const auto axis = inner_[depth];
        const bool asks = diagrams_.axis(diagram) == axis;
        for (std::size_t row = 0; row < diagrams_.sizes()[axis]; ++row) {
            fill(planes, asks ? diagrams_.row(diagram, row) : diagram, depth + 1,
                 at + row * inner_cells_[depth + 1]);
        }
    }

    // `count` bits of a plane from `at`.
    void set(Words& planes, std::size_t flag, std::uint64_t at, std::uint64_t count) const {
        auto* plane = planes.data() + flag * words_;
        for (const auto end = at + count; at < end;) {
            const auto from = at % kWordBits;
            const auto length = std::min<std::uint64_t>(kWordBits - from, end - at);
            plane[at / kWordBits] |= (length == kWordBits ? kOnes : (std::uint64_t{1} << length) - 1) << from;
            at += length;
        }
    }
    // The first bits of the plane of dead cells.
    static void clear(Words& planes, std::uint64_t count) {
        for (std::uint64_t w = 0; w < count / kWordBits; ++w)
            planes[w] = 0;
        if (count % kWordBits != 0) planes[count / kWordBits] &= kOnes << (count % kWordBits);
    }

    const Diagrams& diagrams_;
    Progress* progress_;
    std::size_t planes_ = 1;
    std::size_t words_ = 1;
    std::uint64_t factor_ = 1;
    std::vector<std::size_t> outer_, inner_;
    std::vector<std::uint64_t> outer_cells_;  ///< of the axes from a depth on
    std::vector<std::uint64_t> inner_cells_;
    std::vector<std::uint8_t> place_;  ///< of each axis; 1: in the block
    std::vector<Level> levels_;
    std::unordered_map<Ref, Words> made_;
    BitsetCounts counts_;
};

}  // namespace

std::vector<std::size_t> walking_order(const std::vector<std::size_t>& sizes,
                                       const std::vector<std::size_t>& diagrams, std::uint64_t block) {
    std::vector<std::size_t> busiest(sizes.size());
    std::iota(busiest.begin(), busiest.end(), std::size_t{0});
    std::stable_sort(busiest.begin(), busiest.end(),
                     [&](std::size_t a, std::size_t b) { return diagrams[a] > diagrams[b]; });
    std::uint64_t cells = 1;
    const auto outer = std::find_if(busiest.begin(), busiest.end(), [&](std::size_t axis) {
        cells = cells > block / sizes[axis] ? block + 1 : cells * sizes[axis];
        return cells > block;
    });
    std::rotate(busiest.begin(), outer, busiest.end());
    return busiest;
}

BitsetCounts bitset_count(const Diagrams& diagrams, const std::vector<Ref>& layers, std::uint64_t block,
                          Progress* progress) {
    return Walk(diagrams, layers, block, progress).run(layers);
}

}  // namespace cudamatrix::rules
