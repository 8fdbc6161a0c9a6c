// Little-endian numbers of a zip archive, and the failures that its readers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "base/text.hpp"

namespace cudamatrix::zip {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr std::uint32_t kDirectoryEnd64Locator = 0x07064b50;

constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kDirectoryEntrySize = 46;
constexpr std::size_t kDirectoryEndSize = 22;
constexpr std::size_t kDirectoryEnd64Size = 56;
constexpr std::size_t kDirectoryEnd64LocatorSize = 20;

/// The number of `size` bytes at `at`; the caller has checked that they are there.
[[nodiscard]] inline std::uint64_t number(Bytes bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;)
        value = value << 8 | bytes[at + i];
    return value;
}
[[nodiscard]] inline std::uint16_t u16(Bytes bytes, std::size_t at) {
    return static_cast<std::uint16_t>(number(bytes, at, 2));
}
[[nodiscard]] inline std::uint32_t u32(Bytes bytes, std::size_t at) {
    return static_cast<std::uint32_t>(number(bytes, at, 4));
}
[[nodiscard]] inline std::uint64_t u64(Bytes bytes, std::size_t at) {
    return number(bytes, at, 8);
}
[[nodiscard]] inline std::string_view chars(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// "LABEL is no good zip archive: WHY".
[[nodiscard]] inline Failure refused(std::string_view label, std::string_view why) {
    return input_failure(fmt::format("cannot read {} as a zip archive: {}", text::printable(label), why),
                         "download it again, and compare its sha256 with the one that the index gives");
}

}  // namespace cudamatrix::zip
