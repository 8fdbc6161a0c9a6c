// What holds of every reader of text from elsewhere: a refusal has words, and what is read can be written and
// read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/text.hpp"

namespace cudamatrix::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds) {
    if (!holds) std::abort();
}

/// Whether it was read.
template <class T>
bool is_read(const Result<T>& result) {
    if (result.ok()) return true;
    require(!result.failure().diagnostics.empty());
    for (const auto& mistake : result.failure().diagnostics)
        require(!mistake.message.empty() && !text::invalid_utf8(render(mistake, {})));
    return false;
}

/// `write` gives the text of what `read` gives of a text; read again, it is written the same.
template <class Read, class Write>
void round_trip(std::string_view text, const Read& read, const Write& write) {
    const auto once = read(text);
    if (!is_read(once)) return;
    const std::string written = write(*once);
    const auto again = read(written);
    require(is_read(again) && write(*again) == written);
}

}  // namespace cudamatrix::fuzz
