#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// libnvJitLink: PTX and LTO-IR to a cubin, without a GPU.
namespace cudamatrix::suite {

/// Answers, as in nvJitLink.h of CUDA 13.
enum NvJitLinkResult { kNvJitLinkUnknownArch = 16, kNvJitLinkUnsupportedArch = 17, kNvJitLinkAbsent = -1 };

struct LinkInput {
    enum class Kind { ptx = 2, lto = 3 };  ///< nvJitLinkInputType
    Kind kind;
    std::string bytes;
};

struct LinkOutput {
    int code = 0;       ///< of the call that failed; kNvJitLinkAbsent: the library cannot do it
    std::string log;    ///< what it says about that
    std::string cubin;  ///< where nothing failed
};

class NvJitLink {
  public:
    explicit NvJitLink(void* library);
    /// Has it all that linking takes?
    [[nodiscard]] bool complete() const { return complete_; }
    /// "12.4"; "" when it does not say, as before 12.3.
    [[nodiscard]] std::string version() const;
    [[nodiscard]] LinkOutput link(const std::vector<LinkInput>& inputs,
                                  const std::vector<std::string>& options) const;

  private:
    using Handle = void*;
    using Size = int (*)(Handle, std::size_t*);

    template <typename Byte>
    [[nodiscard]] static int fetch(Handle handle, Size size, int (*bytes)(Handle, Byte*), std::string& into);
    [[nodiscard]] int add_all(Handle handle, const std::vector<LinkInput>& inputs) const;

    bool complete_ = false;
    int (*version_)(unsigned*, unsigned*) = nullptr;
    int (*create_)(Handle*, std::uint32_t, const char**) = nullptr;
    int (*destroy_)(Handle*) = nullptr;
    int (*add_)(Handle, int, const void*, std::size_t, const char*) = nullptr;
    int (*complete_link_)(Handle) = nullptr;
    Size log_size_ = nullptr;
    int (*log_)(Handle, char*) = nullptr;
    Size cubin_size_ = nullptr;
    int (*cubin_)(Handle, void*) = nullptr;
};

}  // namespace cudamatrix::suite
