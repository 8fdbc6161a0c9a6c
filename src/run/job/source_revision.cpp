#include "run/job/source_revision.hpp"

#include <algorithm>

#include "base/git.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::string_view kHead = "# branch.oid ";

bool is_commit(std::string_view text) {
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, is_hex);
}

SourceRevision none(std::string why) {
    return {{}, std::move(why)};
}

}  // namespace

SourceRevision source_revision(const std::filesystem::path& folder, const std::vector<std::string>& files,
                               const Environment& environment, const Cancellation* cancellation) {
    if (!find_program("git", environment)) return none("there is no git on PATH");
    const Git git(folder, environment, cancellation);
    const auto known = git.ask({"ls-files", "--", files.front()});
    if (!known.ok() || !known->success()) return none(why_git_failed(known));
    if (known->out.empty()) return none("git does not know the matrix file");

    std::vector<std::string> question{"status", "--porcelain=v2", "--branch", "--"};
    question.insert(question.end(), files.begin(), files.end());
    const auto status = git.ask(question);
    if (!status.ok() || !status->success()) return none(why_git_failed(status));
    SourceRevision found;
    bool dirty = false;
    for (const auto& line : text::split(status->out, '\n')) {
        if (line.starts_with(kHead)) found.id = line.substr(kHead.size());
        if (!line.empty() && line.front() != '#') dirty = true;
    }
    if (!is_commit(found.id)) return none("git: there is no commit yet");
    if (dirty) found.id += "-dirty";
    return found;
}

}  // namespace cudamatrix::job
