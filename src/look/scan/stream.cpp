#include "look/scan/stream.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "fatbin/object_files.hpp"
#include "look/scan/container_stream.hpp"

namespace cudamatrix::scan {

// A static library whose bytes go by once.

/// Gives every member a scanner of its own. A member is named in errors as the header has it: the table of
/// long names is not kept.
class ArchiveStream {
  public:
    ArchiveStream(std::uint64_t size, const Depth& depth)
        : size_(size), depth_(depth), header_left_(kMagic) {}

    void feed(std::span<const std::uint8_t> bytes);
    /// `error`: what is wrong with the file that the bytes are from; it wins over what was found here.
    [[nodiscard]] Library finish(std::string path, const std::string& error);

  private:
    static constexpr std::size_t kMagic = 8;
    static constexpr std::size_t kMember = 60;

    void end_header();
    void end_member();

    std::uint64_t size_;
    Depth depth_;
    std::uint64_t fed_ = 0;
    std::vector<std::uint8_t> header_;
    std::size_t header_left_;        ///< bytes of the header that is being read
    std::uint64_t member_left_ = 0;  ///< bytes of the member, its padding included
    std::uint64_t padding_ = 0;
    std::string name_;
    std::unique_ptr<StreamScanner> member_;  ///< none for a table of the archive itself
    Library sum_;
    std::string error_;
};

namespace {

constexpr std::uint64_t kSmall = 8U << 20;
constexpr std::uint64_t kElfHeader = 64;
constexpr std::uint64_t kMostNames = 4U << 20;
constexpr std::uint32_t kTypeNobits = 8;
constexpr std::size_t kMostName =
    256;  // of a section: only two names matter, and a table can hold one long one

}  // namespace

void Capture::feed(std::uint64_t position, std::span<const std::uint8_t> bytes) {
    const std::uint64_t wanted = begin_ + bytes_.size();
    if (wanted >= end_ || position > wanted || wanted - position >= bytes.size()) return;
    const auto part = bytes.subspan(static_cast<std::size_t>(wanted - position));
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), end_ - wanted));
    bytes_.reserve(static_cast<std::size_t>(end_ - begin_));  // doubling would hold up to three times that
    bytes_.insert(bytes_.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(length));
}

fatbin::Bytes Capture::at(std::uint64_t offset, std::uint64_t length) const {
    if (offset < begin_) return {};
    return fatbin::Bytes{bytes_.data(), bytes_.size()}.sub(offset - begin_, length);
}

StreamScanner::StreamScanner(std::uint64_t size, const Depth& depth) : size_(size), depth_(depth) {}

StreamScanner::~StreamScanner() = default;

void StreamScanner::feed(std::span<const std::uint8_t> bytes) {
    if (!error_.empty() || state_ == State::nothing) return;
    if (bytes.size() > size_ - position_) {
        error_ = fmt::format("more bytes than the {} that it should have", size_);
        return;
    }
    if (state_ == State::beginning) {
        // The ELF header decides where to look, so that it is waited for.
        const std::size_t part = std::min<std::size_t>(bytes.size(), kElfHeader - kept_.size());
        kept_.insert(kept_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
        if (kept_.size() < kElfHeader && position_ + part < size_) {
            position_ += part;
            return;
        }
        begin();
        if (state_ != State::small && state_ != State::nothing) {
            const auto head = std::exchange(kept_, {});
            position_ -= head.size() - part;
            feed(head);
        } else {
            position_ += part;
        }
        if (part < bytes.size()) feed(bytes.subspan(part));
        return;
    }
    if (state_ == State::small) {
        kept_.reserve(static_cast<std::size_t>(size_));
        kept_.insert(kept_.end(), bytes.begin(), bytes.end());
    } else if (state_ == State::elf) {
        feed_elf(bytes);
    } else if (state_ == State::archive) {
        archive_->feed(bytes);
    } else {
        containers_->feed(bytes);
    }
    position_ += bytes.size();
}

void StreamScanner::begin() {
    const fatbin::Bytes head{kept_.data(), kept_.size()};
    if (!may_hold_code(head) && !depth_.everywhere) {
        state_ = State::nothing;
    } else if (size_ <= kSmall || fatbin::is_thin_archive(head)) {
        state_ = State::small;
        if (fatbin::is_thin_archive(head)) error_ = fatbin::read(head).error;
    } else if (fatbin::looks_like_archive(head)) {
        archive_ = std::make_unique<ArchiveStream>(size_, depth_);
        state_ = State::archive;
    } else {
        containers_.emplace(size_);
        state_ = State::containers;
        if (fatbin::looks_like_elf(head)) begin_elf();
    }
}

void StreamScanner::begin_elf() {
    state_ = State::elf;
    const fatbin::Bytes head{kept_.data(), kept_.size()};
    if (head.data[4] != 2 || head.data[5] != 1) {
        error_ = "not a 64-bit little-endian ELF file";
        return;
    }
    if (head.number<std::uint16_t>(18) == fatbin::kElfMachineCuda) {
        error_ = "a single cubin of more than 8 MiB in an archive: unpack it to have it read";
        return;
    }
    const auto offset = head.number<std::uint64_t>(40);
    const auto count = head.number<std::uint16_t>(60);
    if (offset == 0) {
        error_ = "ELF file without a section table (stripped of it)";
    } else if (head.number<std::uint16_t>(58) != kElfHeader) {
        error_ = fmt::format("ELF section headers of {} bytes, expected 64", head.number<std::uint16_t>(58));
    } else if (count == 0) {
        error_ =
            "an ELF file of more than 8 MiB and 65,279 sections in an archive: unpack it to have it read";
    } else if (offset > size_ || count * kElfHeader > size_ - offset) {
        error_ = "ELF section table lies outside the file";
    } else {
        names_at_ = 0;
        table_ = Capture(offset, offset + count * kElfHeader);
        before_table_ = Capture(offset > kMostNames ? offset - kMostNames : 0, offset);
        names_size_ = head.number<std::uint16_t>(62);  // the section's number, until the table is there
    }
}

void StreamScanner::feed_elf(std::span<const std::uint8_t> bytes) {
    containers_->feed(bytes);
    before_table_.feed(position_, bytes);
    const bool had_table = table_.complete();
    table_.feed(position_, bytes);
    if (!had_table && table_.complete()) find_names();
    behind_table_.feed(position_, bytes);
}

void StreamScanner::find_names() {
    const std::uint64_t header = names_size_ * kElfHeader;
    const fatbin::Bytes section = table_.at(table_.begin() + header, kElfHeader);
    names_size_ = 0;
    if (section.size == 0) return;
    names_at_ = section.number<std::uint64_t>(24);
    const auto size = section.number<std::uint64_t>(32);
    if (names_at_ > size_ || size > size_ - names_at_ || size > kMostNames) return;
    names_size_ = size;
    // Bytes between the end of the table and this chunk's end are fed after this call.
    if (names_at_ >= table_.end()) behind_table_ = Capture(names_at_, names_at_ + size);
}

fatbin::Bytes StreamScanner::names() const {
    const fatbin::Bytes before = before_table_.at(names_at_, names_size_);
    return before.size != 0 ? before : behind_table_.at(names_at_, names_size_);
}

std::vector<StreamScanner::Section> StreamScanner::sections(std::string& error) const {
    std::vector<Section> result;
    const fatbin::Bytes text = names();
    if (!table_.complete() || text.size == 0) {
        error = !table_.complete()
                    ? "ELF section table is cut off"
                    : "ELF section names lie far from the section table: unpack the file to have it read";
        return result;
    }
    for (std::uint64_t at = table_.begin(); at < table_.end(); at += kElfHeader) {
        const fatbin::Bytes header = table_.at(at, kElfHeader);
        const auto name = header.number<std::uint32_t>(0);
        if (header.number<std::uint32_t>(4) == kTypeNobits || name >= text.size) continue;
        const auto* begin = reinterpret_cast<const char*>(text.data) + name;
        const std::size_t length = ::strnlen(begin, std::min<std::size_t>(text.size - name, kMostName));
        result.push_back(
            {{begin, length}, header.number<std::uint64_t>(24), header.number<std::uint64_t>(32)});
    }
    return result;
}

Library StreamScanner::confirmed(const std::string& path, bool everywhere) const {
    Confirmation confirmation(*containers_, size_);
    std::string error = error_;
    if (error.empty()) error = containers_->error();
    if (error.empty() && position_ < size_) error = fmt::format("cut off: {} of {} bytes", position_, size_);
    std::vector<Section> all;
    if (error.empty() && state_ == State::elf) {
        all = sections(error);
        for (const Section& section : all) {
            if (section.name == ".nv_fatbin" || section.name == fatbin::kRelocatableSection)
                confirmation.section(section.name, section.offset, section.size);
        }
    } else if (error.empty() && !everywhere) {
        confirmation.section("", 0, size_);  // a bare fat binary
    }
    if (everywhere) {
        for (const Section& section : all)
            confirmation.name(section.name, section.offset, section.size);
        confirmation.hidden();
    }
    auto library = std::move(confirmation).library(path, std::move(error));
    library.searched = everywhere;
    return library;
}

Library StreamScanner::finish_large(const std::string& path) {
    containers_->finish();
    auto library = confirmed(path, depth_.everywhere);
    if (depth_.everywhere || !depth_.look_again || !depth_.look_again(library)) return library;
    return confirmed(path, true);
}

std::optional<Library> StreamScanner::finish(std::string path) {
    if (state_ == State::beginning) begin();
    if (state_ == State::nothing) return std::nullopt;
    if (state_ == State::small) {
        auto library = read_library(std::move(path), {kept_.data(), kept_.size()}, depth_);
        library.size = size_;
        if (!error_.empty()) library.error = error_;
        if (library.error.empty() && position_ < size_)
            library.error = fmt::format("cut off: {} of {} bytes", position_, size_);
        return library;
    }
    if (state_ == State::archive) return archive_->finish(std::move(path), error_);
    return finish_large(path);
}

void ArchiveStream::feed(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty() && error_.empty()) {
        const std::uint64_t wanted = header_left_ != 0 ? header_left_ : member_left_;
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, bytes.size()));
        const auto piece = bytes.first(part);
        bytes = bytes.subspan(part);
        fed_ += part;
        if (header_left_ != 0) {
            header_.insert(header_.end(), piece.begin(), piece.end());
            header_left_ -= part;
            if (header_left_ == 0) end_header();
            continue;
        }
        const std::uint64_t of_file = member_left_ - std::min(member_left_, padding_);
        if (member_)
            member_->feed(piece.first(static_cast<std::size_t>(std::min<std::uint64_t>(of_file, part))));
        member_left_ -= part;
        if (member_left_ == 0) end_member();
    }
}

void ArchiveStream::end_header() {
    const auto header = std::exchange(header_, {});
    if (header.size() == kMagic) {
        header_left_ = kMember;
        return;
    }
    const auto member = fatbin::read_ar_header({header.data(), header.size()});
    if (!member || member->size > size_ - fed_) {
        error_ = fmt::format(
            "archive, member at 0x{:x}: {}", fed_ - kMember,
            member ? fmt::format("{} bytes, {} left", member->size, size_ - fed_) : "no member header");
        return;
    }
    name_ = std::string(member->name);
    padding_ = member->size % 2;
    member_left_ = member->size + padding_;
    if (!fatbin::is_ar_table(name_)) {
        ++sum_.members;
        member_ = std::make_unique<StreamScanner>(member->size, depth_);
    }
    if (member_left_ == 0) end_member();
}

void ArchiveStream::end_member() {
    header_left_ = kMember;
    if (!member_) return;
    const auto found = member_->finish(name_);
    member_.reset();
    if (!found) return;
    if (found->containers != 0) ++sum_.members_with_code;
    add(sum_, *found);
    if (!found->error.empty()) error_ = fmt::format("member {}: {}", name_, found->error);
}

Library ArchiveStream::finish(std::string path, const std::string& error) {
    if (member_left_ != 0 && member_left_ <= padding_) {  // only the padding of the last member is missing
        member_left_ = 0;
        end_member();
    }
    const bool whole = fed_ == size_ && member_left_ == 0 && header_left_ == kMember && header_.empty();
    sum_.path = std::move(path);
    sum_.size = size_;
    sum_.error = !error.empty() ? error : error_;
    if (sum_.error.empty() && !whole) sum_.error = fmt::format("cut off: {} of {} bytes", fed_, size_);
    return std::move(sum_);
}

}  // namespace cudamatrix::scan
