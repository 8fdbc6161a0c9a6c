#include "registry/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace cudamatrix {
namespace {

constexpr std::size_t kChunk = 64 * 1024;
constexpr int kGzipOnly = 16;  // added to the window's bits: zlib.h, inflateInit2

}  // namespace

struct Inflater::Stream {
    z_stream z{};
};

Inflater::Inflater(Format format) : stream_(std::make_unique<Stream>()), format_(format) {
    const int bits = format == Format::raw ? -MAX_WBITS : MAX_WBITS + kGzipOnly;
    ready_ = ::inflateInit2(&stream_->z, bits) == Z_OK;
}

Inflater::~Inflater() {
    if (ready_) ::inflateEnd(&stream_->z);
}

// Up to the end of the input or of one stream.
Result<Inflater::State> Inflater::inflate_some(const ByteSink& sink) {
    std::array<std::uint8_t, kChunk> plain;
    auto& z = stream_->z;
    for (;;) {
        z.next_out = plain.data();
        z.avail_out = static_cast<uInt>(plain.size());
        const int code = ::inflate(&z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return State::broken;
        const std::size_t got = plain.size() - z.avail_out;
        if (got != 0) {
            CM_TRY(sink({plain.data(), got}));
        }
        if (code == Z_STREAM_END) return State::ended;
        if (z.avail_in == 0 && z.avail_out != 0) return State::more;
        if (code == Z_BUF_ERROR) return State::broken;
    }
}

Result<Inflater::State> Inflater::feed(std::span<const std::uint8_t> input, const ByteSink& sink) {
    auto& z = stream_->z;
    auto state = State::more;
    unused_ = 0;
    while (!input.empty()) {
        if (std::exchange(ended_, false) && ::inflateReset(&z) != Z_OK) return State::broken;
        const auto part = std::min<std::size_t>(input.size(), std::numeric_limits<uInt>::max());
        z.next_in = const_cast<Bytef*>(input.data());  // zlib's older interface lacks the const
        z.avail_in = static_cast<uInt>(part);
        auto done = inflate_some(sink);
        if (!done.ok() || *done == State::broken) return done;
        state = *done;
        input = input.subspan(part - z.avail_in);
        ended_ = state == State::ended && format_ == Format::gzip;
        if (state == State::ended && !ended_) break;
    }
    unused_ = input.size();
    return state;
}

std::uint32_t crc32(std::uint32_t before, std::span<const std::uint8_t> bytes) {
    return static_cast<std::uint32_t>(::crc32_z(before, bytes.data(), bytes.size()));
}

}  // namespace cudamatrix
