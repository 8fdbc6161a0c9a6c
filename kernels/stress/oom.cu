#include "kernels/stress/oom.hpp"

#include "kernels/compute/vadd_body.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_oom_sums(VaddArgs args) {
    DeviceBlock block;
    vadd_body(block, args);
}

namespace {

void ask_for_too_much(OomFacts& facts) {
    void* pointer = nullptr;
    facts.asked = static_cast<int>(cudaMalloc(&pointer, 2 * facts.total));
    facts.pointer = pointer != nullptr;
    facts.last_error = static_cast<int>(cudaGetLastError());
    facts.forgotten = static_cast<int>(cudaPeekAtLastError());
    facts.synchronised = static_cast<int>(cudaDeviceSynchronize());
    if (pointer != nullptr) cudaFree(pointer);
}

void add_in(char* memory, const SumInputs& inputs, OomFacts& facts, GpuCall& call) {
    const OomPlaces places = oom_places(facts.half);
    const auto at = [&](std::size_t offset) { return reinterpret_cast<float*>(memory + offset); };
    const auto put = [&](float* to, const std::vector<float>& from) {
        return call.ok(cudaMemcpy(to, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice),
                       "cudaMemcpy");
    };
    DeviceBuffer<RunFlag> flag;
    if (!flag.upload(call, facts.flag)) return;
    const VaddArgs args{at(places.a), at(places.b), at(places.c), static_cast<long>(kOomLength), flag.get()};
    if (!put(at(places.a), inputs.a) || !put(at(places.b), inputs.b) || !put(at(places.c), facts.c)) return;
    cudamatrix_oom_sums<<<kOomBlocks, kOomThreads>>>(args);
    if (finished(call) && flag.download(call, facts.flag))
        call.ok(cudaMemcpy(facts.c.data(), args.c, facts.c.size() * sizeof(float), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const SumInputs inputs = sum_inputs(kOomId, kOomLength);
    OomFacts facts;
    facts.c = blank_output(kOomLength);
    std::size_t available = 0;
    GpuCall before;
    if (!before.ok(cudaMemGetInfo(&available, &facts.total), "cudaMemGetInfo")) return gpu_failure(before);
    ask_for_too_much(facts);

    GpuCall after;
    char* memory = nullptr;
    if (after.ok(cudaMemGetInfo(&available, &facts.total), "cudaMemGetInfo")) {
        facts.half = oom_half(available, context.part == "interpreted");
        facts.half_asked = static_cast<int>(cudaMalloc(reinterpret_cast<void**>(&memory), facts.half));
    }
    if (facts.half_asked == 0 && oom_places(facts.half).fit) add_in(memory, inputs, facts, after);
    if (memory != nullptr) after.ok(cudaFree(memory), "cudaFree");
    facts.call = after.api;
    facts.call_code = static_cast<int>(after.code);
    return oom_check(inputs, facts, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kOomId, gpu_part, nullptr)
