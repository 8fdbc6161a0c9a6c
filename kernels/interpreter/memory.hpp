#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Device memory: an address range of its own, in which every allocation knows which of its bytes were
/// written.
namespace cudamatrix::suite::ptx {

// Generic addresses. None of them can be mapped in a process of today's machines (47 bits of x86-64, 52 of
// the rest), so that a device pointer that the host follows is a fault there, too.
inline constexpr std::uint64_t kGlobalBase = 0x0010'0000'0000'0000;
inline constexpr std::uint64_t kSharedBase = 0x0020'0000'0000'0000;
inline constexpr std::uint64_t kLocalBase = 0x0030'0000'0000'0000;
inline constexpr std::uint64_t kParamBase = 0x0040'0000'0000'0000;
inline constexpr std::uint64_t kWindow = 1ULL
                                         << 32;  ///< size of the windows of shared, local and param memory

/// Within the window of shared memory: 0 is the own block's, from 1 on come those of its cluster by rank.
inline constexpr std::uint64_t kSharedOfBlock = 1ULL << 24;

struct FreeDeleter {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
};
/// Zeros; pages that nobody touches cost nothing.
using Bytes = std::unique_ptr<std::uint8_t, FreeDeleter>;
[[nodiscard]] Bytes zeros(std::size_t size);

struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::string name;  ///< "allocation 3", "variable glob"
    Bytes bytes;
    Bytes written;     ///< 1 for each byte that somebody wrote
    Bytes last_write;  ///< of each word (4 bytes), 8 bytes: races.hpp; null until a launch looks for races
    Bytes last_read;
    bool managed = false;  ///< the host uses it, too, at the same address
};

/// Not for calls from several threads at once, but find() and what is done with its result.
class DeviceMemory {
  public:
    explicit DeviceMemory(std::uint64_t capacity) : capacity_(capacity) {}

    /// 0 when there is not so much. Addresses are multiples of 512 and are never given twice.
    [[nodiscard]] std::uint64_t allocate(std::uint64_t size, const std::string& name);
    /// Memory that the host uses by the same address; what it writes there cannot be seen, so that all of it
    /// counts as written.
    [[nodiscard]] std::uint64_t allocate_managed(std::uint64_t size);
    /// False unless `address` is the begin of an allocation.
    bool release(std::uint64_t address);
    [[nodiscard]] const Allocation* find(std::uint64_t address) const;
    /// The allocation that holds all of the bytes, or null.
    [[nodiscard]] const Allocation* find(std::uint64_t address, std::uint64_t size) const;

    // False when the range is not in one allocation.
    bool copy_in(std::uint64_t to, const void* from, std::uint64_t size);
    bool copy_out(void* to, std::uint64_t from, std::uint64_t size) const;
    /// With what is known of the bytes: copies of unwritten bytes are unwritten.
    bool copy(std::uint64_t to, std::uint64_t from, std::uint64_t size);
    bool fill(std::uint64_t to, std::uint8_t value, std::uint64_t size);

    /// Where an address is that is in no allocation: "4 bytes behind allocation 2 (1024 bytes at 0x...)".
    [[nodiscard]] std::string describe(std::uint64_t address) const;

    [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
    [[nodiscard]] std::uint64_t used() const { return used_; }
    [[nodiscard]] const std::vector<std::unique_ptr<Allocation>>& allocations() const { return allocations_; }

    /// Makes the records that races.hpp keeps in allocations.
    void prepare_races();

    /// All bytes, to start a kernel again from the same state.
    struct Snapshot {
        std::map<std::uint64_t, std::vector<std::uint8_t>> bytes;
    };
    [[nodiscard]] Snapshot save() const;
    void restore(const Snapshot& snapshot);

  private:
    struct Freed {
        std::uint64_t address = 0;
        std::uint64_t size = 0;
        std::string name;
    };

    std::uint64_t capacity_;
    std::uint64_t used_ = 0;
    std::uint64_t top_ = kGlobalBase;
    std::uint64_t count_ = 0;
    std::vector<std::unique_ptr<Allocation>> allocations_;  // by address
    std::vector<Freed> freed_;                              // by address; the latest ones
};

[[nodiscard]] std::string hex_address(std::uint64_t address);

}  // namespace cudamatrix::suite::ptx
