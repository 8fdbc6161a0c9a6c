#include "kernels/compute/check.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/memory/pattern.hpp"
#include "kernels/memory/pattern_body.hpp"
#include "kernels/support/philox.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_pattern_write(PatternArgs args, int pass) {
    DeviceBlock block;
    pattern_write_body(block, args, pass);
}

extern "C" __global__ void cudamatrix_pattern_verify(PatternArgs args, int pass) {
    DeviceBlock block;
    pattern_verify_body(block, args, pass);
}

namespace {

class PatternGpu : public PatternMemory {
  public:
    PatternGpu(GpuCall& call, const PatternSize& size) : call_(call), size_(size) {}

    bool allocate() {
        return words_.fill(call_, size_.words + kGuard, kPatternBlankByte) &&
               tallies_.fill(call_, size_.threads(), 0) && flag_.fill(call_, 1, 0);
    }
    bool write(int pass) override {
        cudamatrix_pattern_write<<<size_.blocks, kPatternThreads>>>(args(), pass);
        return finished(call_);
    }
    bool verify(int pass) override {
        cudamatrix_pattern_verify<<<size_.blocks, kPatternThreads>>>(args(), pass);
        return finished(call_);
    }
    bool take_tallies(std::vector<PatternTally>& into) override {
        into.resize(size_.threads());
        return tallies_.download(call_, into) &&
               call_.ok(cudaMemset(tallies_.get(), 0, into.size() * sizeof(PatternTally)), "cudaMemset");
    }
    bool read_end(std::vector<std::uint32_t>& into) override {
        return words_.download(call_, into, size_.words + kGuard - into.size());
    }
    bool take_flag(RunFlag& into) { return flag_.download(call_, into); }

  private:
    PatternArgs args() const {
        return {words_.get(), size_.words, seed_of(kPatternId), tallies_.get(), flag_.get()};
    }

    GpuCall& call_;
    PatternSize size_;
    DeviceBuffer<std::uint32_t> words_;
    DeviceBuffer<PatternTally> tallies_;
    DeviceBuffer<RunFlag> flag_;
};

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    GpuCall call;
    PatternSize size;
    if (context.part != "interpreted") {
        std::size_t free_bytes = 0;
        std::size_t total_bytes = 0;
        call.ok(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
        size = pattern_size(context.level, free_bytes);
    }
    PatternGpu memory(call, size);
    PatternOutputs outputs;
    if (call.code == cudaSuccess && memory.allocate()) {
        outputs = pattern_run(memory);
        memory.take_flag(outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return pattern_check(size, outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kPatternId, gpu_part, pattern_cpu_part)
