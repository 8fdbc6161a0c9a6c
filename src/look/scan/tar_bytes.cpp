#include "look/scan/tar_bytes.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::scan {
namespace {

constexpr std::size_t kSniffedBytes = 6;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

bool starts_with(std::span<const std::uint8_t> bytes, std::initializer_list<std::uint8_t> magic) {
    return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

}  // namespace

Status TarBytes::feed(std::span<const std::uint8_t> bytes) {
    if (begun_) return inflater_ ? inflate(bytes) : tar_.feed(bytes);
    first_.insert(first_.end(), bytes.begin(), bytes.end());
    return first_.size() < kSniffedBytes ? Status(Done{}) : begin();
}

Status TarBytes::begin() {
    begun_ = true;
    const auto first = std::exchange(first_, {});
    const bool zstd = starts_with(first, {0x28, 0xb5, 0x2f, 0xfd});
    if (zstd || starts_with(first, {0xfd, '7', 'z', 'X', 'Z', 0})) {
        return input_failure(
            fmt::format("{} is compressed by {}", text::printable(label_), zstd ? "zstd" : "xz"),
            "a tar that is plain or compressed by gzip; docker save writes plain ones");
    }
    if (!starts_with(first, {0x1f, 0x8b})) return tar_.feed(first);
    inflater_ = std::make_unique<Inflater>(Inflater::Format::gzip);
    if (!inflater_->ready()) return environment_failure("zlib cannot be started");
    return inflate(first);
}

Status TarBytes::inflate(std::span<const std::uint8_t> bytes) {
    const auto state = inflater_->feed(bytes, [this](std::span<const std::uint8_t> plain) -> Status {
        inflated_ += plain.size();
        if (inflated_ > kMostBytes) {
            return input_failure(fmt::format("{} inflates to more than {}", text::printable(label_),
                                             text::human_bytes(kMostBytes)));
        }
        return tar_.feed(plain);
    });
    if (!state.ok()) return state.failure();
    if (*state == Inflater::State::broken) {
        return input_failure(fmt::format("{} is damaged: its gzip stream is broken", text::printable(label_)),
                             "make or fetch it again");
    }
    if (!bytes.empty()) stream_ended_ = *state == Inflater::State::ended;
    return Done{};
}

Status TarBytes::finish() {
    if (!begun_) {
        CM_TRY(begin());
    }
    if (inflater_ && !stream_ended_) {
        return input_failure(fmt::format("{} is cut off: its gzip stream goes on", text::printable(label_)),
                             "make or fetch it again");
    }
    return tar_.finish();
}

}  // namespace cudamatrix::scan
