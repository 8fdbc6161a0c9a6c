#include "kernels/interpreter/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::uint64_t kAlign = 512;
constexpr std::size_t kMostFreed = 4096;  // that are remembered

std::string count_of_bytes(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string range_text(const std::string& name, std::uint64_t address, std::uint64_t size) {
    return name + " (" + count_of_bytes(size) + " at " + hex_address(address) + ")";
}

}  // namespace

std::string hex_address(std::uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

Bytes zeros(std::size_t size) {
    return Bytes(static_cast<std::uint8_t*>(std::calloc(std::max<std::size_t>(size, 1), 1)));
}

std::uint64_t DeviceMemory::allocate(std::uint64_t size, const std::string& name) {
    if (size > capacity_ || used_ > capacity_ - size) return 0;
    auto made = std::make_unique<Allocation>();
    // Rounded up, so that the word of the last byte is there.
    made->bytes = zeros((size + 7) / 8 * 8);
    made->written = zeros((size + 7) / 8 * 8);
    if (made->bytes == nullptr || made->written == nullptr) return 0;
    made->address = top_;
    made->size = size;
    made->name = name.empty() ? "allocation " + std::to_string(++count_) : name;
    // What lies between allocations belongs to nobody.
    top_ += (size + 2 * kAlign - 1) / kAlign * kAlign;
    used_ += size;
    allocations_.push_back(std::move(made));
    return allocations_.back()->address;
}

std::uint64_t DeviceMemory::allocate_managed(std::uint64_t size) {
    constexpr std::uint64_t kPage = 4096;
    if (size > capacity_ || used_ > capacity_ - size) return 0;
    const std::uint64_t whole = (size + kPage - 1) / kPage * kPage;
    auto made = std::make_unique<Allocation>();
    made->bytes = Bytes(static_cast<std::uint8_t*>(std::aligned_alloc(kPage, whole)));
    made->written = zeros(whole);
    if (made->bytes == nullptr || made->written == nullptr) return 0;
    std::memset(made->bytes.get(), 0xa5, whole);
    std::memset(made->written.get(), 1, whole);
    made->address = reinterpret_cast<std::uint64_t>(made->bytes.get());
    made->size = size;
    made->name = "managed allocation " + std::to_string(++count_);
    made->managed = true;
    used_ += size;
    const std::uint64_t address = made->address;
    const auto next = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                       [](std::uint64_t a, const auto& b) { return a < b->address; });
    allocations_.insert(next, std::move(made));
    return address;
}

bool DeviceMemory::release(std::uint64_t address) {
    const auto known = std::lower_bound(allocations_.begin(), allocations_.end(), address,
                                        [](const auto& a, std::uint64_t b) { return a->address < b; });
    if (known == allocations_.end() || (*known)->address != address) return false;
    used_ -= (*known)->size;
    if (freed_.size() == kMostFreed) freed_.erase(freed_.begin());
    // The host may get the addresses of managed memory again.
    if (!(*known)->managed) freed_.push_back({address, (*known)->size, (*known)->name});
    allocations_.erase(known);
    return true;
}

const Allocation* DeviceMemory::find(std::uint64_t address) const {
    auto next = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                 [](std::uint64_t a, const auto& b) { return a < b->address; });
    if (next == allocations_.begin()) return nullptr;
    const Allocation* found = (--next)->get();
    return address - found->address < found->size ? found : nullptr;
}

const Allocation* DeviceMemory::find(std::uint64_t address, std::uint64_t size) const {
    const Allocation* found = find(address);
    return found != nullptr && size <= found->size - (address - found->address) ? found : nullptr;
}

bool DeviceMemory::copy_in(std::uint64_t to, const void* from, std::uint64_t size) {
    const Allocation* target = find(to, size);
    if (target == nullptr) return false;
    std::memcpy(target->bytes.get() + (to - target->address), from, size);
    std::memset(target->written.get() + (to - target->address), 1, size);
    return true;
}

bool DeviceMemory::copy_out(void* to, std::uint64_t from, std::uint64_t size) const {
    const Allocation* source = find(from, size);
    if (source == nullptr) return false;
    std::memcpy(to, source->bytes.get() + (from - source->address), size);
    return true;
}

bool DeviceMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t size) {
    const Allocation* source = find(from, size);
    const Allocation* target = find(to, size);
    if (source == nullptr || target == nullptr) return false;
    std::memmove(target->bytes.get() + (to - target->address), source->bytes.get() + (from - source->address),
                 size);
    std::memmove(target->written.get() + (to - target->address),
                 source->written.get() + (from - source->address), size);
    return true;
}

bool DeviceMemory::fill(std::uint64_t to, std::uint8_t value, std::uint64_t size) {
    const Allocation* target = find(to, size);
    if (target == nullptr) return false;
    std::memset(target->bytes.get() + (to - target->address), value, size);
    std::memset(target->written.get() + (to - target->address), 1, size);
    return true;
}

std::string DeviceMemory::describe(std::uint64_t address) const {
    for (const Freed& freed : freed_) {
        if (address - freed.address < freed.size)
            return "in " + range_text(freed.name, freed.address, freed.size) + ", which was freed";
    }
    const Allocation* below = nullptr;
    const Allocation* above = nullptr;
    for (const auto& allocation : allocations_) {
        if (allocation->address <= address) below = allocation.get();
        if (allocation->address > address && above == nullptr) above = allocation.get();
    }
    if (below == nullptr && above == nullptr) return "and nothing is allocated";
    const std::uint64_t behind = below == nullptr ? 0 : address - (below->address + below->size);
    if (below != nullptr && (above == nullptr || behind <= above->address - address))
        return count_of_bytes(behind) + " behind the end of " +
               range_text(below->name, below->address, below->size);
    return count_of_bytes(above->address - address) + " before " +
           range_text(above->name, above->address, above->size);
}

void DeviceMemory::prepare_races() {
    for (const auto& allocation : allocations_) {
        if (allocation->last_write != nullptr) continue;
        allocation->last_write = zeros((allocation->size + 7) / 4 * 8);
        allocation->last_read = zeros((allocation->size + 7) / 4 * 8);
        if (allocation->last_write == nullptr || allocation->last_read == nullptr) throw std::bad_alloc();
    }
}

DeviceMemory::Snapshot DeviceMemory::save() const {
    Snapshot snapshot;
    for (const auto& allocation : allocations_) {
        std::vector<std::uint8_t>& bytes = snapshot.bytes[allocation->address];
        bytes.assign(allocation->bytes.get(), allocation->bytes.get() + allocation->size);
        bytes.insert(bytes.end(), allocation->written.get(), allocation->written.get() + allocation->size);
    }
    return snapshot;
}

void DeviceMemory::restore(const Snapshot& snapshot) {
    for (const auto& allocation : allocations_) {
        const auto saved = snapshot.bytes.find(allocation->address);
        if (saved == snapshot.bytes.end()) continue;
        std::memcpy(allocation->bytes.get(), saved->second.data(), allocation->size);
        std::memcpy(allocation->written.get(), saved->second.data() + allocation->size, allocation->size);
    }
}

}  // namespace cudamatrix::suite::ptx
