#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cudamatrix::fatbin {

/// A view of bytes that somebody else owns. C++17 has no std::span.
struct Bytes {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;

    /// True when [offset, offset + length) lies inside. Cannot overflow, whatever the arguments.
    [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t length) const {
        return offset <= size && length <= size - offset;
    }
    /// The part [offset, offset + length); empty when it does not lie inside.
    [[nodiscard]] Bytes sub(std::uint64_t offset, std::uint64_t length) const {
        if (!contains(offset, length)) return {};
        return {data + offset, static_cast<std::size_t>(length)};
    }
    /// Little-endian number of N bytes at an offset that the caller has checked with contains().
    template <typename T>
    [[nodiscard]] T number(std::uint64_t offset) const {
        T value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value = static_cast<T>(value | static_cast<T>(static_cast<T>(data[offset + i]) << (8 * i)));
        }
        return value;
    }
};

/// A file mapped read-only for as long as the object lives: only pages that are looked at are read, which
/// matters for libraries of a gigabyte and more.
class MappedFile {
  public:
    /// Never throws: on failure bytes() is empty and error() says why. An empty file is no failure.
    [[nodiscard]] static MappedFile open(const std::string& path);

    [[nodiscard]] Bytes bytes() const { return map_ ? Bytes{map_.get(), map_.get_deleter().size} : Bytes{}; }
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    struct Unmap {
        std::size_t size;
        void operator()(const std::uint8_t* map) const;
    };

    MappedFile() = default;

    std::unique_ptr<const std::uint8_t, Unmap> map_;
    std::string error_;
};

}  // namespace cudamatrix::fatbin
