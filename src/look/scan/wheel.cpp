#include "look/scan/wheel.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "look/scan/file_source.hpp"
#include "look/scan/stream.hpp"
#include "registry/zip.hpp"

namespace cudamatrix::scan {
namespace {

bool cancelled(const Options& options) {
    return cudamatrix::interrupted(options.cancellation);
}

// The libraries of one member; a member that holds no code is left after its first bytes.
Status scan_member(const Zip& zip, const ZipMember& member, const Options& options, Scan& scan) {
    StreamScanner scanner(member.size, options.depth);
    bool left_early = false;
    auto streamed = zip.stream(member, [&](std::span<const std::uint8_t> bytes) -> Status {
        scanner.feed(bytes);
        left_early = !scanner.wants_more() || cancelled(options);
        if (left_early) return environment_failure("left early");
        return Done{};
    });
    if (left_early) return Done{};
    if (!streamed.ok()) return streamed;
    auto library = scanner.finish(member.name);
    if (library && worth_listing(*library)) scan.libraries.push_back(std::move(*library));
    return Done{};
}

}  // namespace

Status HashedSource::read_up_to(std::uint64_t offset) {
    std::array<std::uint8_t, 1U << 16> buffer;
    while (position_ < offset) {
        const auto part =
            static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), offset - position_));
        const std::span<std::uint8_t> into(buffer.data(), part);
        CM_TRY(source_.read(position_, into));
        hash_.update({reinterpret_cast<const char*>(buffer.data()), part});
        position_ += part;
    }
    return Done{};
}

Status HashedSource::read(std::uint64_t offset, std::span<std::uint8_t> into) {
    if (hashing_ && offset > position_) {
        CM_TRY(read_up_to(offset));
    }
    auto got = source_.read(offset, into);
    const std::uint64_t end = offset + into.size();
    if (!got.ok() || !hashing_ || end <= position_) return got;
    const auto known = static_cast<std::size_t>(position_ - offset);
    hash_.update({reinterpret_cast<const char*>(into.data()) + known, into.size() - known});
    position_ = end;
    return got;
}

Result<std::string> HashedSource::finish() {
    CM_TRY(read_up_to(size()));
    return hash_.hex();
}

Result<Scan> scan_wheel(ByteSource& source, const std::string& target, const std::string& sha256,
                        const Options& options) {
    HashedSource hashed(source);
    CM_TRY_ASSIGN(const auto zip, Zip::open(hashed, target));
    if (!sha256.empty()) hashed.begin();
    Scan scan{target, "wheel", {}, {}, 0};
    for (const auto& member : zip.members()) {
        if (cancelled(options)) return scan;
        if (member.is_folder()) continue;
        ++scan.files;
        CM_TRY(scan_member(zip, member, options, scan));
    }
    std::sort(scan.libraries.begin(), scan.libraries.end(),
              [](const Library& a, const Library& b) { return a.path < b.path; });
    if (sha256.empty()) return scan;
    CM_TRY_ASSIGN(const auto digest, hashed.finish());
    if (digest != sha256) {
        return input_failure(fmt::format("{} has the sha256 {}, and the index says {}",
                                         text::printable(target), digest, text::printable(sha256)),
                             "do not use this file; ask the index again, or compare with another mirror");
    }
    scan.notes.push_back(fmt::format("sha256 {} checked", sha256));
    return scan;
}

bool is_wheel_name(const std::string& path) {
    return path.ends_with(".whl");
}

Result<Scan> scan_wheel_file(const std::string& path, const Options& options) {
    CM_TRY_ASSIGN(const auto source, open_file(path));
    return scan_wheel(*source, path, {}, options);
}

}  // namespace cudamatrix::scan
