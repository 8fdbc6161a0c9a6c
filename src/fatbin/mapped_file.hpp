#pragma once

#include <string>

#include "fatbin/bytes.hpp"

namespace cudamatrix::fatbin {

/// A file mapped read-only for as long as the object lives. Only pages that are looked at are read,
/// which matters for libraries of a gigabyte and more.
class MappedFile {
  public:
    /// Never throws: on failure bytes() is empty and error() says why. An empty file is no failure.
    [[nodiscard]] static MappedFile open(const std::string& path);

    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    MappedFile() = default;
    void unmap();

    Bytes bytes_;
    std::string error_;
};

}  // namespace cudamatrix::fatbin
