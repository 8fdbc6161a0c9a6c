#include "kernels/memory/fit.hpp"

#include "kernels/compute/check.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

/// The block's number goes to its first and to its last word.
extern "C" __global__ void cudamatrix_fit_write(FitArgs args) {
    const int end = static_cast<int>(threadIdx.x);
    const int block = end / 2;
    if (block >= args.first && block < args.end && args.blocks[block] != nullptr)
        args.blocks[block][end % 2 == 0 ? 0 : args.words[block] - 1] = static_cast<std::uint32_t>(block);
    DeviceBlock().report_done(args.flag);
}

extern "C" __global__ void cudamatrix_fit_read(FitArgs args) {
    const int end = static_cast<int>(threadIdx.x);
    const int block = end / 2;
    if (block >= args.first && block < args.end && args.blocks[block] != nullptr)
        args.marks[end] = args.blocks[block][end % 2 == 0 ? 0 : args.words[block] - 1];
    DeviceBlock().report_done(args.flag);
}

namespace {

/// The blocks, and what the device needs to look at them: all that is made before the memory is full.
class FitMemory {
  public:
    explicit FitMemory(GpuCall& call) : call_(call), pointers_(kFitMost + 1), words_(kFitMost + 1) {}
    FitMemory(const FitMemory&) = delete;
    FitMemory& operator=(const FitMemory&) = delete;
    ~FitMemory() { release(0, 1); }

    /// The first launch of each kernel loads its code, for which there is no room later.
    bool prepare() {
        return device_pointers_.upload(call_, pointers_) && device_words_.upload(call_, words_) &&
               marks_.upload(call_, blank_output<std::uint32_t>(2 * pointers_.size())) &&
               flag_.upload(call_, RunFlag{}) && launch(cudamatrix_fit_write, 0, 0) &&
               launch(cudamatrix_fit_read, 0, 0);
    }
    /// What cudaMalloc gave; the block with that number is there if it is 0.
    int take(std::size_t number, std::size_t bytes) {
        const cudaError_t code = cudaMalloc(reinterpret_cast<void**>(&pointers_[number]), bytes);
        if (code != cudaSuccess) {
            pointers_[number] = nullptr;
            cudaGetLastError();  // which forgets it
        }
        words_[number] = bytes / sizeof(std::uint32_t);
        return static_cast<int>(code);
    }
    /// Frees every `step`th block from `first` on.
    void release(std::size_t first, std::size_t step) {
        for (std::size_t i = first; i < pointers_.size(); i += step) {
            if (pointers_[i] != nullptr) call_.ok(cudaFree(pointers_[i]), "cudaFree");
            pointers_[i] = nullptr;
        }
    }
    /// Tells the device where the blocks are, and writes the numbers of those from `first` on.
    bool write(std::size_t first, std::size_t end) {
        return device_pointers_.refresh(call_, pointers_) && device_words_.refresh(call_, words_) &&
               launch(cudamatrix_fit_write, first, end);
    }
    /// The numbers in all blocks that are there, and the guard.
    bool read(std::vector<std::uint32_t>& marks, std::size_t end) {
        const auto blank = blank_output<std::uint32_t>(2 * pointers_.size());
        std::vector<std::uint32_t> all(blank.size());
        if (!marks_.refresh(call_, blank) || !launch(cudamatrix_fit_read, 0, end) ||
            !marks_.download(call_, all))
            return false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i / 2 >= pointers_.size() || pointers_[i / 2] != nullptr) marks.push_back(all[i]);
        }
        return true;
    }
    bool flag(RunFlag& flag) { return flag_.download(call_, flag); }

  private:
    bool launch(void (*kernel)(FitArgs), std::size_t first, std::size_t end) {
        kernel<<<1, kFitThreads>>>({device_pointers_.get(), device_words_.get(), static_cast<int>(first),
                                    static_cast<int>(end), marks_.get(), flag_.get()});
        return finished(call_);
    }

    GpuCall& call_;
    std::vector<std::uint32_t*> pointers_;
    std::vector<std::size_t> words_;
    DeviceBuffer<std::uint32_t*> device_pointers_;
    DeviceBuffer<std::size_t> device_words_;
    DeviceBuffer<std::uint32_t> marks_;
    DeviceBuffer<RunFlag> flag_;
};

bool free_now(GpuCall& call, std::size_t& bytes) {
    std::size_t total = 0;
    return call.ok(cudaMemGetInfo(&bytes, &total), "cudaMemGetInfo");
}

void fill(FitMemory& memory, FitFacts& facts) {
    while (facts.blocks < kFitMost) {
        facts.refused = memory.take(facts.blocks, facts.block);
        if (facts.refused != 0) return;
        facts.blocks += 1;
    }
}

/// One block as large as what was freed, or as much of that as there is.
void join(FitMemory& memory, FitFacts& facts) {
    for (std::size_t count = facts.blocks / 2; count > 0 && facts.joined == 0; --count) {
        if (memory.take(facts.blocks, count * facts.block) == 0) facts.joined = count * facts.block;
    }
}

bool run(GpuCall& call, FitFacts& facts) {
    FitMemory memory(call);
    if (!memory.prepare() || !free_now(call, facts.free)) return false;
    facts.block = fit_block(facts.free);
    fill(memory, facts);
    if (!memory.write(0, facts.blocks) || !memory.read(facts.marks, facts.blocks)) return false;
    memory.release(1, 2);
    join(memory, facts);
    if (!memory.write(facts.blocks, facts.blocks + 1) || !memory.read(facts.kept, facts.blocks + 1))
        return false;
    memory.release(0, 1);
    return free_now(call, facts.given_back) && memory.flag(facts.flag);
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    FitFacts facts;
    GpuCall call;
    run(call, facts);
    if (call.code != cudaSuccess) return gpu_failure(call);
    return fit_check(facts, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kFitId, gpu_part, nullptr)
