// facts log: which rows of a folder of facts are others than they were.
#include <filesystem>

#include "base/git.hpp"
#include "base/text.hpp"
#include "commands/diff_sides.hpp"
#include "commands/index_options.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

struct LogOptions {
    std::string folder, since;
    DiffOptions diff;
};

// The last commit before a day begins; a revision as it is.
Result<std::string> revision_of(const std::string& since, const World& world) {
    if (!is_date(since)) return since;
    const auto answer = Git({}, world.environment, world.cancellation)
                            .ask({"rev-list", "--max-count=1", "--before=" + since + "T00:00:00", "HEAD"});
    if (!answer.ok()) return answer.failure();
    if (!answer->success())
        return input_failure(fmt::format("--since {}: {}", since, why_git_failed(answer)),
                             "call it in the repository of the folder, or name another folder");
    if (text::trim(answer->out).empty())
        return input_failure(fmt::format("--since {}: the repository has no commit before that day", since),
                             "name a later day, or a revision");
    return std::string(text::trim(answer->out));
}

Result<ExitCode> print_log(LogOptions options, const World& world) {
    std::error_code error;
    if (!fs::is_directory(options.folder, error))
        return input_failure(fmt::format("no such folder: {}", text::printable(options.folder)),
                             "name a folder of facts, such as matrix/facts");
    options.diff.now = options.folder;
    options.diff.before = options.since;
    if (!fs::is_directory(options.since, error)) {
        CM_TRY_ASSIGN(const auto revision, revision_of(options.since, world));
        // As git takes a path that begins where it is called.
        options.diff.before =
            fmt::format("{}:./{}", revision, fs::relative(options.folder, error).generic_string());
    }
    return print_diff(options.diff, world);
}

}  // namespace

Action add_facts_log(const Arguments& app) {
    auto options = std::make_shared<LogOptions>();
    app.add_option("FOLDER", options->folder, "Folder of facts").required();
    app.add_option("--since", options->since,
                   "What it was then: a revision of git, a day (its last commit before), or another folder")
        .type_name("REV|DATE|FOLDER")
        .required();
    options->diff.add(app);
    app.footer("Example: cudamatrix facts log my-facts --since 2026-07-01 --matrix matrix.yaml");
    return [options](const World& world) { return print_log(*options, world); };
}

}  // namespace cudamatrix
