// Which pins `lock --update` moves.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::job {

class LockScope {
  public:
    /// What has no pin yet, and nothing else.
    [[nodiscard]] static LockScope missing() { return {}; }
    [[nodiscard]] static LockScope everything();
    /// `words` of: images (digests of registries' tags), bases (bootstrap tars), apt, wheels, the id of an
    /// image (its packages and wheels), an image reference (its digest). None: everything. An input failure
    /// for what names none of the images.
    [[nodiscard]] static Result<LockScope> of(const std::vector<std::string>& words,
                                              const std::vector<Image>& images);

    [[nodiscard]] bool reference(std::string_view canonical) const {
        return references_ || named_.count(canonical) > 0;
    }
    [[nodiscard]] bool bases() const { return bases_; }
    [[nodiscard]] bool apt(std::string_view image) const { return apt_ || named_.count(image) > 0; }
    [[nodiscard]] bool wheels(std::string_view image) const { return wheels_ || named_.count(image) > 0; }

  private:
    bool references_ = false;
    bool bases_ = false;
    bool apt_ = false;
    bool wheels_ = false;
    std::set<std::string, std::less<>> named_;  ///< ids of images, canonical references
};

}  // namespace cudamatrix::job
