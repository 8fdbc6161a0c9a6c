#include "kernels/memory/pcie.hpp"

#include <utility>

#include "kernels/compute/check.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/exec/measure.cuh"
#include "kernels/memory/pcie_body.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_pcie(PcieArgs args) {
    DeviceBlock block;
    pcie_body(block, args);
}

namespace {

/// Pinned words of the host, with the guard behind.
class PinnedWords {
  public:
    PinnedWords() = default;
    PinnedWords(const PinnedWords&) = delete;
    PinnedWords& operator=(const PinnedWords&) = delete;
    ~PinnedWords() {
        if (words_ != nullptr) cudaFreeHost(words_);
    }
    bool create(GpuCall& call, std::size_t n) {
        return call.ok(cudaMallocHost(&words_, (n + kGuard) * sizeof(std::uint32_t)), "cudaMallocHost");
    }
    [[nodiscard]] std::uint32_t* get() const { return static_cast<std::uint32_t*>(words_); }

  private:
    void* words_ = nullptr;
};

/// A stream that waits for no other, and the times of its begin and end.
struct Lane {
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;

    Lane() = default;
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane() {
        if (begin != nullptr) cudaEventDestroy(begin);
        if (end != nullptr) cudaEventDestroy(end);
        if (stream != nullptr) cudaStreamDestroy(stream);
    }
    bool create(GpuCall& call) {
        return call.ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                       "cudaStreamCreateWithFlags") &&
               call.ok(cudaEventCreate(&begin), "cudaEventCreate") &&
               call.ok(cudaEventCreate(&end), "cudaEventCreate");
    }
    bool copy(GpuCall& call, void* to, const void* from, std::size_t words, cudaMemcpyKind kind) const {
        return call.ok(cudaEventRecord(begin, stream), "cudaEventRecord") &&
               call.ok(cudaMemcpyAsync(to, from, words * sizeof(std::uint32_t), kind, stream),
                       "cudaMemcpyAsync") &&
               call.ok(cudaEventRecord(end, stream), "cudaEventRecord");
    }
    bool wait(GpuCall& call, double& seconds) const {
        float ms = 0;
        if (!call.ok(cudaStreamSynchronize(stream), "cudaStreamSynchronize") ||
            !call.ok(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime"))
            return false;
        seconds = static_cast<double>(ms) / 1000;
        return true;
    }
};

/// Where the device is on the bus. An attribute that cannot be had leaves the link unknown.
PcieLink link_of_device(const std::string& root) {
    int domain = 0;
    int bus = 0;
    int device = 0;
    const bool known = cudaDeviceGetAttribute(&domain, cudaDevAttrPciDomainId, 0) == cudaSuccess &&
                       cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, 0) == cudaSuccess &&
                       cudaDeviceGetAttribute(&device, cudaDevAttrPciDeviceId, 0) == cudaSuccess;
    return known ? read_link(root, domain, bus, device) : PcieLink{};
}

class Transfers {
  public:
    Transfers(const Context& context, const std::vector<std::uint32_t>& inputs, PcieOutputs& outputs)
        : context_(context), inputs_(inputs), outputs_(outputs), words_(inputs.size()) {}

    bool run(GpuCall& call) {
        return up_.create(call) && down_.create(call) && source_.create(call, words_) &&
               result_.create(call, words_) && from_.fill(call, words_, 0) &&
               to_.upload(call, blank_output<std::uint32_t>(words_)) && flag_.upload(call, outputs_.flag) &&
               call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize") && pageable(call) && pinned(call) &&
               both_ways(call) && finish(call);
    }
    /// Pinned memory, one way after the other, against what the link gives at its present speed.
    void measure_ways(GpuCall& call, Performance& performance) {
        const std::size_t bytes = words_ * sizeof(std::uint32_t);
        const double gigabytes = static_cast<double>(bytes) / 1e9;
        const auto way = [&](const char* name, const Lane& lane, void* to, const void* from,
                             cudaMemcpyKind kind) {
            const auto own = [&](GpuCall& running) {
                return running.ok(cudaMemcpyAsync(to, from, bytes, kind, lane.stream), "cudaMemcpyAsync");
            };
            Rounds rounds;
            if (!measure(call, lane.stream, own, rounds)) return;
            const Metric metric = rate_metric(name, "GB/s", {gigabytes, 0}, rounds, "", 0);
            performance.add(against(metric, "", "link", link_gb_s(link.now), 0.80));
        };
        way("up", up_, from_.get(), source_.get(), cudaMemcpyHostToDevice);
        way("down", down_, result_.get(), to_.get(), cudaMemcpyDeviceToHost);
    }
    PcieTimes times;
    PcieLink link;

  private:
    bool kernel(GpuCall& call, std::size_t words) {
        const PcieArgs args{from_.get(), to_.get(), static_cast<long>(words), flag_.get()};
        cudamatrix_pcie<<<kPcieBlocks, kPcieThreads>>>(args);
        return finished(call);
    }

    bool pageable(GpuCall& call) {
        const std::size_t n = words_ / kPciePageableShare;
        std::vector<std::uint32_t> source(n);
        pcie_fill(inputs_, PcieRound::pageable, n, source.data());
        std::vector<std::uint32_t> result(n + kGuard);
        pcie_blank(n, result.data());
        const std::size_t bytes = n * sizeof(std::uint32_t);
        if (!call.ok(cudaMemcpy(from_.get(), source.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy") ||
            !kernel(call, n) ||
            !call.ok(cudaMemcpy(result.data(), to_.get(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy"))
            return false;
        outputs_.pageable = pcie_tally(inputs_, PcieRound::pageable, n, result.data());
        return true;
    }

    bool pinned(GpuCall& call) {
        pcie_fill(inputs_, PcieRound::pinned, words_, source_.get());
        pcie_blank(words_, result_.get());
        if (!up_.copy(call, from_.get(), source_.get(), words_, cudaMemcpyHostToDevice) ||
            !up_.wait(call, times.up) || !kernel(call, words_) ||
            !down_.copy(call, result_.get(), to_.get(), words_, cudaMemcpyDeviceToHost) ||
            !down_.wait(call, times.down))
            return false;
        outputs_.pinned = pcie_tally(inputs_, PcieRound::pinned, words_, result_.get());
        return true;
    }

    /// The last result goes down once more, while the next words go up.
    bool both_ways(GpuCall& call) {
        pcie_fill(inputs_, PcieRound::both_ways, words_, source_.get());
        pcie_blank(words_, result_.get());
        double up = 0;
        double down = 0;
        if (!up_.copy(call, from_.get(), source_.get(), words_, cudaMemcpyHostToDevice) ||
            !down_.copy(call, result_.get(), to_.get(), words_, cudaMemcpyDeviceToHost) ||
            !up_.wait(call, up) || !down_.wait(call, down))
            return false;
        times.both = up > down ? up : down;
        outputs_.down = pcie_tally(inputs_, PcieRound::pinned, words_, result_.get());
        return true;
    }

    bool finish(GpuCall& call) {
        double ignored = 0;
        pcie_blank(words_, result_.get());
        if (!kernel(call, words_) ||
            !down_.copy(call, result_.get(), to_.get(), words_, cudaMemcpyDeviceToHost))
            return false;
        if (context_.part == "gpu") link = link_of_device(context_.root);  // while it is busy
        if (!down_.wait(call, ignored)) return false;
        outputs_.up = pcie_tally(inputs_, PcieRound::both_ways, words_, result_.get());
        outputs_.device_guard.resize(kGuard);
        return to_.download(call, outputs_.device_guard, words_) && flag_.download(call, outputs_.flag);
    }

    const Context& context_;
    const std::vector<std::uint32_t>& inputs_;
    PcieOutputs& outputs_;
    std::size_t words_;
    Lane up_;
    Lane down_;
    PinnedWords source_;
    PinnedWords result_;
    DeviceBuffer<std::uint32_t> from_;
    DeviceBuffer<std::uint32_t> to_;
    DeviceBuffer<RunFlag> flag_;
};

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const bool interpreted = context.part == "interpreted";
    const std::vector<std::uint32_t> inputs = pcie_inputs(interpreted ? kPcieSmall : kPcieLarge);
    PcieOutputs outputs;
    Transfers transfers(context, inputs, outputs);
    GpuCall call;
    if (!transfers.run(call)) return gpu_failure(call);
    record = pcie_check(inputs.size(), outputs, backend_of(context));
    if (!interpreted) pcie_tell(record, inputs.size(), transfers.times, transfers.link);
    return measured(context, std::move(record), [&](GpuCall& measuring, Performance& performance) {
        transfers.measure_ways(measuring, performance);
    });
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kPcieId, gpu_part, nullptr)
