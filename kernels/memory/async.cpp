#include "kernels/memory/async.hpp"

#include <string>

#include "kernels/compute/check.hpp"

namespace cudamatrix::suite {
namespace {

void check_pool(Record& record, const AsyncPool& pool) {
    const auto bytes = [](std::uint64_t count) { return std::to_string(count) + " bytes"; };
    record.evidence.emplace_back("pool_numbers", pool.known ? "true" : "false");
    if (!pool.known) return;
    record.evidence.emplace_back("reserved_bytes", std::to_string(pool.last));
    record.evidence.emplace_back("reserved_bytes_trimmed", std::to_string(pool.trimmed));
    constexpr std::uint64_t kRound = kAsyncBuffers * kAsyncLength * sizeof(std::uint32_t);
    record.check("holds_a_round", pool.first >= kRound,
                 "the pool had " + bytes(pool.first) + " for a round of " + bytes(kRound));
    // What a stream has freed is there for its next allocation, without anyone waiting for it.
    record.check("used_again", pool.last <= pool.first,
                 "the pool grew from " + bytes(pool.first) + " to " + bytes(pool.last));
    record.check("all_freed", pool.used == 0, bytes(pool.used) + " are still in use");
    record.check("given_back", pool.trimmed < pool.last,
                 "the pool had " + bytes(pool.last) + ", and kept " + bytes(pool.trimmed));
}

}  // namespace

AsyncOutputs async_blank() {
    AsyncOutputs outputs;
    outputs.words = blank_output<std::uint32_t>(kAsyncWords);
    return outputs;
}

Record async_check(const AsyncOutputs& outputs, const char* backend) {
    Record record;
    record.check("memory_pools", outputs.pool.supported, "the device has no memory pools");
    if (!outputs.pool.supported) return judge(record, "no_memory_pools", "");
    check_ran(record, outputs.flag, kAsyncKernels * kAsyncBlocks);
    record.check("size", outputs.words.size() == kAsyncWords + kGuard,
                 std::to_string(outputs.words.size()) + " values came back");
    if (outputs.words.size() != kAsyncWords + kGuard) return judge(record, "memory_pool", "");
    const Mismatches wrong = mismatches(kAsyncWords, [&](std::size_t i) {
        return outputs.words[i] == async_word(static_cast<std::uint32_t>(i / kAsyncLength),
                                              static_cast<std::uint32_t>(i % kAsyncLength));
    });
    const std::size_t buffer = wrong.first / kAsyncLength;
    record.check("words", wrong.count == 0,
                 std::to_string(wrong.count) + " words are wrong, the first of buffer " +
                     std::to_string(buffer % kAsyncBuffers) + " in round " +
                     std::to_string(buffer / kAsyncBuffers));
    const Mismatches touched =
        mismatches(kGuard, [&](std::size_t i) { return is_blank(outputs.words[kAsyncWords + i]); });
    record.check("nothing_beyond", touched.count == 0,
                 std::to_string(touched.count) + " elements beyond the end were written");
    check_pool(record, outputs.pool);
    return judge(record, "memory_pool",
                 std::to_string(kAsyncRounds * kAsyncBuffers) + " allocations in stream order exact (" +
                     backend + ")");
}

}  // namespace cudamatrix::suite
