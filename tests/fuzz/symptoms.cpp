// libFuzzer: any bytes as an error message or a log. Facts are read once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "advise/symptoms/symptoms.hpp"
#include "base/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto facts = cudamatrix::Facts::embedded();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& match : cudamatrix::symptoms::find(facts, text).matches) {
        if (match.line == 0 || match.excerpt.empty() || cudamatrix::text::invalid_utf8(match.excerpt))
            std::abort();
    }
    return 0;
}
