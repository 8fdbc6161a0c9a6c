// Images of pytorch/pytorch that a cell names, and the tags near one that is not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/images.hpp"

namespace cudamatrix::rules {

/// How a cell names an image of pytorch/pytorch.
struct PytorchImage {
    std::string text;  ///< "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"
    std::string name;
    bool by_reference = false;
    [[nodiscard]] std::vector<Field> about() const {
        if (by_reference) return {Field::image};
        return {Field::torch, Field::flavour, Field::family};
    }
};

/// Tags of the same torch that exist, or else of the same minor; `torch` is a version.
[[nodiscard]] std::vector<FixOption> pytorch_options(const Context& context, const PytorchImage& image,
                                                     std::string_view torch, std::string_view flavour);

/// The newest known tag of that torch or an older one, with the same flavour and no newer CUDA where there is
/// one.
[[nodiscard]] std::optional<PytorchTag> nearest_pytorch(const Context& context, const PytorchImage& image,
                                                        const PytorchTag& tag);

}  // namespace cudamatrix::rules
