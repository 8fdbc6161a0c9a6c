#include "look/scan/local.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "fatbin/mapped_file.hpp"

namespace cudamatrix::scan {
namespace {

constexpr std::uint64_t kLargePart = 16U << 20;

constexpr std::size_t kDeepest = 128;  // folders in folders: each holds an open descriptor while it is walked

class Fd {
  public:
    explicit Fd(int fd) : fd_(fd) {}
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

class Walk {
  public:
    Walk(std::string root, const Options& options, Scan& scan)
        : root_(std::move(root)), options_(options), scan_(scan) {}

    void folder(int parent, const char* name, const std::string& path, std::size_t depth) {
        if (depth > kDeepest) {
            not_read(path, fmt::format("more than {} folders in each other", kDeepest));
            return;
        }
        Fd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        std::unique_ptr<DIR, CloseFolder> entries(fd.get() < 0 ? nullptr : ::fdopendir(fd.get()));
        if (!entries) {
            not_read(path, std::strerror(errno));
            return;
        }
        const int self = fd.release();  // closedir closes it
        while (!cancelled()) {
            errno = 0;
            const dirent* entry = ::readdir(entries.get());
            if (entry == nullptr) {
                if (errno != 0) not_read(path, std::strerror(errno));
                return;
            }
            const std::string_view text(entry->d_name);
            if (text == "." || text == "..") continue;
            one(self, *entry, path.empty() ? std::string(text) : path + "/" + entry->d_name, depth);
        }
    }

  private:
    [[nodiscard]] bool cancelled() const { return cudamatrix::interrupted(options_.cancellation); }

    void not_read(const std::string& path, std::string why) {
        scan_.not_read.push_back({path, std::move(why)});
    }

    void one(int parent, const dirent& entry, const std::string& path, std::size_t depth) {
        auto type = entry.d_type;
        if (type == DT_UNKNOWN) {  // some file systems do not say
            struct stat info {};
            if (::fstatat(parent, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
                not_read(path, std::strerror(errno));
                return;
            }
            if (S_ISDIR(info.st_mode)) type = DT_DIR;
            if (S_ISREG(info.st_mode)) type = DT_REG;
        }
        if (type == DT_DIR) folder(parent, entry.d_name, path, depth + 1);
        if (type == DT_REG) file(parent, entry.d_name, path);
    }

    void file(int parent, const char* name, const std::string& path) {
        ++scan_.files;
        const Fd fd(::openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        std::uint8_t start[kSniffed];
        const auto got = fd.get() < 0 ? -1 : ::pread(fd.get(), start, sizeof start, 0);
        if (got < 0) {
            not_read(path, std::strerror(errno));
            return;
        }
        if (!options_.depth.everywhere && !may_hold_code({start, static_cast<std::size_t>(got)})) return;
        const auto mapped = fatbin::MappedFile::open(root_ + "/" + path);
        if (!mapped.error().empty()) {
            not_read(path, mapped.error());
            return;
        }
        auto library = read_library(path, mapped.bytes(), options_.depth);
        if (worth_listing(library)) scan_.libraries.push_back(std::move(library));
    }

    std::string root_;
    const Options& options_;
    Scan& scan_;
};

Result<Scan> scan_one_file(const std::string& path, const Options& options) {
    const auto shown = text::printable(path);
    const auto mapped = fatbin::MappedFile::open(path);
    if (!mapped.error().empty())
        return environment_failure(fmt::format("cannot read {}: {}", shown, mapped.error()));
    const auto bytes = mapped.bytes();
    if (!options.depth.everywhere && !may_hold_code(bytes)) {
        return input_failure(
            fmt::format("{}: neither an ELF file, a static library, a cubin nor a fat binary", shown),
            "name a file that nvcc, a linker or ar has written, or search every byte of this one with "
            "--deep");
    }
    Scan scan{path, "file", {}, {}, 1};
    scan.libraries.push_back(read_library(path, bytes, options.depth));
    if (const auto& library = scan.libraries.front(); !library.error.empty() && library.entries == 0)
        return input_failure(fmt::format("{}: {}", shown, text::printable(library.error)));
    return scan;
}

}  // namespace

Meter::Meter(const Options& options, std::string_view name, std::uint64_t transfer, std::uint64_t size)
    : options_(options),
      name_(fmt::format("{} ({})", text::printable(name), text::human_bytes(transfer))),
      size_(size),
      counts_(options.progress && transfer >= kLargePart) {
    if (counts_) say();
}

void Meter::add(std::uint64_t bytes) {
    done_ += bytes;
    if (!counts_ || fifths_ == 5 || done_ < size_ / 5 * (fifths_ + 1)) return;
    fifths_ =
        static_cast<unsigned>(std::min<std::uint64_t>(5, done_ / std::max<std::uint64_t>(1, size_ / 5)));
    say();
}

void Meter::say() const {
    options_.progress(fmt::format("{}: {} %", name_, fifths_ * 20));
}

bool worth_listing(const Library& library) {
    return library.entries != 0 || !library.error.empty();
}

Result<Scan> scan_local(const std::string& path, const Options& options) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        const auto message = fmt::format("cannot read {}: {}", text::printable(path), std::strerror(errno));
        if (errno == ENOENT || errno == ENOTDIR) return input_failure(message, "name a file or a folder");
        return environment_failure(message);
    }
    if (S_ISREG(info.st_mode)) return scan_one_file(path, options);
    if (!S_ISDIR(info.st_mode)) {
        return input_failure(fmt::format("{} is neither a file nor a folder", text::printable(path)),
                             "name a file or a folder");
    }
    Scan scan{path, "folder", {}, {}, 0};
    // The folder itself may be a link; below it none is followed.
    const Fd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.get() < 0)
        return environment_failure(
            fmt::format("cannot read {}: {}", text::printable(path), std::strerror(errno)));
    Walk(path, options, scan).folder(root.get(), ".", "", 0);
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    std::ranges::sort(scan.libraries, by_path);
    std::ranges::sort(scan.not_read, by_path);
    return scan;
}

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

Answer answer_to(const Library& library, const Question& question) {
    Answer answer;
    answer.cover = fatbin::cover(library.offer, question.arch, question.ptx_isa);
    answer.text = answer.cover.text;
    if (answer.cover.code_path == fatbin::CodePath::ptx_jit && !question.driver.empty() &&
        !question.ptx_isa) {
        // cover() takes PTX for granted without an ISA; here a driver was named of which it is not known.
        answer.outcome = Outcome::unknown;
    } else if (answer.cover.code_path != fatbin::CodePath::none &&
               (library.error.empty() || !answer.cover.linked)) {
        answer.outcome = Outcome::runs;  // what is damaged may hide a part that cannot be linked
    } else if (!library.error.empty()) {
        answer.outcome = Outcome::unknown;
        answer.text = "unknown: " + library.error;
    } else if (!library.has_kernels()) {
        answer.text = "no kernels";
    } else {
        answer.outcome = Outcome::no_code;
        const bool lto =
            library.offer.all().empty() && std::ranges::any_of(library.targets, [](const auto& t) {
                return t.kernels && t.kind == fatbin::Kind::lto;
            });
        if (lto) answer.text = "none: link-time code only, which no driver loads";
    }
    return answer;
}

std::vector<Answer> answers(const Scan& scan, const std::vector<Question>& questions) {
    std::vector<Answer> result;
    for (std::size_t i = 0; i < scan.libraries.size(); ++i) {
        for (std::size_t j = 0; j < questions.size(); ++j) {
            result.push_back(answer_to(scan.libraries[i], questions[j]));
            result.back().library = i;
            result.back().question = j;
        }
    }
    return result;
}

}  // namespace cudamatrix::scan
