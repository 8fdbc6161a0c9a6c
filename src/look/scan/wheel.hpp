// Scans the members of a wheel, each in one pass and without a copy on disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_source.hpp"
#include "base/sha256.hpp"
#include "look/scan/local.hpp"
#include "registry/wheel_index.hpp"

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

// Scans a wheel where it lies on a Python package index.

/// "torch==2.6.0+cu118": one version of a project.
struct Requirement {
    std::string project;
    std::string version;
};
/// Nothing for what is not written like that.
[[nodiscard]] std::optional<Requirement> parse_requirement(const std::string& text);

/// Which of a version's files.
struct WheelChoice {
    std::string python;  ///< "3.12"; empty: the newest that there is
    std::string arch = "x86_64";
};

/// The Linux wheel of that version. Without a local version ("+cu118") the one without is taken. Input
/// failures say which versions, pythons or architectures there are instead.
[[nodiscard]] Result<IndexFile> choose_wheel(const std::vector<IndexFile>& files, const Requirement& wanted,
                                             const WheelChoice& choice);

/// Reads the whole wheel once over range requests, and compares its sha256 where the index gives one.
[[nodiscard]] Result<Scan> scan_index_wheel(HttpConnection& connection, const std::string& index,
                                            const Requirement& wanted, const WheelChoice& choice,
                                            const Options& options);

}  // namespace cudamatrix::scan
