// libFuzzer: ELF section tables and symbols, static libraries.
#include "fatbin/object_files.hpp"

namespace fatbin = cudamatrix::fatbin;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fatbin::Bytes file{data, size};
    const auto elf = fatbin::read_elf(file);
    for (const auto& name : fatbin::defined_functions(elf)) {
        if (name.size() > size) __builtin_trap();
    }
    (void)fatbin::has_instructions(file);
    if (fatbin::looks_like_archive(file)) {
        (void)fatbin::for_each_member(file, [&](std::string_view name, fatbin::Bytes bytes) {
            return name.size() <= size && bytes.size <= size;
        });
    }
    return 0;
}
