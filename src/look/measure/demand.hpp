// What a package demands of others: Requires-Dist of METADATA (PEP 508) as the `requires` of package_releases
// says it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::measure {

/// The headers of METADATA or PKG-INFO that facts are made of.
struct Metadata {
    std::string version;
    std::string requires_python;  ///< ">=3.9"; empty: not given
    std::vector<std::string> requires_dist;
};

/// Reads the headers (core metadata specification: RFC 822 style, the description follows an empty line).
[[nodiscard]] Metadata parse_metadata(std::string_view text);

/// "torch (>=2.0,!=2.1) ; python_version >= '3.13'" as {"torch >=2.0,!=2.1; python >=3.13"}: the marker is
/// judged for CPython on Linux without extras; where it depends on the python or the machine, a condition (or
/// several, one text each) remains. Empty where nothing is demanded of anyone by version. Nothing for what is
/// no requirement, or asks for what only the machine itself can tell. `requires_python` limits the pythons
/// that a condition has to speak of.
[[nodiscard]] std::optional<std::vector<std::string>> demands(std::string_view requirement,
                                                              std::string_view requires_python);

/// All demands of a package, sorted, each once; nothing and the requirement in `bad` where one is not
/// understood.
[[nodiscard]] std::optional<std::vector<std::string>> all_demands(const Metadata& metadata, std::string& bad);

/// The same demands, whatever the order of their clauses and of the list.
[[nodiscard]] bool same_demands(const std::vector<std::string>& a, const std::vector<std::string>& b);

// Environment markers of requirements (PEP 508), judged for CPython on Linux without extras.

class Marker {
  public:
    /// Nothing for what is no marker. The empty text always holds.
    [[nodiscard]] static std::optional<Marker> parse(std::string_view text);

    /// With that python ("3.12") on that machine ("x86_64"). Nothing where the answer hangs on what only a
    /// machine itself can tell (platform_release, platform_version).
    [[nodiscard]] std::optional<bool> holds(std::string_view python, std::string_view arch) const;

    struct Node;

  private:
    explicit Marker(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
    std::shared_ptr<const Node> root_;
};

}  // namespace cudamatrix::measure
