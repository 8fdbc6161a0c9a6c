#include "commands/github_files.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/streams.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::string_view kLeftOut = "\nThe rest is left out: GitHub shows 1 MiB of a step.\n";

Result<std::string> file_of_step(const World& world, const char* variable, std::string_view option,
                                 std::string_view instead) {
    auto file = value_of(world.environment, {variable});
    if (!file.empty()) return file;
    return input_failure(fmt::format("{}: {} names no file", option, variable),
                         fmt::format("run it in a step of GitHub Actions, or leave it out: {}", instead));
}

// The summary that fits into `room` bytes, with whole lines; empty: not one of them.
std::string fitting(std::string_view markdown, std::size_t room) {
    if (markdown.size() <= room) return std::string(markdown);
    if (room < kLeftOut.size()) return {};
    const auto end = markdown.substr(0, room - kLeftOut.size()).rfind('\n');
    if (end == std::string_view::npos) return {};
    return std::string(markdown.substr(0, end + 1)).append(kLeftOut);
}

}  // namespace

void GithubOutput::add(const Arguments& app) {
    app.add_option(
           "--github-output", name,
           "With --format github-matrix: also write the line to the file that GITHUB_OUTPUT names, as the "
           "output NAME of the step")
        .type_name("NAME")
        .check([](const std::string& word) {
            const bool fits = !word.empty() && word.size() <= kLongestName && text::only(word, "-_") &&
                              (word[0] == '_' || (text::is_word(word[0]) && !text::is_digit(word[0])));
            return fits ? "" : "a name has letters, digits, '-' and '_', and begins with a letter or '_'";
        });
}

Status GithubOutput::ready(const World& world) const {
    if (name.empty()) return Done{};
    CM_TRY(file_of_step(world, "GITHUB_OUTPUT", "--github-output", "stdout has the line"));
    return Done{};
}

Status GithubOutput::append(const World& world, std::string_view value) const {
    if (name.empty()) return Done{};
    CM_TRY_ASSIGN(const auto file,
                  file_of_step(world, "GITHUB_OUTPUT", "--github-output", "stdout has the line"));
    return file::append(file, fmt::format("{}={}", name, value));
}

Argument StepSummary::add(const Arguments& app) {
    return app.add_flag(
        "--step-summary", wanted,
        "Also append the report in Markdown to the file that GITHUB_STEP_SUMMARY names: the page "
        "of the job shows it");
}

Status StepSummary::ready(const World& world) const {
    if (!wanted) return Done{};
    CM_TRY(file_of_step(world, "GITHUB_STEP_SUMMARY", "--step-summary", "--format markdown prints it"));
    return Done{};
}

Status StepSummary::append(const World& world, const std::function<std::string()>& markdown) const {
    if (!wanted) return Done{};
    CM_TRY_ASSIGN(const auto file, file_of_step(world, "GITHUB_STEP_SUMMARY", "--step-summary",
                                                "--format markdown prints it"));
    std::error_code error;
    const auto size =
        std::filesystem::is_regular_file(file, error) ? std::filesystem::file_size(file, error) : 0;
    const auto used = error ? 0 : static_cast<std::size_t>(size);
    // Blank lines end what stands before, which may lack its last newline, and the report.
    const auto text = "\n\n" + markdown() + "\n";
    const auto fits = fitting(text, kLimit - std::min(used, kLimit));
    if (fits.empty()) {
        const auto note = Diagnostic::warning("the summary of this step is full: the report is not in it")
                              .with_fix("give the command a step of its own");
        tell(note, world);
        return Done{};
    }
    return file::append(file, fits);
}

}  // namespace cudamatrix
