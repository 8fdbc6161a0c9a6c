// libFuzzer: the directory and the members of a zip, and the scan of a wheel.
#include <cstring>

#include "base/byte_source.hpp"
#include "look/scan/wheel.hpp"
#include "registry/zip.hpp"

namespace {

class Memory final : public cudamatrix::ByteSource {
  public:
    Memory(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] cudamatrix::Status read(std::uint64_t offset, std::span<std::uint8_t> into) override {
        if (offset > size_ || into.size() > size_ - offset)
            return cudamatrix::input_failure("beyond the end");
        if (!into.empty()) std::memcpy(into.data(), data_ + offset, into.size());
        return cudamatrix::Done{};
    }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Memory source(data, size);
    (void)cudamatrix::scan::scan_wheel(source, "fuzz.whl", {}, {});
    return 0;
}
