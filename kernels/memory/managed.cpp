#include "kernels/memory/managed.hpp"

#include <string>

#include "kernels/compute/check.hpp"

namespace cudamatrix::suite {
namespace {

void check_rounds(Record& record, const ManagedOutputs& outputs) {
    std::vector<std::uint32_t> expected = managed_input();
    for (std::size_t round = 0; round < outputs.rounds.size(); ++round) {
        const std::vector<std::uint32_t>& found = outputs.rounds[round];
        const std::string name = "round_" + std::to_string(round);
        for (std::size_t i = 0; i < kManagedLength; ++i)
            expected[i] = managed_on_gpu(expected[i], static_cast<std::uint32_t>(round));
        const bool came_back = check_values(
            record, name, found, kManagedLength, [&](std::size_t i) { return found[i] == expected[i]; },
            [](std::size_t first) { return "is " + std::to_string(first); });
        if (!came_back) return;
        for (std::size_t i = 0; i < kManagedLength; ++i)
            expected[i] = managed_on_host(expected[i], static_cast<std::uint32_t>(round));
    }
}

}  // namespace

std::vector<std::uint32_t> managed_input() {
    std::vector<std::uint32_t> input = blank_output<std::uint32_t>(kManagedLength);
    draw_bits(input, kManagedLength, kManagedId);
    return input;
}

int managed_rounds(const ManagedOutputs& outputs) {
    return !outputs.managed ? 0 : kManagedFaultRounds + (outputs.concurrent ? kManagedPrefetchRounds : 0);
}

Record managed_check(const ManagedOutputs& outputs, const char* backend) {
    Record record;
    record.evidence.emplace_back("concurrent_managed_access", outputs.concurrent ? "true" : "false");
    record.check("managed_memory", outputs.managed, "the device has no managed memory");
    if (!outputs.managed) return judge(record, "no_managed_memory", "");
    const int rounds = managed_rounds(outputs);
    check_ran(record, outputs.flag, rounds * kManagedBlocks);
    record.check(
        "rounds", outputs.rounds.size() == static_cast<std::size_t>(rounds),
        std::to_string(outputs.rounds.size()) + " of " + std::to_string(rounds) + " rounds came back");
    check_rounds(record, outputs);
    return judge(
        record, "managed_memory",
        std::to_string(rounds) + " rounds of host and GPU exact" +
            (outputs.concurrent ? "" : ", none by prefetch: the device has no concurrent managed access") +
            " (" + backend + ")");
}

}  // namespace cudamatrix::suite
