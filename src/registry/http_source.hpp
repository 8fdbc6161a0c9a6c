// A file behind HTTP range requests as a ByteSource: only what is read is transferred.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.hpp"
#include "registry/http.hpp"

namespace cudamatrix {

/// Reads ahead: little where reading jumps, up to 4 MiB at once where it goes on. Of one thread at a time.
class HttpSource final : public ByteSource {
  public:
    /// Asks for the last `tail` bytes, which tells the size as well (of a zip they are the directory).
    /// Environment failures: those of `connection`, which has to outlive the source, another status, a server
    /// that ignores ranges.
    [[nodiscard]] static Result<std::unique_ptr<HttpSource>> open(HttpConnection& connection, std::string url,
                                                                  std::uint64_t tail = 128 * 1024);

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    /// Also fails for another range than the asked one, a file that changed (by size or ETag), a short
    /// answer.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::uint8_t> into) override;

    /// Bytes of the file that came over the network for this source.
    [[nodiscard]] std::uint64_t transferred() const { return transferred_; }

  private:
    struct Window {
        std::uint64_t offset = 0;
        std::string bytes;
        [[nodiscard]] std::uint64_t end() const { return offset + bytes.size(); }
    };

    HttpSource(HttpConnection& connection, std::string url) : connection_(connection), url_(std::move(url)) {}
    [[nodiscard]] Result<HttpResponse> ask(const HttpRange& range, std::uint64_t limit);
    [[nodiscard]] Result<Window> checked(HttpResponse response, std::uint64_t first, std::uint64_t last);
    [[nodiscard]] Status fetch(std::uint64_t offset, std::uint64_t wanted);

    HttpConnection& connection_;
    std::string url_;
    std::string final_url_;  ///< where the redirects of the first request ended
    std::string etag_;
    std::uint64_t size_ = 0;
    std::uint64_t ahead_ = 0;
    std::uint64_t transferred_ = 0;
    Window tail_;
    Window last_;
};

}  // namespace cudamatrix
