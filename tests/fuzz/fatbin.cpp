// libFuzzer: files on disk, by their sections and searched to the last byte.
#include "fatbin/cover.hpp"
#include "fatbin/reader.hpp"

namespace fatbin = cudamatrix::fatbin;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const auto& contents : {fatbin::read({data, size}), fatbin::read_deep({data, size})}) {
        (void)fatbin::containers_with_code(contents);
        (void)fatbin::summary(contents.entries);
        (void)fatbin::cover(fatbin::codes(contents.entries), {9, 0, fatbin::Variant::base},
                            fatbin::PtxIsa{8, 4});
        if (contents.places.size() != contents.containers) __builtin_trap();
    }
    return 0;
}
