// libFuzzer: what goes by once. The first byte chooses the size of the pieces.
#include <algorithm>

#include "look/scan/stream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::size_t piece = std::size_t{1} + data[0] * 37U;
    const std::span<const std::uint8_t> bytes(data + 1, size - 1);
    cudamatrix::scan::ContainerStream containers(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        containers.feed(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    containers.finish();
    for (const auto& candidate : containers.candidates())
        (void)containers.entries(candidate);
    return 0;
}
