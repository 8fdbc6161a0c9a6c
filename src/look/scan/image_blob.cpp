#include "look/scan/image_blob.hpp"

#include <utility>

#include "base/text.hpp"
#include "look/scan/image_manifest.hpp"

namespace cudamatrix::scan {

ImageBlob::ImageBlob(std::string path, const std::string& label, const Options& options)
    : path_(std::move(path)),
      label_(fmt::format("{} of {}", path_, label)),
      wanted_(digest_in(path_)),
      scanner_(label_, options) {}

void ImageBlob::feed(std::span<const std::uint8_t> bytes) {
    if (bytes.empty() || failure_) return;
    if (!std::exchange(begun_, true)) is_text_ = bytes[0] == '{' || bytes[0] == '[';
    const std::string_view chars(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!wanted_.empty()) hash_.update(chars);
    if (!is_text_) {
        if (auto fed = scanner_.feed(bytes); !fed.ok()) failure_ = std::move(fed).failure();
    } else if (chars.size() > kLongestText - text_.size()) {
        failure_ = input_failure(
            fmt::format("{} has more than {}", text::printable(label_), text::human_bytes(kLongestText)));
    } else {
        text_ += chars;
    }
}

Status ImageBlob::check_hash() {
    if (wanted_.empty()) return Done{};
    const auto digest = hash_.hex();
    if (digest == wanted_) return Done{};
    return input_failure(
        fmt::format("{} is damaged: its bytes have the sha256 {}", text::printable(label_), digest),
        "make or fetch the image again");
}

Result<std::string> ImageBlob::text() {
    if (failure_) return *failure_;
    CM_TRY(check_hash());
    return std::move(text_);
}

Result<Layer> ImageBlob::layer() {
    if (failure_) return *failure_;
    auto layer = scanner_.finish();
    if (!layer.ok()) return layer;
    CM_TRY(check_hash());
    return layer;
}

}  // namespace cudamatrix::scan
