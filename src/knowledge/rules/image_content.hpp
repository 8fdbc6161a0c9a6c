// What the image of a cell holds, as its tag says it: judged by the rules about fields, where the cell does
// not have those fields. Shared by the rules about the content of images.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {

/// What the image holds; empty where its name does not tell.
struct ImageContent {
    std::string text;   ///< "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
    std::string name;   ///< "pytorch/pytorch"
    std::string cuda;   ///< "12.4"
    std::string torch;  ///< "2.6.0+cu124"
    std::vector<FactRef> facts;
    std::optional<CudaTag> cuda_tag;
    std::optional<PytorchTag> pytorch_tag;
    bool own_torch = false;    ///< of nvcr.io/nvidia/pytorch: its torch is no wheel, whatever the cell says
    std::optional<Row> ngc;    ///< the row of such a tag
    std::optional<Row> other;  ///< the row of other_images: of any other repository
    bool listed = false;       ///< a fact says that there is this image
    /// Why nothing is known of what is inside, with the nearest tag of which it is: of a tag that moves, or
    /// that no fact reads. Empty `what`: as much is known as the other members say.
    Unresolved gap;
};
/// Of the cell's `image`; nothing of a repository that no fact describes, of a tag that image-tag-exists
/// refuses, or where a digest decides what it is.
[[nodiscard]] std::optional<ImageContent> image_content(const Context& context);

/// Another rule's answer about the image: `value` stands in for `field`, which the cell does not have. What
/// is not about that field stays unsaid, the rule says it of the cell itself; ways out that would set the
/// field against the image are dropped.
void judge_as(Ask& ask, const ImageContent& image, const Rule& rule, Field field, const std::string& value,
              std::string_view aspect);

/// Whether every byte of the layers of such another image was read, for the cell's processor: then
/// image_libraries says which code there is.
[[nodiscard]] bool layers_read(const Context& context, const ImageContent& image);

/// Whether the libraries of such another image have code for the cell's GPU: a note where no layer was read.
void judge_libraries(Ask& ask, const ImageContent& image);

/// Another tag of the same repository may satisfy each rejection so far.
void offer_other_tags(Ask& ask);

}  // namespace cudamatrix::rules
