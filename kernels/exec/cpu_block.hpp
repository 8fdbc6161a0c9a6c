#pragma once

#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

/// One thread block on the host: every phase runs thread after thread, so a barrier is the end of a loop.
class CpuBlock {
  public:
    CpuBlock(int index, int count, int threads) : index_(index), count_(count), threads_(threads) {}

    [[nodiscard]] int index() const { return index_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] int threads() const { return threads_; }

    template <typename Phase>
    void for_each_thread(Phase phase) {
        for (int t = 0; t < threads_; ++t)
            phase(t);
    }
    template <typename Phase>
    void for_each_thread_no_barrier(Phase phase) {
        for_each_thread(phase);
    }

    template <typename T>
    [[nodiscard]] std::vector<T> per_thread() const {
        return std::vector<T>(static_cast<std::size_t>(threads_));
    }

    /// Lanes whose source lies beyond the warp keep their own value, as the hardware does.
    template <typename T>
    void shuffle_down(std::vector<T>& into, const std::vector<T>& from, int delta) const {
        for (int t = 0; t < threads_; ++t) {
            const int source = t % kWarp + delta < kWarp ? t + delta : t;
            into[static_cast<std::size_t>(t)] = from[static_cast<std::size_t>(source)];
        }
    }

    template <typename T>
    void atomic_add(T* address, T value) const {
        *address += value;
    }

    void report_done(RunFlag* flag) const {
        flag->blocks += 1;
        flag->arch = kCpuArch;
    }

  private:
    int index_;
    int count_;
    int threads_;
};

/// Runs every block of a grid, one after the other. `kernel(block)` is the body with its arguments bound.
template <typename Kernel>
void run_on_cpu(int blocks, int threads, Kernel kernel) {
    for (int b = 0; b < blocks; ++b) {
        CpuBlock block(b, blocks, threads);
        kernel(block);
    }
}

}  // namespace cudamatrix::suite
