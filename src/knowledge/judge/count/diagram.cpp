#include "knowledge/judge/count/diagram.hpp"

#include <algorithm>
#include <numeric>

namespace cudamatrix::rules {
namespace {

std::size_t hash_of(std::size_t axis, std::span<const Diagrams::Ref> rows) {
    std::uint64_t hash = axis;
    for (const auto row : rows) {
        hash = (hash ^ row) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32u;
    }
    return static_cast<std::size_t>(hash);
}

constexpr Diagrams::Axes only(std::size_t axis) {
    return Diagrams::Axes{1} << axis;
}

}  // namespace

Diagrams::Diagrams(std::vector<std::size_t> sizes) : sizes_(std::move(sizes)), order_(sizes_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
}

Diagrams::Ref Diagrams::branch(std::size_t axis, std::span<const Ref> rows) {
    if (std::all_of(rows.begin(), rows.end(), [&](Ref row) { return row == rows.front(); }))
        return rows.front();
    const auto hash = hash_of(axis, rows);
    const auto [begin, end] = same_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
        const auto& other = node(it->second);
        if (other.axis == axis && std::equal(rows.begin(), rows.end(), rows_.begin() + other.first))
            return it->second;
    }
    Node made{static_cast<std::uint32_t>(axis), static_cast<std::uint32_t>(rows_.size()), only(axis), 0};
    for (const auto row : rows) {
        made.support |= support(row);
        made.flags |= flags(row);
    }
    const auto ref = static_cast<Ref>(kConstants + nodes_.size());
    nodes_.push_back(made);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    same_.emplace(hash, ref);
    return ref;
}

void Diagrams::set_order(std::vector<std::size_t> order) {
    order_ = std::move(order);
    ordered_.clear();
}

std::size_t Diagrams::first_axis(Axes axes) const {
    return *std::find_if(order_.begin(), order_.end(),
                         [&](std::size_t axis) { return (axes & only(axis)) != 0; });
}

Diagrams::Ref Diagrams::ordered(Ref diagram) {
    if (is_constant(diagram)) return diagram;
    if (const auto found = ordered_.find(diagram); found != ordered_.end()) return found->second;
    const auto first = first_axis(support(diagram));
    std::vector<Ref> rows;
    for (std::size_t i = 0; i < sizes_[first]; ++i) {
        Known known;
        rows.push_back(ordered(restricted(diagram, first, i, known)));
    }
    const auto made = branch(first, rows);
    ordered_.emplace(diagram, made);
    return made;
}

Diagrams::Ref Diagrams::restricted(Ref diagram, std::size_t axis, std::size_t row, Known& known) {
    if ((support(diagram) & only(axis)) == 0) return diagram;
    const auto top = this->axis(diagram);
    if (top == axis) return this->row(diagram, row);
    if (const auto found = known.find(diagram); found != known.end()) return found->second;
    std::vector<Ref> rows;
    for (std::size_t i = 0; i < sizes_[top]; ++i)
        rows.push_back(restricted(this->row(diagram, i), axis, row, known));
    const auto made = branch(top, rows);
    known.emplace(diagram, made);
    return made;
}

Diagrams::Ref Diagrams::map(Ref diagram, const std::function<Code(Code)>& change) {
    Known known;
    return map(diagram, change, known);
}

Diagrams::Ref Diagrams::map(Ref diagram, const std::function<Code(Code)>& change, Known& known) {
    if (is_constant(diagram)) return change(static_cast<Code>(diagram));
    if (const auto found = known.find(diagram); found != known.end()) return found->second;
    const auto top = axis(diagram);
    std::vector<Ref> rows;
    for (std::size_t i = 0; i < sizes_[top]; ++i)
        rows.push_back(map(row(diagram, i), change, known));
    const auto made = branch(top, rows);
    known.emplace(diagram, made);
    return made;
}

Diagrams::Ref Diagrams::combine(Ref a, Ref b, const std::function<Code(Code, Code)>& how) {
    std::unordered_map<std::uint64_t, Ref> known;
    return combine(a, b, how, known);
}

Diagrams::Ref Diagrams::combine(Ref a, Ref b, const std::function<Code(Code, Code)>& how,
                                std::unordered_map<std::uint64_t, Ref>& known) {
    if (is_constant(a) && is_constant(b)) return how(static_cast<Code>(a), static_cast<Code>(b));
    const auto key = std::uint64_t{a} << 32u | b;
    if (const auto found = known.find(key); found != known.end()) return found->second;
    const auto top = first_axis(support(a) | support(b));
    const auto part = [&](Ref diagram, std::size_t i) {
        return !is_constant(diagram) && axis(diagram) == top ? row(diagram, i) : diagram;
    };
    std::vector<Ref> rows;
    for (std::size_t i = 0; i < sizes_[top]; ++i)
        rows.push_back(combine(part(a, i), part(b, i), how, known));
    const auto made = branch(top, rows);
    known.emplace(key, made);
    return made;
}

Diagrams::Ref Diagrams::either(Ref a, Ref b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    return combine(a, b, [](Code x, Code y) { return static_cast<Code>(x | y); });
}

}  // namespace cudamatrix::rules
