// libFuzzer: any text as a lock.
#include "render/lock/lock_file.hpp"

#include "properties.hpp"

using namespace cudamatrix;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::round_trip(
        fuzz::text_of(data, size), [](std::string_view text) { return parse_lock(text, "cudamatrix.lock"); },
        lock_text);
    return 0;
}
