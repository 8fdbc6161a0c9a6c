#include "render/output/owned_files.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/output/output_folder.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

// The list is what sha256sum --check reads.
constexpr std::string_view kListHead = "# Files written by cudamatrix. Compare: sha256sum --check --quiet ";
constexpr std::size_t kDigest = 64;

// The files that earlier runs wrote, by the list in `path`. Paths that no render gives are left out: a list
// that somebody edited must not make us delete what lies elsewhere.
std::optional<OwnedFiles> files_of_list(std::string_view content) {
    OwnedFiles files;
    if (!content.starts_with(kListHead)) return std::nullopt;
    while (!content.empty()) {
        const auto end = std::min(content.find('\n'), content.size());
        const auto line = content.substr(0, end);
        content.remove_prefix(std::min(end + 1, content.size()));
        if (line.starts_with('#')) continue;
        if (line.size() < kDigest + 3 || line.substr(kDigest, 2) != "  ") return std::nullopt;
        const auto name = line.substr(kDigest + 2);
        if (is_inside(name)) files.emplace(name, line.substr(0, kDigest));
    }
    return files;
}

std::optional<OwnedFiles> files_of_index(std::string_view content) {
    OwnedFiles files;
    const auto json = parse_json(content, kIndexFile);
    if (!json.ok() || string_or(*json, "tool") != "cudamatrix" || !json->contains("files") ||
        !(*json)["files"].is_object()) {
        return std::nullopt;
    }
    for (const auto& [name, digest] : (*json)["files"].items()) {
        if (is_inside(name) && digest.is_string()) files[name] = digest.get<std::string>();
    }
    return files;
}

}  // namespace

Result<OwnedFiles> owned_files(const fs::path& out) {
    std::error_code error;
    for (const auto name : {kOwnedFile, kIndexFile}) {
        const auto path = out / name;
        const auto status = fs::symlink_status(path, error);
        if (!fs::exists(status)) continue;
        std::optional<OwnedFiles> files;
        if (fs::is_regular_file(status)) {
            CM_TRY_ASSIGN(const auto content, file::read(path, kLargestIndex));
            files = files_of_list(content);
            if (!files) files = files_of_index(content);
        }
        if (files) return std::move(*files);
        return environment_failure(fmt::format("{} was not written by cudamatrix: the folder is left alone",
                                               text::printable(path.string())),
                                   "give another folder with --out, or remove that file");
    }
    return OwnedFiles{};
}

std::string owned_text(const std::vector<Artifact>& artifacts, const OwnedFiles& orphans) {
    OwnedFiles all = orphans;
    for (const auto& artifact : artifacts)
        all[artifact.path.generic_string()] =
            artifact.sha256.empty() ? sha256(artifact.content) : artifact.sha256;
    std::string out = fmt::format("{}{}\n", kListHead, kOwnedFile);
    for (const auto& [name, digest] : all)
        out += fmt::format("{}  {}\n", digest, name);
    return out;
}

}  // namespace cudamatrix
