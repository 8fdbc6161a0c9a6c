// Scans the members of a wheel, each in one pass and without a copy on disk.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/byte_source.hpp"
#include "base/sha256.hpp"
#include "look/scan/local.hpp"

namespace cudamatrix::scan {

/// Hashes another source from its begin to its end while it is read: what is passed over is read as well,
/// what is read again is counted once. Borrows the source.
class HashedSource final : public ByteSource {
  public:
    explicit HashedSource(ByteSource& source) : source_(source) {}

    [[nodiscard]] std::uint64_t size() const override { return source_.size(); }
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::uint8_t> into) override;

    /// From now on: the directory of a zip is read first and lies at its end.
    void begin() { hashing_ = true; }
    /// Reads what is left; lower-case hexadecimal.
    [[nodiscard]] Result<std::string> finish();

  private:
    [[nodiscard]] Status read_up_to(std::uint64_t offset);

    ByteSource& source_;
    Sha256 hash_;
    std::uint64_t position_ = 0;
    bool hashing_ = false;
};

/// All members of the wheel (any zip) that `source` holds. `sha256`: what the whole file has to have; then
/// all of it is read, and another hash is an input failure. Failures: what Zip gives; `target` names the
/// wheel in messages.
[[nodiscard]] Result<Scan> scan_wheel(ByteSource& source, const std::string& target,
                                      const std::string& sha256, const Options& options);

/// Is this the name of a wheel?
[[nodiscard]] bool is_wheel_name(const std::string& path);

/// A wheel on disk.
[[nodiscard]] Result<Scan> scan_wheel_file(const std::string& path, const Options& options);

}  // namespace cudamatrix::scan
