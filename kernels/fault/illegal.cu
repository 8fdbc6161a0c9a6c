#include "kernels/fault/illegal.hpp"

#include "kernels/compute/sums.hpp"
#include "kernels/compute/vadd_body.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/fault/child.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_illegal_write(unsigned* anywhere) {
    *anywhere = blockIdx.x;
}

extern "C" __global__ void cudamatrix_illegal_sums(VaddArgs args) {
    DeviceBlock block;
    vadd_body(block, args);
}

namespace {

constexpr const char* kFaults = "faults";
constexpr const char* kAdds = "adds";
// No process has anything in its second page, so it stays illegal where the GPU can reach the host's memory,
// too.
constexpr unsigned long kNobodys = 0x1000;

bool worked(const char* call, cudaError_t code) {
    say(kBefore, call, static_cast<int>(code));
    return code == cudaSuccess;
}

/// The role of the child that makes the fault.
void fault_and_go_on() {
    unsigned* data = nullptr;
    if (!worked("cudaMalloc", cudaMalloc(reinterpret_cast<void**>(&data), sizeof *data))) return;
    if (!worked("cudaMemset", cudaMemset(data, 0, sizeof *data))) return;
    cudamatrix_illegal_write<<<1, 1>>>(reinterpret_cast<unsigned*>(kNobodys));
    // With CUDA_LAUNCH_BLOCKING the launch waits, and reports it itself.
    const cudaError_t launched = cudaGetLastError();
    if (!worked(kLaunch, launched == cudaErrorIllegalAddress ? cudaSuccess : launched)) return;
    say(kFirst, "cudaDeviceSynchronize", static_cast<int>(cudaDeviceSynchronize()));

    unsigned value = 0;
    void* more = nullptr;
    say(kLater, "cudaDeviceSynchronize", static_cast<int>(cudaDeviceSynchronize()));
    say(kLater, "cudaMemcpy",
        static_cast<int>(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost)));
    say(kLater, "cudaMalloc", static_cast<int>(cudaMalloc(&more, sizeof value)));
    cudamatrix_illegal_write<<<1, 1>>>(data);
    say(kLater, kLaunch, static_cast<int>(cudaGetLastError()));
}

/// The role of the child that comes afterwards.
void add() {
    const SumInputs inputs = sum_inputs(kIllegalId, kIllegalSums);
    std::vector<float> sums = blank_output(kIllegalSums);
    RunFlag flag;
    GpuCall call;
    DeviceBuffer<float> a;
    DeviceBuffer<float> b;
    DeviceBuffer<float> c;
    DeviceBuffer<RunFlag> device_flag;
    if (a.upload(call, inputs.a) && b.upload(call, inputs.b) && c.upload(call, sums) &&
        device_flag.upload(call, flag)) {
        const VaddArgs args{a.get(), b.get(), c.get(), static_cast<long>(kIllegalSums), device_flag.get()};
        cudamatrix_illegal_sums<<<kIllegalBlocks, kIllegalThreads>>>(args);
        if (finished(call) && c.download(call, sums)) device_flag.download(call, flag);
    }
    if (call.code != cudaSuccess) {
        const bool launch = std::string(call.api) == "kernel launch";
        return say(kBefore, launch ? kLaunch : call.api, static_cast<int>(call.code));
    }
    Record record;
    check_sums(record, inputs.a, inputs.b, sums, flag, kIllegalBlocks);
    const Check* wrong = record.first_failed();
    say(kSums, wrong == nullptr ? kRight : wrong->name.c_str(), 0);
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const ProcessResult faulting = run_child(context, kFaults);
    if (const auto failed = failed_before(faulting))
        return gpu_failure({static_cast<cudaError_t>(failed->code), failed->call.c_str()});
    return illegal_check(faulting, run_child(context, kAdds), backend_of(context));
}

}  // namespace

int main(int argc, char** argv) {
    const char* role = child_role(argc, argv);
    if (role == nullptr) return test_main(argc, argv, kIllegalId, gpu_part, nullptr);
    if (std::string(role) == kFaults) fault_and_go_on();
    if (std::string(role) == kAdds) add();
    say_end();
    return 0;
}
