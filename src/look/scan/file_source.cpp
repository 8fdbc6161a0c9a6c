#include "look/scan/file_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace cudamatrix::scan {
namespace {

constexpr std::size_t kPiece = 1U << 20;

class FileSource final : public ByteSource {
  public:
    FileSource(int fd, std::uint64_t size, std::string name) : fd_(fd), size_(size), name_(std::move(name)) {}
    ~FileSource() override { ::close(fd_); }

    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::uint8_t> into) override {
        while (!into.empty()) {
            const auto got = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) {
                return environment_failure(fmt::format("cannot read {}: {}", text::printable(name_),
                                                       got == 0 ? "it ends early" : std::strerror(errno)));
            }
            offset += static_cast<std::uint64_t>(got);
            into = into.subspan(static_cast<std::size_t>(got));
        }
        return Done{};
    }

  private:
    int fd_;
    std::uint64_t size_;
    std::string name_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
    // Non-blocking: a pipe that lies there must not hold us before it is refused.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
        const int why = errno;
        if (fd >= 0) ::close(fd);
        auto message = fmt::format("cannot read {}: {}", text::printable(path), std::strerror(why));
        return why == ENOENT || why == ENOTDIR ? input_failure(std::move(message))
                                               : environment_failure(std::move(message));
    }
    std::unique_ptr<ByteSource> source =
        std::make_unique<FileSource>(fd, static_cast<std::uint64_t>(info.st_size), path);
    if (!S_ISREG(info.st_mode)) return input_failure(fmt::format("{} is not a file", text::printable(path)));
    return source;
}

Status read_all(ByteSource& source, const ByteSink& sink) {
    std::vector<std::uint8_t> buffer(kPiece);
    for (std::uint64_t at = 0; at < source.size();) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, source.size() - at));
        const std::span piece(buffer.data(), part);
        CM_TRY(source.read(at, piece));
        CM_TRY(sink(piece));
        at += part;
    }
    return Done{};
}

}  // namespace cudamatrix::scan
