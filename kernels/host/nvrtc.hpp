#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// libnvrtc: CUDA C++ to code, without a GPU.
namespace cudamatrix::suite {

/// Answers, as in nvrtc.h.
enum NvrtcResult { kNvrtcInvalidOption = 5, kNvrtcCompilation = 6, kNvrtcBuiltins = 7, kNvrtcAbsent = -1 };

struct NvrtcOutput {
    int code = 0;        ///< of the call that failed; kNvrtcAbsent: the library cannot do it
    std::string log;     ///< its first line
    std::string binary;  ///< cubin, PTX or LTO-IR
};

class Nvrtc {
  public:
    /// The kind of output, as it is called in the library's functions.
    enum class Kind { cubin, ptx, lto };

    explicit Nvrtc(void* library);
    /// Has it all that compiling to a cubin takes (11.2)?
    [[nodiscard]] bool complete() const { return complete_; }
    /// "12.4", "" when it does not say.
    [[nodiscard]] std::string version() const;
    [[nodiscard]] NvrtcOutput compile(const std::string& source, const std::vector<std::string>& options,
                                      Kind kind) const;

  private:
    using Program = void*;
    using Size = int (*)(Program, std::size_t*);
    using Bytes = int (*)(Program, char*);

    [[nodiscard]] static int fetch(Program program, Size size, Bytes bytes, std::string& into);

    bool complete_ = false;
    int (*version_)(int*, int*) = nullptr;
    int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*compile_)(Program, int, const char* const*) = nullptr;
    int (*destroy_)(Program*) = nullptr;
    Size log_size_ = nullptr;
    Bytes log_ = nullptr;
    Size size_[3] = {};  ///< by Kind
    Bytes bytes_[3] = {};
};

}  // namespace cudamatrix::suite
