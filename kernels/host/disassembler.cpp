#include "kernels/host/disassembler.hpp"

#include <stdlib.h>
#include <unistd.h>

#include "kernels/support/context.hpp"
#include "kernels/support/process.hpp"

namespace cudamatrix::suite {
namespace {

constexpr std::size_t kMostText = 16 * 1024 * 1024;
constexpr double kToolLimit = 20;  // seconds; it takes a fraction of one

/// A file in the temporary folder, removed with the object.
class ScratchFile {
  public:
    explicit ScratchFile(fatbin::Bytes bytes) {
        const char* base = ::getenv("TMPDIR");
        path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/suite_cubin.XXXXXX";
        const int fd = ::mkstemp(path_.data());
        made_ = fd >= 0;
        std::size_t done = 0;
        while (made_ && done < bytes.size) {
            const ssize_t n = ::write(fd, bytes.data + done, bytes.size - done);
            if (n <= 0) break;
            done += static_cast<std::size_t>(n);
        }
        whole_ = made_ && ::close(fd) == 0 && done == bytes.size;
    }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
    ~ScratchFile() {
        if (made_) ::unlink(path_.c_str());
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] bool whole() const { return whole_; }

  private:
    std::string path_;
    bool made_ = false;
    bool whole_ = false;
};

std::string failure_of(const ProcessResult& result) {
    if (!result.start_error.empty()) return result.start_error;
    if (result.timed_out) return "did not end";
    return "exit code " + std::to_string(result.exit_code) + ": " +
           result.err.substr(0, result.err.find('\n'));
}

}  // namespace

Disassembler Disassembler::find(const std::string& nvcc) {
    Disassembler found;
    found.path_ = find_program("nvdisasm");
    if (found.path_.empty()) found.path_ = find_program("/usr/local/cuda/bin/nvdisasm");
    if (found.path_.empty()) {
        found.missing_ = "the image has no nvdisasm";
        return found;
    }
    ProcessSpec spec;
    spec.argv = {found.path_, "--version"};
    spec.limit_s = kToolLimit;
    const ProcessResult result = run_process(spec);
    constexpr std::string_view kRelease = "release ";
    const std::size_t at = result.out.find(kRelease);
    if (at != std::string::npos) found.version_ = major_minor(result.out.substr(at + kRelease.size()));
    if (result.exit_code != 0 || found.version_.empty()) {
        found.missing_ = found.path_ + " does not tell its release";
    } else if (!nvcc.empty() && compare_versions(found.version_, major_minor(nvcc)) < 0) {
        found.missing_ = "nvdisasm " + found.version_ + " is older than nvcc " + nvcc;
    }
    return found;
}

Listing Disassembler::read(fatbin::Bytes cubin, std::string& error) const {
    const ScratchFile file(cubin);
    if (!file.whole()) {
        error = file.path() + " cannot be written";
        return {};
    }
    ProcessSpec spec;
    spec.argv = {path_, "-c", file.path()};  // code only
    spec.out_limit = kMostText;
    spec.limit_s = kToolLimit;
    const ProcessResult result = run_process(spec);
    if (result.exit_code != 0 || result.out.size() >= kMostText) {
        error = result.exit_code == 0 ? "writes more than can be read" : failure_of(result);
        return {};
    }
    return list_sass(result.out);
}

}  // namespace cudamatrix::suite
