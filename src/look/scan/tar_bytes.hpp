// A tar that goes by once, plain or compressed by gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "look/scan/tar_stream.hpp"
#include "registry/inflate.hpp"

namespace cudamatrix::scan {

/// Feed all bytes, then finish; the handler gets what the tar holds.
class TarBytes {
  public:
    /// `label` names the tar in messages.
    TarBytes(TarHandler& handler, std::string label) : label_(std::move(label)), tar_(handler, label_) {}

    /// Input failures: those of TarStream, a gzip stream that is broken, another compression, more bytes than
    /// anything honest inflates to.
    [[nodiscard]] Status feed(std::span<const std::uint8_t> bytes);
    /// Input failure where the end did not come.
    [[nodiscard]] Status finish();

  private:
    [[nodiscard]] Status begin();
    [[nodiscard]] Status inflate(std::span<const std::uint8_t> bytes);

    std::string label_;
    TarStream tar_;
    std::vector<std::uint8_t> first_;  ///< until there are enough bytes to tell what this is
    bool begun_ = false;
    std::unique_ptr<Inflater> inflater_;
    bool stream_ended_ = false;
    std::uint64_t inflated_ = 0;
};

}  // namespace cudamatrix::scan
