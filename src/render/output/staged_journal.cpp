#include "render/output/staged_journal.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestJournal = 256u << 20;

// A line for each file: what happens to it, the SHA-256 of what stands there, its path.
constexpr std::string_view kReplace = "replace ";
constexpr std::string_view kRemove = "remove ";

}  // namespace

std::string journal_text(const Expected& replaces, const Expected& removes) {
    std::string all;
    for (const auto& [word, files] : {std::pair{kReplace, &replaces}, std::pair{kRemove, &removes}}) {
        for (const auto& [path, digest] : *files)
            all += fmt::format("{}{} {}\n", word, digest, path);
    }
    return all;
}

Result<Journal> read_journal(const std::filesystem::path& path) {
    CM_TRY_ASSIGN(const auto content, file::read(path, kLargestJournal));
    Journal journal;
    for (std::string_view rest = content; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto word = line.starts_with(kReplace) ? kReplace : kRemove;
        if (!line.starts_with(word) || line.size() < word.size() + kSha256Digits + 2) {
            return environment_failure(
                fmt::format("{} cannot be read: it was not written by cudamatrix",
                            text::printable(path.string())),
                fmt::format("remove {} and render again", text::printable(path.parent_path().string())));
        }
        line.remove_prefix(word.size());
        if (!is_inside(line.substr(kSha256Digits + 1))) continue;
        (word == kReplace ? journal.replaces : journal.removes)
            .emplace(line.substr(kSha256Digits + 1), line.substr(0, kSha256Digits));
    }
    return journal;
}

}  // namespace cudamatrix
