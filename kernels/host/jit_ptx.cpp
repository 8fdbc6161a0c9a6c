#include <stdlib.h>

#include <algorithm>

#include "fatbin/cover.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/host/own_program.hpp"

namespace cudamatrix::suite {
namespace {

const std::vector<CodeMeaning>& ptx_meanings() {
    static const std::vector<CodeMeaning> kMeanings = {
        {209, "no_kernel_image", "F6", "the suite holds no PTX for this GPU: is it the cell's?"},
        {218, "invalid_ptx", "F7", "the driver could not compile the PTX"},
        {221, "no_jit_compiler", "F8",
         "libnvidia-ptxjitcompiler is missing: NVIDIA_DRIVER_CAPABILITIES lacks compute"},
        {222, "ptx_too_new", "F7",
         "the driver is older than the toolkit that wrote the PTX: add SASS or update it"},
        {223, "jit_disabled", "F8", "CUDA_DISABLE_PTX_JIT is set: unset it"},
    };
    return kMeanings;
}

/// A cell that does not promise PTX for its GPU and its driver has nothing to show here.
std::optional<Record> ptx_not_promised(const Context& context, const OwnProgram& program) {
    if (!program.asked_ptx) return Record::skip("not_in_cell", "the suite was built without PTX");
    const auto device = cell_arch(context);
    if (device && !fatbin::ptx_compiles_for(*program.asked_ptx, *device)) {
        return Record::skip("not_in_cell", "its PTX is for " + fatbin::to_text(*program.asked_ptx) +
                                               " and later, the cell has " + context.compute);
    }
    const auto newest = fatbin::parse_ptx_isa(context.ptx_isa);
    for (const fatbin::Entry& entry : program.entries) {
        if (newest && entry.kind == fatbin::Kind::ptx && *newest < entry.isa) {
            return Record::skip("driver_too_old", "its PTX is ISA " + fatbin::to_text(entry.isa) +
                                                      ", the cell's driver compiles up to " +
                                                      context.ptx_isa);
        }
    }
    return std::nullopt;
}

}  // namespace

/// Whatever machine code there is, the driver has to compile the PTX.
Record jit_ptx(const Context& context) {
    OwnProgram program;
    if (auto without = read_own_program(context, program)) return *without;
    if (auto skip = ptx_not_promised(context, program)) return *skip;
    // The driver reads them when it is loaded.
    ::setenv("CUDA_FORCE_PTX_JIT", "1", 1);
    ::setenv("CUDA_CACHE_DISABLE", "1", 1);
    return run_own_program(context, program, fatbin::Kind::ptx, ptx_meanings(), "compiled by the driver");
}

}  // namespace cudamatrix::suite
