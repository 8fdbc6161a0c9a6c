#include "kernels/stress/oom.hpp"

#include <algorithm>

namespace cudamatrix::suite {
namespace {

constexpr std::size_t kBlock = 512;

std::size_t whole_blocks(std::size_t bytes) {
    return bytes / kBlock * kBlock;
}

}  // namespace

std::size_t oom_half(std::size_t free, bool interpreted) {
    return whole_blocks(interpreted ? std::min(free / 2, kOomMostInterpreted) : free / 2);
}

OomPlaces oom_places(std::size_t half) {
    constexpr std::size_t kInput = kOomLength * sizeof(float);
    constexpr std::size_t kOutput = (kOomLength + kGuard) * sizeof(float);
    OomPlaces places;
    places.b = whole_blocks(half / 2);
    places.fit = half >= kOutput && places.b >= kInput && half - kOutput >= places.b + kInput;
    if (places.fit) places.c = half - kOutput;
    return places;
}

Record oom_check(const SumInputs& inputs, const OomFacts& facts, const char* backend) {
    Record record;
    const auto gave = [](const char* call, int code) {
        return std::string(call) + " gave " + std::to_string(code);
    };
    record.check(
        "refused", facts.asked == kOutOfMemory && !facts.pointer,
        gave("cudaMalloc of twice the memory", facts.asked) + (facts.pointer ? " and a pointer" : ""));
    record.check("reported", facts.last_error == kOutOfMemory, gave("cudaGetLastError", facts.last_error));
    record.check("forgotten", facts.forgotten == 0, gave("cudaPeekAtLastError", facts.forgotten));
    record.check("not_sticky", facts.synchronised == 0, gave("cudaDeviceSynchronize", facts.synchronised));
    const bool enough = oom_places(facts.half).fit;
    record.check("allocates", facts.half_asked == 0 && enough,
                 gave(("cudaMalloc of " + std::to_string(facts.half) + " bytes").c_str(), facts.half_asked));
    record.check("computes", facts.call_code == 0, gave(facts.call, facts.call_code));
    check_sums(record, inputs.a, inputs.b, facts.c, facts.flag, kOomBlocks);
    record = judge(record, "out_of_memory",
                   "refused with 2, then " + std::to_string(facts.half >> 20U) + " MiB allocated and " +
                       std::to_string(inputs.a.size()) + " sums exact (" + backend + ")");
    // Before the refusal there is nothing to recover from.
    if (record.status == Status::fail && record.checks.front().ok) record.fault = "F19";
    return record;
}

}  // namespace cudamatrix::suite
