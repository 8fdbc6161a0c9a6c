// Whole numbers in text.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace cudamatrix::text {

/// The number that the whole text is: digits only. Nothing for any other text, and where T is too small.
template <std::unsigned_integral T>
[[nodiscard]] std::optional<T> whole_number(std::string_view text) {
    T number = 0;
    const auto* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace cudamatrix::text
