// Packages that a cell gets because others demand them, and of which the index has the source only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"

namespace cudamatrix::rules {

struct SourceOnly {
    std::string chain;  ///< "hydra-core 1.1.0 needs omegaconf ==2.1.*, omegaconf 2.1.2 needs antlr4 ==4.8"
    std::string name;   ///< of the package at its end
    PackageRelease release;  ///< its newest that fits
    std::vector<FactRef> facts;
};

/// What a release demands, or what that demands in turn, without a wheel for the machine, whichever of the
/// releases that facts know pip takes. `is_named`: the packages that the cell has at a version of its own.
[[nodiscard]] std::optional<SourceOnly> source_only(const Context& context, std::string_view text,
                                                    const Row& release,
                                                    const std::function<bool(std::string_view)>& is_named);

}  // namespace cudamatrix::rules
