#include "look/scan/container_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::scan {
namespace {

constexpr std::uint8_t kMagicBytes[] = {0x50, 0xED, 0x55, 0xBA};
constexpr std::uint64_t kHeader = fatbin::kEntryHeader;  // the longest thing that has to lie in one piece
constexpr std::uint64_t kMostEffort = 1U << 26;          // section headers looked at
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

fatbin::Bytes ContainerStream::at(std::uint64_t offset, std::uint64_t length) const {
    if (offset < base_) return {};
    return fatbin::Bytes{window_.data(), window_.size()}.sub(offset - base_, length);
}

void ContainerStream::feed(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty() && error_.empty()) {
        const std::size_t part = std::min(bytes.size(), kWindow + kHeader - window_.size());
        window_.insert(window_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
        bytes = bytes.subspan(part);
        if (window_.size() < kWindow + kHeader) return;
        // The last bytes stay: a header that begins in them ends in the next window.
        process(base_ + window_.size() - kHeader + 1);
        const std::size_t done = window_.size() - kHeader + 1;
        window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(done));
        base_ += done;
    }
}

void ContainerStream::finish() {
    if (error_.empty()) process(base_ + window_.size());
    walkers_.clear();
    probes_.clear();
}

void ContainerStream::process(std::uint64_t limit) {
    search(limit);
    std::erase_if(walkers_, [&](Walker& walker) { return advance(walker, limit); });
    std::erase_if(probes_, [&](Probe& probe) { return advance(probe, limit); });
    if (records_.size() >= kMost || candidates_.size() >= kMost)
        error_ = "more than " + std::to_string(kMost) + " containers or entries in one file";
    if (effort_ > kMostEffort) error_ = "too many section headers in the cubins of one file";
}

void ContainerStream::search(std::uint64_t limit) {
    search_ = std::max(search_, base_);
    while (search_ < limit && candidates_.size() < kMost) {
        const fatbin::Bytes rest = at(search_, base_ + window_.size() - search_);
        const void* hit = ::memmem(rest.data, rest.size, kMagicBytes, sizeof kMagicBytes);
        const auto found =
            hit == nullptr
                ? limit
                : search_ + static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(hit) - rest.data);
        if (found >= limit) {
            search_ = limit;
            return;
        }
        add_candidate(found);
        search_ = found + sizeof kMagicBytes;
    }
}

void ContainerStream::add_candidate(std::uint64_t offset) {
    const auto header = fatbin::read_container_header(at(offset, fatbin::kContainerHeader));
    if (!header) return;
    const std::uint64_t left = size_ - offset;
    if (header->header_size > left || header->body_size > left - header->header_size) return;
    Candidate candidate;
    candidate.offset = offset;
    candidate.end = offset + header->header_size + header->body_size;
    candidate.first_entry = candidate.last_entry = kNone;
    walkers_.push_back({candidates_.size(), offset + header->header_size});
    candidates_.push_back(candidate);
}

// Of a container that was walked to its end.
bool ContainerStream::count_padding(Walker& walker, std::uint64_t limit) {
    Candidate& candidate = candidates_[walker.candidate];
    while (walker.next < limit && candidate.zeros < kMostPadding) {
        const fatbin::Bytes byte = at(walker.next, 1);
        if (byte.size == 0 || byte.data[0] != 0) return true;
        ++walker.next;
        ++candidate.zeros;
    }
    return candidate.zeros == kMostPadding;
}

bool ContainerStream::advance(Walker& walker, std::uint64_t limit) {
    Candidate& candidate = candidates_[walker.candidate];
    if (candidate.complete) return count_padding(walker, limit);
    while (walker.next < limit || candidate.end - walker.next < kHeader) {
        if (candidate.end - walker.next < kHeader) {
            // Containers are padded with zeros up to 8 bytes; anything else is cut off.
            const std::uint64_t rest = candidate.end - walker.next;
            if (rest >= 8) return true;
            const fatbin::Bytes padding = at(walker.next, rest);
            if (rest != 0 && padding.size != rest) return false;
            candidate.complete =
                std::all_of(padding.data, padding.data + padding.size, [](auto byte) { return byte == 0; });
            walker.next = candidate.end;
            return !candidate.complete || count_padding(walker, limit);
        }
        const fatbin::Bytes bytes = at(walker.next, kHeader);
        if (bytes.size != kHeader || records_.size() >= kMost) return true;
        const auto header = fatbin::read_entry_header(bytes);
        const std::uint64_t left = candidate.end - walker.next;
        if (header.header_size < kHeader || header.header_size > left ||
            header.entry.payload > left - header.header_size) {
            return true;
        }
        const std::uint64_t payload = walker.next + header.header_size;
        add_entry(walker.candidate, header, payload);
        walker.next = payload + header.entry.payload;
    }
    return false;
}

void ContainerStream::add_entry(std::size_t index, const fatbin::EntryHeader& header, std::uint64_t payload) {
    Candidate& candidate = candidates_[index];
    records_.push_back({header.entry, kNone});
    const std::size_t added = records_.size() - 1;
    if (candidate.entries == 0) {
        candidate.first_entry = added;
    } else {
        records_[candidate.last_entry].next = added;
    }
    candidate.last_entry = added;
    ++candidate.entries;
    if (header.entry.kind != fatbin::Kind::sass) return;
    candidate.sass = true;
    if (header.entry.compressed) candidate.code = true;
    if (!candidate.code && header.entry.payload >= kHeader)
        probes_.push_back({index, payload, payload + header.entry.payload, payload, 0});
}

bool ContainerStream::begin_sections(Probe& probe) {
    const fatbin::Bytes header = at(probe.next, kHeader);
    constexpr std::uint8_t kElf64[] = {0x7f, 'E', 'L', 'F', 2, 1};
    if (header.size != kHeader || !std::equal(std::begin(kElf64), std::end(kElf64), header.data))
        return false;
    const auto table = header.number<std::uint64_t>(40);
    const auto count = header.number<std::uint16_t>(60);
    const std::uint64_t size = probe.end - probe.begin;
    // A table before its own header, or of more than 65,279 sections, was written by no ptxas.
    if (header.number<std::uint16_t>(58) != 64 || count == 0 || table < kHeader || table > size ||
        std::uint64_t{count} * kHeader > size - table) {
        return false;
    }
    probe.next = probe.begin + table;
    probe.sections = count;
    return true;
}

bool ContainerStream::advance(Probe& probe, std::uint64_t limit) {
    Candidate& candidate = candidates_[probe.candidate];
    while (probe.next < limit && !candidate.code && effort_ <= kMostEffort) {
        ++effort_;
        if (probe.sections == 0) {
            if (!begin_sections(probe)) return true;
            continue;
        }
        const fatbin::Bytes section = at(probe.next, kHeader);
        if (section.size != kHeader) return true;
        candidate.code = section.number<std::uint32_t>(4) == 1 &&
                         (section.number<std::uint64_t>(8) & 4) != 0 &&
                         section.number<std::uint64_t>(32) != 0;
        probe.next += kHeader;
        if (--probe.sections == 0) return true;
    }
    return candidate.code;
}

std::vector<fatbin::Entry> ContainerStream::entries(const Candidate& candidate) const {
    std::vector<fatbin::Entry> result;
    std::size_t index = candidate.first_entry;
    for (std::size_t i = 0; i < candidate.entries; ++i) {
        result.push_back(records_[index].entry);
        index = records_[index].next;
    }
    return result;
}

Confirmation::Confirmation(const ContainerStream& stream, std::uint64_t size) : stream_(stream), size_(size) {
    for (const auto& candidate : stream.candidates()) {
        if (candidate.complete) by_offset_.emplace(candidate.offset, &candidate);
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
    std::ranges::sort(taken, [](const auto& a, const auto& b) { return a.offset < b.offset; });
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
