#include "look/scan/confirm.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::scan {

Confirmation::Confirmation(const ContainerStream& stream, std::uint64_t size) : stream_(stream), size_(size) {
    for (const auto& candidate : stream.candidates()) {
        if (candidate.whole) by_offset_.emplace(candidate.offset, &candidate);
    }
}

void Confirmation::take(const ContainerStream::Candidate& candidate, const std::string* section) {
    for (fatbin::Entry& entry : stream_.entries(candidate)) {
        entry.container = contents_.containers;
        if (section != nullptr) entry.section = *section;
        contents_.entries.push_back(entry);
    }
    ++contents_.containers;
    contents_.places.push_back({candidate.offset, candidate.end - candidate.offset});
    with_code_.push_back(candidate.code || !candidate.sass);
}

void Confirmation::section(const std::string& name, std::uint64_t offset, std::uint64_t size) {
    const std::string label = name.empty() ? std::string("fat binary") : "section " + name;
    if (offset > size_ || size > size_ - offset) {
        contents_.error = fmt::format("{} of {} bytes at 0x{:x} lies outside the file", label, size, offset);
        return;
    }
    const std::string& kept = *names_.insert(name).first;
    const std::uint64_t end = offset + size;
    for (std::uint64_t at = offset; at < end && end - at >= fatbin::kContainerHeader;) {
        const auto found = by_offset_.find(at);
        if (found == by_offset_.end() || found->second->end > end) {
            if (contents_.error.empty())
                contents_.error = fmt::format("{}: no whole container at 0x{:x}", label, at - offset);
            return;
        }
        take(*found->second, &kept);
        // Zeros behind it are padding, up to a boundary of 8 bytes in any case.
        const auto behind = found->second->end - offset;
        at = offset + std::max((behind + 7) / 8 * 8, (behind + found->second->zeros) / 8 * 8);
    }
}

void Confirmation::name(const std::string& name, std::uint64_t offset, std::uint64_t size) {
    if (size == 0 || offset > size_ || size > size_ - offset) return;
    named_.emplace(offset, std::pair(offset + size, &*names_.insert(name).first));
}

void Confirmation::hidden() {
    std::vector<fatbin::Place> taken = contents_.places;
    std::sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    auto next = taken.begin();
    std::uint64_t behind = 0;
    for (const auto& [offset, candidate] : by_offset_) {
        for (; next != taken.end() && next->offset <= offset; ++next)
            behind = std::max(behind, next->offset + next->size);
        const bool into_next = next != taken.end() && candidate->end > next->offset;
        if (offset < behind || into_next || candidate->entries == 0) continue;
        auto place = named_.upper_bound(offset);
        const bool inside = place != named_.begin() && (--place)->second.first > offset;
        take(*candidate, inside ? place->second.second : nullptr);
        ++contents_.hidden;
        behind = candidate->end;
    }
}

Library Confirmation::library(std::string path, std::string error) && {
    if (!error.empty()) contents_.error = std::move(error);
    return summarise(std::move(path), size_, contents_, with_code_);
}

}  // namespace cudamatrix::scan
