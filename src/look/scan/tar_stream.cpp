#include "look/scan/tar_stream.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::scan {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Where the fields of a header lie.
struct Field {
    std::size_t at;
    std::size_t size;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kLink{157, 100}, kMagic{257, 6},
    kPrefix{345, 155};
constexpr std::size_t kType = 156;
constexpr std::uint64_t kLongestText = 1U << 20;            // of a name, or of all records of one pax header
constexpr std::uint64_t kLargest = std::uint64_t{1} << 50;  // of one file: more than any disk has

std::string_view text_of(Bytes block, Field field) {
    const auto* begin = reinterpret_cast<const char*>(block.data()) + field.at;
    return {begin, ::strnlen(begin, field.size)};
}

// Octal digits between spaces and NUL bytes, or, where the first bit is set, a binary number (GNU).
std::optional<std::uint64_t> number_of(Bytes block, Field field) {
    const auto bytes = block.subspan(field.at, field.size);
    std::uint64_t value = 0;
    if ((bytes[0] & 0x80U) != 0) {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            if (value >> 56U != 0) return std::nullopt;
            value = value << 8U | (i == 0 ? bytes[0] & 0x7fU : bytes[i]);
        }
        return value;
    }
    const auto text = text::trim(text_of(block, field));
    if (text.empty()) return 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool checksum_fits(Bytes block) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block.size(); ++i)
        sum += i >= kChecksum.at && i < kChecksum.at + kChecksum.size ? ' ' : block[i];
    const auto told = number_of(block, kChecksum);
    return told && *told == sum;
}

// "./usr//lib/" as "usr/lib"; nothing for a path that leads out of the folder.
std::optional<std::string> normalised(std::string_view path) {
    std::vector<std::string> parts;
    for (auto& part : text::split(path, '/')) {
        if (part == "..") return std::nullopt;
        if (!part.empty() && part != ".") parts.push_back(std::move(part));
    }
    return text::join(parts, "/");
}

bool all_zero(Bytes block) {
    return std::ranges::all_of(block, [](auto byte) { return byte == 0; });
}

}  // namespace

bool looks_like_tar(Bytes beginning) {
    return beginning.size() >= TarStream::kBlock && text_of(beginning, kMagic).starts_with("ustar") &&
           checksum_fits(beginning.first(TarStream::kBlock));
}

Failure TarStream::refused(std::string_view why) const {
    const auto at = position_ - std::min<std::uint64_t>(position_, kBlock);
    return input_failure(
        fmt::format("cannot read {} as a tar: {} (at byte {})", text::printable(label_), why, at),
        "make it again, e.g. with docker save");
}

Status TarStream::feed(Bytes bytes) {
    while (!bytes.empty() && !ended_) {
        if (left_ != 0 || padding_ != 0) {
            auto& wanted = left_ != 0 ? left_ : padding_;
            const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, bytes.size()));
            const bool is_body = left_ != 0;
            wanted -= part;
            position_ += part;
            if (is_body) {
                CM_TRY(take(bytes.first(part)));
            }
            bytes = bytes.subspan(part);
            if (is_body && left_ == 0) {
                CM_TRY(end_body());
            }
            continue;
        }
        const auto part = std::min(bytes.size(), kBlock - block_.size());
        block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
        bytes = bytes.subspan(part);
        position_ += part;
        if (block_.size() < kBlock) return Done{};
        auto read = header();
        block_.clear();
        if (!read.ok()) return read;
    }
    return Done{};
}

Status TarStream::header() {
    const Bytes block = block_;
    if (all_zero(block)) {
        ended_ = true;
        return Done{};
    }
    if (!checksum_fits(block)) return refused("a header has a wrong checksum");
    const auto size = number_of(block, kSize);
    if (!size || *size > kLargest) return refused("a header has an invalid size");
    const char type = static_cast<char>(block[kType]);
    left_ = *size;
    padding_ = (kBlock - *size % kBlock) % kBlock;
    body_ = type == 'L'   ? Body::long_name
            : type == 'K' ? Body::long_link
            : type == 'x' ? Body::pax
            : type == 'g' ? Body::skipped
                          : Body::none;
    if (body_ != Body::none) {
        if (left_ > kLongestText)
            return refused(fmt::format("a name or its attributes have {} bytes", left_));
        text_.clear();
        return left_ == 0 ? end_body() : Status(Done{});
    }
    TarEntry entry;
    const auto prefix = text_of(block, kMagic) == "ustar" ? text_of(block, kPrefix) : std::string_view{};
    entry.path = prefix.empty() ? std::string(text_of(block, kName))
                                : fmt::format("{}/{}", prefix, text_of(block, kName));
    entry.link = text_of(block, kLink);
    if (!long_name_.empty()) entry.path = std::exchange(long_name_, {});
    if (!long_link_.empty()) entry.link = std::exchange(long_link_, {});
    return begin_entry(std::move(entry), type);
}

Status TarStream::begin_entry(TarEntry entry, char type) {
    const auto pax = std::exchange(pax_, {});
    if (const auto found = pax.find("path"); found != pax.end()) entry.path = found->second;
    if (const auto found = pax.find("linkpath"); found != pax.end()) entry.link = found->second;
    if (const auto found = pax.find("size"); found != pax.end()) {
        const auto& digits = found->second;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_);
        if (error != std::errc() || end != digits.data() + digits.size() || left_ > kLargest)
            return refused("a pax header has an invalid size");
        padding_ = (kBlock - left_ % kBlock) % kBlock;
    }
    const bool sparse = type == 'S' || std::ranges::any_of(pax, [](const auto& record) {
                            return record.first.starts_with("GNU.sparse.");
                        });
    if (sparse) return refused("it holds a sparse file, which is not supported");
    auto path = normalised(entry.path);
    if (!path) return refused(fmt::format("'{}' leads out of the folder", text::printable(entry.path)));
    using Kind = TarEntry::Kind;
    const bool plain = type == '0' || type == '\0' || type == '7';
    entry.kind = type == '5' || (plain && entry.path.ends_with('/')) ? Kind::folder
                 : plain                                             ? Kind::file
                 : type == '1'                                       ? Kind::hard_link
                 : type == '2'                                       ? Kind::symbolic_link
                                                                     : Kind::other;
    if (entry.kind == Kind::hard_link) {
        if (left_ != 0) return refused("a hard link has content of its own");
        auto target = normalised(entry.link);
        if (!target) return refused(fmt::format("'{}' leads out of the folder", text::printable(entry.link)));
        entry.link = std::move(*target);
    }
    entry.path = std::move(*path);
    entry.size = entry.kind == Kind::file ? left_ : 0;
    body_ = entry.kind == Kind::file ? Body::file : Body::skipped;
    CM_TRY(handler_.begin(entry));
    return left_ == 0 ? end_body() : Status(Done{});
}

Status TarStream::take(Bytes bytes) {
    if (body_ == Body::file) return handler_.content(bytes);
    if (body_ != Body::skipped) text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Done{};
}

Status TarStream::end_body() {
    switch (std::exchange(body_, Body::none)) {
        case Body::file:
            return handler_.end();
        case Body::long_name:
            long_name_ = text_.substr(0, text_.find('\0'));
            break;
        case Body::long_link:
            long_link_ = text_.substr(0, text_.find('\0'));
            break;
        case Body::pax:
            return pax_records();
        case Body::skipped:
        case Body::none:
            break;
    }
    return Done{};
}

// "27 path=usr/lib/libx.so\n": the length counts itself and the newline.
Status TarStream::pax_records() {
    std::string_view rest = text_;
    while (!rest.empty()) {
        std::size_t length = 0;
        const auto [digits, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
        const auto number = static_cast<std::size_t>(digits - rest.data());
        const bool fits = error == std::errc() && length > number + 1 && length <= rest.size() &&
                          rest[number] == ' ' && rest[length - 1] == '\n';
        const auto record = fits ? rest.substr(number + 1, length - number - 2) : std::string_view{};
        const auto equals = record.find('=');
        if (!fits || equals == std::string_view::npos) return refused("a pax header has a broken record");
        pax_[std::string(record.substr(0, equals))] = record.substr(equals + 1);
        rest.remove_prefix(length);
    }
    return Done{};
}

Status TarStream::finish() {
    if (ended_) return Done{};
    return refused("it is cut off: the mark of its end did not come");
}

}  // namespace cudamatrix::scan
