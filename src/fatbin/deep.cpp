#include <algorithm>
#include <cstring>

#include "fatbin/container.hpp"
#include "fatbin/object_files.hpp"

namespace cudamatrix::fatbin {
namespace {

constexpr std::uint8_t kMagicBytes[] = {0x50, 0xED, 0x55, 0xBA};

// Bytes that look like containers and are none cost time, and a file can be made of nothing else.
constexpr std::size_t kMostEffort = 1U << 22;
constexpr std::size_t kEffortOfOne = 16;

class Search {
  public:
    Search(Bytes file, Contents& contents) : file_(file), contents_(contents), elf_(read_elf(file)) {
        for (const ElfSection& section : elf_.sections) {
            if (section.bytes.size != 0) sections_.push_back(&section);
        }
        std::sort(sections_.begin(), sections_.end(),
                  [](const ElfSection* a, const ElfSection* b) { return a->bytes.data < b->bytes.data; });
    }

    /// [begin, end) of the file, in which no container is known; false when it has to be given up.
    bool range(std::uint64_t begin, std::uint64_t end) {
        while (begin < end && end - begin >= kContainerHeader) {
            const void* hit = ::memmem(file_.data + begin, static_cast<std::size_t>(end - begin), kMagicBytes,
                                       sizeof kMagicBytes);
            if (hit == nullptr) return true;
            const auto at = static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(hit) - file_.data);
            const auto behind = container_at(at, end);
            if (!behind && effort_ > kMostEffort) {
                contents_.error = "too many bytes that only look like containers";
                return false;
            }
            begin = behind ? *behind : at + sizeof kMagicBytes;
        }
        return true;
    }

  private:
    std::optional<std::uint64_t> container_at(std::uint64_t at, std::uint64_t end) {
        const std::size_t entries = contents_.entries.size();
        std::string error;
        error.swap(contents_.error);
        const auto behind = read_container(file_.sub(0, end), at, 0, section_at(at), contents_);
        error.swap(contents_.error);
        if (behind && contents_.entries.size() > entries) {
            ++contents_.hidden;
            return behind;
        }
        // Bytes that look like one, or a container without entries: neither is device code.
        effort_ += kEffortOfOne + contents_.entries.size() - entries;
        contents_.entries.resize(entries);
        if (behind) {
            --contents_.containers;
            contents_.places.pop_back();
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string_view section_at(std::uint64_t offset) const {
        const std::uint8_t* place = file_.data + offset;
        const auto next =
            std::upper_bound(sections_.begin(), sections_.end(), place,
                             [](const std::uint8_t* at, const ElfSection* s) { return at < s->bytes.data; });
        if (next == sections_.begin()) return {};
        const ElfSection& section = **(next - 1);
        return place < section.bytes.data + section.bytes.size ? section.name : std::string_view();
    }

    Bytes file_;
    Contents& contents_;
    ElfFile elf_;
    std::vector<const ElfSection*> sections_;
    std::size_t effort_ = 0;
};

}  // namespace

Contents read_deep(Bytes file) {
    Contents contents = read(file);
    const bool known = looks_like_elf(file) || looks_like_archive(file) || contents.containers != 0;
    if (!known) contents.error.clear();
    // What stood before a fault belongs to no whole container.
    while (!contents.entries.empty() && contents.entries.back().container >= contents.containers)
        contents.entries.pop_back();
    std::vector<Place> taken = contents.places;
    std::sort(taken.begin(), taken.end(), [](const Place& a, const Place& b) { return a.offset < b.offset; });
    Search search(file, contents);
    std::uint64_t begin = 0;
    for (const Place& place : taken) {
        if (place.offset > begin && !search.range(begin, place.offset)) return contents;
        begin = std::max(begin, place.offset + place.size);
    }
    (void)search.range(begin, file.size);
    return contents;
}

}  // namespace cudamatrix::fatbin
