// Where bytes come from: a mapped file, a wheel behind HTTP range requests, a member of an archive.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.hpp"

namespace cudamatrix {

/// Bytes of a known number that can be read at any place.
class ByteSource {
  public:
    ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    virtual ~ByteSource() = default;

    [[nodiscard]] virtual std::uint64_t size() const = 0;

    /// Fills all of `into` with the bytes from `offset` on; what lies past the end is a failure too.
    [[nodiscard]] virtual Status read(std::uint64_t offset, std::span<std::uint8_t> into) = 0;
};

/// Takes bytes in order, as they come; its failure ends the stream.
using ByteSink = std::function<Status(std::span<const std::uint8_t>)>;

}  // namespace cudamatrix
