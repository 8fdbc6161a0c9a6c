#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudamatrix::suite::ptx {

/// What Block::shared_written() holds for bytes that cp.async copies to.
inline constexpr std::uint8_t kInFlight = 2;

inline constexpr std::uint64_t kNoMbarrier = ~std::uint64_t{0};

/// One cp.async of one thread. The source was read when it was issued.
struct Copy {
    std::uint64_t to = 0;  ///< in shared memory
    std::uint32_t size = 0;
    std::uint32_t line = 0;
    std::uint32_t thread = 0;
    std::uint64_t group = 0;
    std::uint64_t mbarrier = kNoMbarrier;  ///< that its end arrives at: where in shared memory
    std::uint64_t phase = 0;               ///< of it
    std::uint8_t bytes[16] = {};
};

/// The copies of a block that nobody has waited for, and the groups of each thread (PTX ISA, "Async-group
/// Completion Mechanism").
class Copies {
  public:
    void start(std::uint32_t threads);
    [[nodiscard]] bool any() const { return count_ != 0; }
    void add(Copy copy);
    /// The copies of `thread` since the last commit are a group.
    void commit(std::uint32_t thread) { ++open_[thread]; }
    /// Takes the copies of all groups of `thread` but the `pending` latest ones.
    [[nodiscard]] std::vector<Copy> wait(std::uint32_t thread, std::uint64_t pending);
    /// Takes all copies of `thread`, committed or not.
    [[nodiscard]] std::vector<Copy> wait_all(std::uint32_t thread);
    /// The copies of `thread` that have no mbarrier yet end before `phase` of this one does.
    void attach(std::uint32_t thread, std::uint64_t mbarrier, std::uint64_t phase);
    /// Takes the copies that ended before `phase` of the mbarrier began.
    [[nodiscard]] std::vector<Copy> wait_mbarrier(std::uint64_t mbarrier, std::uint64_t phase);
    /// The copy to one of `size` bytes from `at` on; null when there is none.
    [[nodiscard]] const Copy* find(std::uint64_t at, std::uint64_t size) const;

  private:
    template <typename F>
    std::vector<Copy> take_if(std::vector<Copy>& copies, F taken);

    std::size_t count_ = 0;
    std::vector<std::vector<Copy>> copies_;  // by thread, in the order of their issue
    std::vector<std::uint64_t> open_;        // number of the group that is not committed, by thread
};

}  // namespace cudamatrix::suite::ptx
