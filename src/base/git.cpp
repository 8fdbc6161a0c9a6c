#include "base/git.hpp"

#include <chrono>

#include "base/text.hpp"

namespace cudamatrix {

Git::Git(const std::filesystem::path& folder, const Environment& environment,
         const Cancellation* cancellation)
    : folder_(folder.empty() ? "." : folder.string()),
      environment_(environment),
      cancellation_(cancellation) {
    environment_["LC_ALL"] = "C";
}

// A monitor of the file system is a program that the repository names.
Result<Outcome> Git::ask(const std::vector<std::string>& question, std::uint64_t limit) const {
    Command command;
    command.argv = {"git",  "--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C",
                    folder_};
    command.argv.insert(command.argv.end(), question.begin(), question.end());
    command.environment = environment_;
    command.time_limit = std::chrono::seconds(60);
    command.output_limit = limit;
    command.stop_on_flood = true;
    return run(command, cancellation_);
}

std::string why_git_failed(const Result<Outcome>& answer) {
    if (!answer.ok()) return "git could not be asked";
    if (answer->how != Ended::exited) return "git: " + answer->describe();
    const auto lines = text::split(text::trim(answer->err), '\n');
    return "git: " + text::printable(text::trim(lines.front()));
}

}  // namespace cudamatrix
