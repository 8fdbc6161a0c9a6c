#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/text.hpp"

namespace cudamatrix::file {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
    return std::generic_category().message(error);
}

// A file descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool ok() const { return fd_ >= 0; }
    [[nodiscard]] int release_and_close() {
        const int fd = fd_;
        fd_ = -1;
        return ::close(fd);
    }

  private:
    int fd_;
};

// What could not be written is left of `content`.
bool write_all(int fd, std::string_view& content) {
    while (!content.empty()) {
        const ssize_t put = ::write(fd, content.data(), content.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        content.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

// Whether the rest of an open file is exactly `content`.
bool reads_as(int fd, std::string_view content) {
    char buffer[16 * 1024];
    for (;;) {
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) return content.empty();
        const auto size = static_cast<std::size_t>(got);
        if (content.substr(0, size) != std::string_view(buffer, size)) return false;
        content.remove_prefix(size);
    }
}

Failure not_written(const fs::path& path, std::string_view why) {
    return environment_failure(fmt::format("cannot write {}: {}", text::printable(path.string()), why));
}

}  // namespace

Result<std::string> read(const fs::path& path, std::uint64_t limit) {
    const auto name = text::printable(path.string());
    const auto fail = [&](const std::string& why) {
        return input_failure(fmt::format("cannot read {}: {}", name, why));
    };
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!fd.ok() || ::fstat(fd.get(), &status) != 0) return fail(reason(errno));
    if (S_ISDIR(status.st_mode)) return fail("it is a directory");
    if (!S_ISREG(status.st_mode)) return fail("it is not a regular file");
    std::string content;
    char buffer[64 * 1024];
    for (;;) {
        const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(reason(errno));
        if (got == 0) return content;
        content.append(buffer, static_cast<std::size_t>(got));
        if (content.size() > limit)
            return input_failure(fmt::format("{} is larger than {}", name, text::human_bytes(limit)));
    }
}

Compared compare(const fs::path& path, std::string_view content) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.ok()) return errno == ENOENT || errno == ENOTDIR ? Compared::missing : Compared::no_file;
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return Compared::no_file;
    if (static_cast<std::uint64_t>(status.st_size) != content.size()) return Compared::other;
    return reads_as(fd.get(), content) ? Compared::same : Compared::other;
}

Status create(const fs::path& path, std::string_view content) {
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.ok() || !write_all(fd.get(), content) || ::fchmod(fd.get(), 0644) != 0 ||
        fd.release_and_close() != 0)
        return not_written(path, reason(errno));
    return Done{};
}

Status append(const fs::path& path, std::string_view content) {
    // O_NONBLOCK: opening a FIFO must not wait for a reader.
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
    struct stat before {};
    const bool has_end = fd.ok() && ::fstat(fd.get(), &before) == 0 && S_ISREG(before.st_mode);
    const auto all = content.size();
    if (fd.ok() && write_all(fd.get(), content)) {
        if (fd.release_and_close() == 0) return Done{};
        return not_written(path, reason(errno));
    }
    const int error = errno;
    // Half of a text is worse than none; what somebody else added behind it is not ours to take.
    struct stat now {};
    const auto put = static_cast<off_t>(all - content.size());
    if (has_end && ::fstat(fd.get(), &now) == 0 && now.st_size == before.st_size + put)
        static_cast<void>(::ftruncate(fd.get(), before.st_size) == 0);
    return not_written(path, reason(error));
}

Result<bool> write(const fs::path& path, std::string_view content) {
    std::error_code status_error;
    const auto status = fs::symlink_status(path, status_error);
    if (fs::exists(status) && !fs::is_regular_file(status))
        return not_written(path, "it exists and is not a regular file");
    if (compare(path, content) == Compared::same) return false;

    auto pattern = path.string() + ".XXXXXX";
    Descriptor fd(::mkostemp(pattern.data(), O_CLOEXEC));
    if (!fd.ok()) return not_written(path, reason(errno));
    if (!write_all(fd.get(), content) || ::fchmod(fd.get(), 0644) != 0 || ::fsync(fd.get()) != 0 ||
        fd.release_and_close() != 0 || ::rename(pattern.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(pattern.c_str());
        return not_written(path, reason(error));
    }
    // The new name is durable only when its directory is.
    const auto parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems sync no directories, and say so by EINVAL.
    if (directory.ok() && ::fsync(directory.get()) != 0 && errno != EINVAL)
        return not_written(path, reason(errno));
    return true;
}

Status make_directories(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error || !fs::is_directory(path, error))
        return environment_failure(fmt::format("cannot create the directory {}: {}",
                                               text::printable(path.string()),
                                               error ? error.message() : "something else has that name"));
    return Done{};
}

Result<std::uint64_t> free_bytes(const fs::path& path) {
    std::error_code error;
    auto probe = fs::absolute(path, error);
    while (!fs::exists(probe, error) && probe.has_parent_path() && probe != probe.parent_path()) {
        probe = probe.parent_path();
    }
    struct statvfs status {};
    if (::statvfs(probe.c_str(), &status) != 0)
        return environment_failure(fmt::format("cannot tell the free space at {}: {}",
                                               text::printable(probe.string()), reason(errno)));
    return std::uint64_t{status.f_bavail} * std::uint64_t{status.f_frsize};
}

Status link_or_copy(const fs::path& from, const fs::path& to) {
    std::error_code error;
    if (fs::equivalent(from, to, error)) return Done{};
    const auto fail = [&](std::string_view why) {
        return environment_failure(fmt::format("cannot put {} at {}: {}", text::printable(from.string()),
                                               text::printable(to.string()), why));
    };
    const auto status = fs::status(from, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) return fail("it is not a regular file");
    if (fs::is_directory(fs::symlink_status(to, error))) return fail("a directory has that name");
    // Made beside the target and renamed over it: whatever fails, the old target is still there.
    auto beside = to;
    beside += ".new";
    fs::remove(beside, error);
    fs::create_hard_link(from, beside, error);
    if (error) fs::copy_file(from, beside, fs::copy_options::overwrite_existing, error);
    if (!error) fs::rename(beside, to, error);
    if (error) {
        std::error_code ignored;
        fs::remove(beside, ignored);
        return fail(error.message());
    }
    return Done{};
}

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make(std::string_view parent,
                                                               std::string_view name) {
    auto path = fmt::format("{}/cudamatrix-{}.XXXXXX", parent.empty() ? "/tmp" : parent, name);
    if (mkdtemp(path.data()) == nullptr)
        return environment_failure(
            fmt::format("cannot make the folder {}: {}", text::printable(path), reason(errno)));
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(path)));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
}

}  // namespace cudamatrix::file
