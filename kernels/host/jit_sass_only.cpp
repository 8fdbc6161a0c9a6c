#include <stdlib.h>

#include <algorithm>

#include "fatbin/cover.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/host/own_program.hpp"

namespace cudamatrix::suite {
namespace {

const std::vector<CodeMeaning>& sass_meanings() {
    static constexpr const char* kHint = "add this compute capability to the architecture list";
    // 223: there is PTX, and the test has forbidden to compile it.
    static const std::vector<CodeMeaning> kMeanings = {{209, "no_kernel_image", "F6", kHint},
                                                       {223, "no_kernel_image", "F6", kHint}};
    return kMeanings;
}

}  // namespace

/// Whatever PTX there is, the machine code has to do.
Record jit_sass_only(const Context& context) {
    OwnProgram program;
    if (auto without = read_own_program(context, program)) return *without;
    const auto device = cell_arch(context);
    const auto runs = [&](const fatbin::Arch& arch) { return fatbin::sass_runs_on(arch, *device); };
    if (device && std::none_of(program.asked_sass.begin(), program.asked_sass.end(), runs)) {
        return Record::skip("not_in_cell", "the suite was built without machine code for " + context.compute);
    }
    // The driver reads them when it is loaded.
    ::setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    ::unsetenv("CUDA_FORCE_PTX_JIT");
    return run_own_program(context, program, fatbin::Kind::sass, sass_meanings(), "without a compiler");
}

}  // namespace cudamatrix::suite
