// YAML as a bounded tree with positions (the only user of yaml-cpp, through its event interface).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix::yaml {

struct Member;

struct Node {
    enum class Kind { null, scalar, sequence, map } kind = Kind::null;
    Location where;
    std::string text;  ///< scalar: its text, quoted or not
    bool quoted = false;
    std::vector<Node> items;      ///< sequence
    std::vector<Member> members;  ///< map, keys are scalars and unique

    [[nodiscard]] const Member* member(std::string_view key) const;
    [[nodiscard]] const Node* find(std::string_view key) const;
};

/// A member of a map: its key and its value.
struct Member {
    Node first;
    Node second;
};

/// Limits against hostile input. Facts files use larger ones than matrix files.
struct Limits {
    std::size_t bytes = 1u << 20;
    std::size_t events = 20'000;
    std::size_t depth = 16;
    std::size_t scalar_bytes = 64u << 10;
};

/// Parses one document. Refused with a position: invalid UTF-8, control characters, anchors, aliases, tags,
/// merge keys, duplicate and non-scalar keys, a second document, anything beyond `limits`, and what yaml-cpp
/// refuses.
[[nodiscard]] Result<Node> parse(std::string_view text, std::string_view file_name,
                                 const Limits& limits = {});

}  // namespace cudamatrix::yaml
