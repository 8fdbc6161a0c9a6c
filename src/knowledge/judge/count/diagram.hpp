// Functions of a cell's place in the product (the row that it takes of each axis) as decision diagrams: what
// a rule says, what an exclude covers. Equal parts exist once (private to knowledge/judge).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "matrix/field.hpp"

namespace cudamatrix::rules {

/// All diagrams over the axes of one matrix. A diagram asks for the row of one axis and goes on with the
/// diagram of that row, or is a constant: a set of eight flags.
class Diagrams {
  public:
    using Code = std::uint8_t;
    using Ref = std::uint32_t;   ///< a constant where < 256
    using Axes = std::uint32_t;  ///< a set of axes
    static_assert(kFieldCount <= 32, "an axis has at least one field: 32 axes are enough");

    /// `sizes`: the number of rows of each axis. They are asked for in this order until `set_order`.
    explicit Diagrams(std::vector<std::size_t> sizes);

    [[nodiscard]] static bool is_constant(Ref diagram) { return diagram < kConstants; }
    /// One diagram for each row of the axis; where they are all the same the axis does not matter.
    [[nodiscard]] Ref branch(std::size_t axis, std::span<const Ref> rows);

    [[nodiscard]] std::size_t axis(Ref diagram) const { return node(diagram).axis; }
    [[nodiscard]] Ref row(Ref diagram, std::size_t row) const { return rows_[node(diagram).first + row]; }
    /// The axes that matter.
    [[nodiscard]] Axes support(Ref diagram) const { return is_constant(diagram) ? 0 : node(diagram).support; }
    /// Every flag that some cell has.
    [[nodiscard]] Code flags(Ref diagram) const {
        return is_constant(diagram) ? static_cast<Code>(diagram) : node(diagram).flags;
    }
    [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }
    /// How many there are so far: what the last step cost.
    [[nodiscard]] std::size_t count() const { return nodes_.size(); }

    /// The order in which `ordered` diagrams ask, each axis once.
    void set_order(std::vector<std::size_t> order);
    [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
    /// The same function, asking in the order.
    [[nodiscard]] Ref ordered(Ref diagram);

    /// `change` applied to each constant.
    [[nodiscard]] Ref map(Ref diagram, const std::function<Code(Code)>& change);
    /// Of two ordered diagrams.
    [[nodiscard]] Ref combine(Ref a, Ref b, const std::function<Code(Code, Code)>& how);
    [[nodiscard]] Ref either(Ref a, Ref b);

  private:
    static constexpr Ref kConstants = 256;
    struct Node {
        std::uint32_t axis;
        std::uint32_t first;  ///< of its rows in rows_
        Axes support;
        Code flags;
    };
    using Known = std::unordered_map<Ref, Ref>;

    [[nodiscard]] const Node& node(Ref diagram) const { return nodes_[diagram - kConstants]; }
    [[nodiscard]] std::size_t first_axis(Axes axes) const;
    /// What is left of the diagram in the cells that take the row.
    [[nodiscard]] Ref restricted(Ref diagram, std::size_t axis, std::size_t row, Known& known);
    [[nodiscard]] Ref map(Ref diagram, const std::function<Code(Code)>& change, Known& known);
    [[nodiscard]] Ref combine(Ref a, Ref b, const std::function<Code(Code, Code)>& how,
                              std::unordered_map<std::uint64_t, Ref>& known);

    std::vector<std::size_t> sizes_;
    std::vector<std::size_t> order_;
    std::vector<Node> nodes_;
    std::vector<Ref> rows_;
    std::unordered_multimap<std::size_t, Ref> same_;  ///< by a hash of axis and rows
    Known ordered_;
};

}  // namespace cudamatrix::rules
