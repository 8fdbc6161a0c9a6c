#include "look/scan/wheel.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "look/scan/local.hpp"
#include "look/scan/stream.hpp"
#include "registry/http.hpp"
#include "registry/zip.hpp"

namespace cudamatrix::scan {
namespace {

bool cancelled(const Options& options) {
    return cudamatrix::interrupted(options.cancellation);
}

// The libraries of one member; a member that holds no code is left after its first bytes.
Status scan_member(const Zip& zip, const ZipMember& member, const Options& options, Scan& scan) {
    StreamScanner scanner(member.size, options.depth);
    Meter meter(options, member.name, member.compressed_size, member.size);
    bool left_early = false;
    auto streamed = zip.stream(member, [&](std::span<const std::uint8_t> bytes) -> Status {
        scanner.feed(bytes);
        meter.add(bytes.size());
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
        if (member.is_folder() || (options.wanted && !options.wanted(member.name))) continue;
        ++scan.files;
        CM_TRY(scan_member(zip, member, options, scan));
    }
    std::ranges::sort(scan.libraries, [](const Library& a, const Library& b) { return a.path < b.path; });
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

namespace {

constexpr std::size_t kMostNamed = 8;  // of what there is instead

struct Candidate {
    const IndexFile* file;
    WheelName name;
};

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string some_of(const std::set<std::string>& all) {
    std::vector<std::string> shown(all.begin(), all.end());
    if (shown.size() > kMostNamed) shown.erase(shown.begin(), shown.end() - kMostNamed);
    return text::printable(text::join(shown, ", "));
}

// 312 of "cp312" and of "3.12", to compare: 39 is older than 310. 0 for what runs on any Python 3.
int python_number(std::string_view tag) {
    std::string digits;
    for (const char c : tag) {
        if (c >= '0' && c <= '9') digits += c;
    }
    if (digits.size() < 2 || digits.size() > 4 || digits[0] != '3') return 0;
    return std::stoi(digits.substr(1));
}

int newest_python(const WheelName& name) {
    int newest = 0;
    for (const auto& tag : name.pythons)
        newest = std::max(newest, python_number(tag));
    return newest;
}

bool for_arch(const WheelName& name, const std::string& arch) {
    return std::ranges::any_of(name.platforms, [&](const std::string& platform) {
        return platform == "any" ||
               (platform.find("linux") != std::string::npos && platform.ends_with("_" + arch));
    });
}

bool is_free_threaded(const WheelName& name) {
    return std::ranges::all_of(name.abis, [](const std::string& abi) { return abi.ends_with("t"); });
}

bool for_python(const WheelName& name, const std::string& python) {
    if (python.empty()) return !is_free_threaded(name);
    const bool wants_threads = python.ends_with("t");
    const int wanted = python_number(python);
    const int newest = newest_python(name);
    if (newest == 0) return true;
    const bool stable = std::ranges::find(name.abis, "abi3") != name.abis.end();
    return (newest == wanted && wants_threads == is_free_threaded(name)) ||
           (stable && !wants_threads && newest <= wanted);
}

}  // namespace

std::optional<Requirement> parse_requirement(const std::string& text) {
    const auto at = text.find("==");
    if (at == std::string::npos || at == 0 || at + 2 == text.size()) return std::nullopt;
    Requirement out{text.substr(0, at), text.substr(at + 2)};
    const auto fits = [](const std::string& part, std::string_view others) {
        return is_letter_or_digit(part.front()) && std::ranges::all_of(part, [&](char c) {
                   return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
               });
    };
    if (!fits(out.project, "._-") || !fits(out.version, ".+!_-")) return std::nullopt;
    return out;
}

Result<IndexFile> choose_wheel(const std::vector<IndexFile>& files, const Requirement& wanted,
                               const WheelChoice& choice) {
    std::vector<Candidate> of_version;
    std::set<std::string> versions, platforms, pythons;
    for (const auto& file : files) {
        auto name = parse_wheel_name(file.name);
        if (!name) continue;
        versions.insert(name->version);
        if (name->version == wanted.version) of_version.push_back({&file, std::move(*name)});
    }
    const auto what = fmt::format("{}=={}", wanted.project, wanted.version);
    if (of_version.empty()) {
        return input_failure(fmt::format("the index has no wheel of {}", what),
                             versions.empty() ? "name another index with --index"
                                              : fmt::format("a version that it has: {}", some_of(versions)));
    }
    std::erase_if(of_version, [&](const Candidate& each) {
        platforms.insert(each.name.platforms.begin(), each.name.platforms.end());
        return !for_arch(each.name, choice.arch);
    });
    if (of_version.empty()) {
        return input_failure(fmt::format("the index has no Linux wheel of {} for {}", what, choice.arch),
                             fmt::format("--arch; there are {}", some_of(platforms)));
    }
    std::erase_if(of_version, [&](const Candidate& each) {
        pythons.insert(each.name.pythons.begin(), each.name.pythons.end());
        return !for_python(each.name, choice.python);
    });
    if (of_version.empty()) {
        return input_failure(fmt::format("the index has no wheel of {} for Python {}", what,
                                         choice.python.empty() ? "with a global lock" : choice.python),
                             fmt::format("--python; there are {}", some_of(pythons)));
    }
    const auto best = std::ranges::max_element(of_version, [](const auto& a, const auto& b) {
        return newest_python(a.name) < newest_python(b.name);
    });
    return *best->file;
}

Result<Scan> scan_index_wheel(HttpConnection& connection, const std::string& index, const Requirement& wanted,
                              const WheelChoice& choice, const Options& options) {
    CM_TRY_ASSIGN(const auto files, project_files(connection, index, wanted.project));
    CM_TRY_ASSIGN(const auto file, choose_wheel(files, wanted, choice));
    CM_TRY_ASSIGN(auto source, HttpSource::open(connection, file.url));
    auto scan = scan_wheel(*source, file.name, file.sha256, options);
    if (!scan.ok()) return scan;
    if (file.sha256.empty())
        scan->notes.emplace_back("the index gives no sha256: nothing to check the file against");
    if (file.yanked) scan->notes.push_back("yanked: " + file.yanked_reason);
    scan->notes.push_back(fmt::format("{} transferred", text::human_bytes(source->transferred())));
    return scan;
}

}  // namespace cudamatrix::scan
