#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/memory/pattern_body.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// mem.pattern: memory holds what is written to it. Walking bits, addresses and random words, exact.
namespace cudamatrix::suite {

inline constexpr const char* kPatternId = "mem.pattern";
inline constexpr int kPatternThreads = 256;
/// Words that no pass writes: each byte of the memory before the first pass, and of the guard.
inline constexpr int kPatternBlankByte = 0xa5;
inline constexpr std::uint32_t kPatternBlank = 0xa5a5a5a5;
/// So many words before the end the host reads back by itself after each pass, with the guard.
inline constexpr std::size_t kPatternEnd = 4096;
inline constexpr std::uint64_t kPatternSmall = 8219;  ///< words on the CPU: no multiple of threads

struct PatternSize {
    std::uint64_t words = kPatternSmall;
    int blocks = 8;

    [[nodiscard]] std::size_t threads() const {
        return static_cast<std::size_t>(blocks) * static_cast<std::size_t>(kPatternThreads);
    }
};

/// Words to test on a GPU: a third of the free memory, at most 1 GiB at level quick and 16 GiB at others:
/// slow memory must be done with within the time limit. Never less than on the CPU, so that a GPU without
/// memory fails by the allocation.
[[nodiscard]] PatternSize pattern_size(const std::string& level, std::uint64_t free_bytes);

/// The memory under test, with the guard behind it. A call that gives false ends the run.
class PatternMemory {
  public:
    PatternMemory() = default;
    PatternMemory(const PatternMemory&) = delete;
    PatternMemory& operator=(const PatternMemory&) = delete;
    virtual ~PatternMemory() = default;

    virtual bool write(int pass) = 0;
    virtual bool verify(int pass) = 0;
    /// The tallies as they are; from then on they are zero again.
    virtual bool take_tallies(std::vector<PatternTally>& into) = 0;
    /// The last words and the guard, as many as `into` has.
    virtual bool read_end(std::vector<std::uint32_t>& into) = 0;
};

struct PatternOutputs {
    std::vector<PatternTally> blank;               ///< of a verification before anything was written
    std::vector<PatternTally> tallies;             ///< of all passes
    std::vector<std::vector<std::uint32_t>> ends;  ///< the last words and the guard, after each pass
    RunFlag flag;
};

/// Verifies the blank memory, which must be found wrong; then writes, verifies and reads back each pass.
[[nodiscard]] PatternOutputs pattern_run(PatternMemory& memory);

/// The host's own memory, tested by the bodies.
class PatternCpu : public PatternMemory {
  public:
    explicit PatternCpu(const PatternSize& size);

    bool write(int pass) override;
    bool verify(int pass) override;
    bool take_tallies(std::vector<PatternTally>& into) override;
    bool read_end(std::vector<std::uint32_t>& into) override;

    PatternSize size;
    std::vector<std::uint32_t> words;  ///< with the guard
    std::vector<PatternTally> tallies;
    RunFlag flag;

  private:
    [[nodiscard]] PatternArgs args();
};

/// Judges a run; a wrong word is told with its place, and on a GPU ("GPU" as `backend`) is fault F15.
[[nodiscard]] Record pattern_check(const PatternSize& size, const PatternOutputs& outputs,
                                   const std::string& backend);
[[nodiscard]] Record pattern_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
