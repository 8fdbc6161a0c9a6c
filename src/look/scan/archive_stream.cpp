#include "look/scan/archive_stream.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "fatbin/archive.hpp"

namespace cudamatrix::scan {

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
