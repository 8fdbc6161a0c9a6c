// Deflated bytes that come piece by piece (the only door to zlib).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/byte_source.hpp"

namespace cudamatrix {

class Inflater {
  public:
    /// `raw`: a deflate stream alone, as in zip; `gzip`: one or several with header and checksum (RFC 1952).
    enum class Format { raw, gzip };
    enum class State {
        more,    ///< all input was taken, the stream goes on
        ended,   ///< the stream has ended; unused() bytes of the input lie behind it
        broken,  ///< this is no such stream, or its checksum is wrong
    };

    explicit Inflater(Format format);
    ~Inflater();
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    /// False where zlib cannot be started: out of memory.
    [[nodiscard]] bool ready() const { return ready_; }
    /// Hands what the input inflates to, at most 64 KiB at once, to `sink`, whose failure is passed on.
    [[nodiscard]] Result<State> feed(std::span<const std::uint8_t> input, const ByteSink& sink);
    /// Bytes of the last input that lie behind the end of the stream.
    [[nodiscard]] std::size_t unused() const { return unused_; }

  private:
    struct Stream;
    [[nodiscard]] Result<State> inflate_some(const ByteSink& sink);

    std::unique_ptr<Stream> stream_;
    Format format_;
    bool ready_ = false;
    bool ended_ = false;  ///< what comes next is another gzip stream
    std::size_t unused_ = 0;
};

/// CRC-32 of zip and gzip over `bytes`, going on from that of the bytes before them (0: none).
[[nodiscard]] std::uint32_t crc32(std::uint32_t before, std::span<const std::uint8_t> bytes);

}  // namespace cudamatrix
