// Packages without a pin (`vllm: any`): the release that pip would take for the cell, as far as facts know.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/context.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// What decides which releases pip would take: every rule that reads packages sees those that follow from all
/// of these, whichever of them it declares.
inline constexpr FieldSet kReadByUnpinned{Field::packages, Field::torch,   Field::python,
                                          Field::arch,     Field::os,      Field::image,
                                          Field::family,   Field::flavour, Field::cuda};

/// One package of the cell whose version is `any`.
struct Unpinned {
    std::string name;                         ///< canonical (PEP 503)
    std::optional<PackageRelease> release{};  ///< what pip would take
    // Where that is nothing:
    bool is_known = false;          ///< facts list its releases
    std::string obstacle = {};      ///< ... and pip would find none, because of this; empty: nobody found out
    Field field = Field::packages;  ///< what the obstacle is about, beside the packages
    std::vector<FactRef> facts = {};
};

/// The arch of a cell that names none, where its GPU is in hosts of one kind only; else empty.
[[nodiscard]] std::string_view implied_arch(const Facts& facts, const Cell& cell);

[[nodiscard]] bool has_unpinned(const Value* packages);

/// In the order of the cell, whose view shows kReadByUnpinned, and the packages as they are written: the
/// newest releases, neither yanked nor pre-releases, that take the cell's python, have something to install
/// for its machine, and agree with torch, the pins and each other. What the cell does not say excludes
/// nothing, nor does what a row leaves open.
[[nodiscard]] std::vector<Unpinned> unpinned(const Context& context);

/// The packages of a whole cell with the releases in the place of `any`, where there are such; nothing where
/// no version is `any`. `log`, where there is one, learns what they rest on.
[[nodiscard]] std::optional<Value> with_releases(const Cell& cell, const Facts& facts, Memo* memo = nullptr,
                                                 ReadLog* log = nullptr);

}  // namespace cudamatrix::rules
