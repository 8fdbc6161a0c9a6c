// Environment markers of requirements (PEP 508), judged for CPython on Linux without extras.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cudamatrix::measure {

class Marker {
  public:
    /// Nothing for what is no marker. The empty text always holds.
    [[nodiscard]] static std::optional<Marker> parse(std::string_view text);

    /// With that python ("3.12") on that machine ("x86_64"). Nothing where the answer hangs on what only a
    /// machine at hand can tell (platform_release, platform_version).
    [[nodiscard]] std::optional<bool> holds(std::string_view python, std::string_view arch) const;

    struct Node;

  private:
    explicit Marker(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
    std::shared_ptr<const Node> root_;
};

}  // namespace cudamatrix::measure
