#include "base/base64.hpp"

#include <cstdint>

namespace cudamatrix::base64 {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encoded(std::string_view bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto group = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits = bits << 8U | (j < group.size() ? static_cast<std::uint8_t>(group[j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            out += j <= group.size() ? kDigits[bits >> (18 - 6 * j) & 63U] : '=';
    }
    return out;
}

std::optional<std::string> decoded(std::string_view text) {
    if (text.size() % 4 == 0) {
        for (int i = 0; i < 2 && text.ends_with('='); ++i)
            text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) return std::nullopt;
    std::string out;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : text) {
        const auto digit = kDigits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out += static_cast<char>(bits >> held & 0xffU);
    }
    if ((bits & ((1U << held) - 1U)) != 0) return std::nullopt;
    return out;
}

}  // namespace cudamatrix::base64
