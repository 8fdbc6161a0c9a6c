#include "kernels/stress/sustained.hpp"

#include <chrono>

#include "kernels/compute/check.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void __launch_bounds__(kSgemmThreads, 2)
    cudamatrix_sustained(SgemmArgs args, int blocks) {
    __shared__ SgemmShared shared;
    DeviceBlock block;
    sustained_product_body(block, shared, args, blocks);
}

extern "C" __global__ void __launch_bounds__(kSustainedCompareThreads)
    cudamatrix_sustained_compare(SustainedArgs args) {
    DeviceBlock block;
    sustained_compare_body(block, args);
}

namespace {

class Furnace {
  public:
    Furnace(const SustainedPlan& plan, const SgemmInputs& inputs, SustainedOutputs& outputs)
        : plan_(plan),
          inputs_(inputs),
          outputs_(outputs),
          words_(inputs.results()),
          all_(inputs.results() * static_cast<std::size_t>(plan.copies)) {}

    bool run(GpuCall& call) {
        return prepare(call) && blank_comparison(call) && first_round(call) && rounds(call) && finish(call);
    }

  private:
    bool prepare(GpuCall& call) {
        return a_.upload(call, inputs_.a) && b_.upload(call, inputs_.b) &&
               c_.upload(call, blank_output(all_)) && first_.fill(call, words_, 0) &&
               tally_.upload(call, SustainedTally{}) && products_.upload(call, outputs_.products) &&
               comparisons_.upload(call, outputs_.comparisons);
    }

    /// Blank memory, which no product looks like: what an earlier round left must not pass for this one's.
    bool blank(GpuCall& call) {
        return call.ok(cudaMemset(c_.get(), 0xa5, all_ * sizeof(float)), "cudaMemset");
    }

    bool product(GpuCall& call) {
        const SgemmArgs args{a_.get(), b_.get(), c_.get(), inputs_.m, inputs_.n, inputs_.k, products_.get()};
        cudamatrix_sustained<<<plan_.copies * inputs_.blocks(), kSgemmThreads>>>(args, inputs_.blocks());
        return call.ok(cudaGetLastError(), "kernel launch");
    }

    bool compare(GpuCall& call, SustainedTally& tally) {
        const SustainedArgs args{reinterpret_cast<const unsigned*>(c_.get()),
                                 reinterpret_cast<const unsigned*>(first_.get()),
                                 static_cast<long>(words_),
                                 static_cast<long>(all_),
                                 tally_.get(),
                                 comparisons_.get()};
        if (!call.ok(cudaMemset(tally_.get(), 0, sizeof(SustainedTally)), "cudaMemset")) return false;
        cudamatrix_sustained_compare<<<kSustainedCompareBlocks, kSustainedCompareThreads>>>(args);
        return finished(call) && tally_.download(call, tally);
    }

    bool blank_comparison(GpuCall& call) { return blank(call) && compare(call, outputs_.blank); }

    bool round(GpuCall& call) {
        SustainedTally tally;
        if (!blank(call) || !product(call) || !compare(call, tally)) return false;
        sustained_note(outputs_, tally);
        return true;
    }

    /// Its first copy is what all others, those of this round included, are compared with.
    bool first_round(GpuCall& call) {
        outputs_.first.resize(words_);
        SustainedTally tally;
        if (!blank(call) || !product(call) || !finished(call) || !c_.download(call, outputs_.first) ||
            !call.ok(cudaMemcpy(first_.get(), c_.get(), words_ * sizeof(float), cudaMemcpyDeviceToDevice),
                     "cudaMemcpy") ||
            !compare(call, tally))
            return false;
        sustained_note(outputs_, tally);
        return true;
    }

    bool rounds(GpuCall& call) {
        if (plan_.seconds <= 0) {
            while (outputs_.rounds < plan_.rounds) {
                if (!round(call)) return false;
            }
            return true;
        }
        using Clock = std::chrono::steady_clock;
        outputs_.quarters.assign(4, 0);
        const auto begin = Clock::now();
        for (double share = 0; share < 1;) {
            if (!round(call)) return false;
            outputs_.quarters[static_cast<std::size_t>(share * 4)] += 1;
            share = std::chrono::duration<double>(Clock::now() - begin).count() / plan_.seconds;
        }
        return true;
    }

    bool finish(GpuCall& call) {
        outputs_.guard.resize(kGuard);
        return c_.download(call, outputs_.guard, all_) && products_.download(call, outputs_.products) &&
               comparisons_.download(call, outputs_.comparisons);
    }

    const SustainedPlan& plan_;
    const SgemmInputs& inputs_;
    SustainedOutputs& outputs_;
    std::size_t words_;  ///< of one product
    std::size_t all_;    ///< of all copies
    DeviceBuffer<float> a_;
    DeviceBuffer<float> b_;
    DeviceBuffer<float> c_;
    DeviceBuffer<float> first_;
    DeviceBuffer<SustainedTally> tally_;
    DeviceBuffer<RunFlag> products_;
    DeviceBuffer<RunFlag> comparisons_;
};

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const SustainedPlan plan = sustained_plan(context);
    const SgemmInputs inputs = sustained_inputs(plan);
    SustainedOutputs outputs;
    GpuCall call;
    if (!Furnace(plan, inputs, outputs).run(call)) return gpu_failure(call);
    return sustained_check(plan, inputs, outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kSustainedId, gpu_part, nullptr)
