// The command line as data, walked from what CLI11 was told: help, manual pages and completion are made of
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace cudamatrix {

struct OptionLine {
    std::string short_name;  ///< "-j", or nothing
    std::string name;        ///< "--jobs"; of one by its position "MATRIX"
    bool positional = false;
    bool required = false;
    bool repeated = false;
    bool optional_value = false;       ///< --look, or --look=deep
    std::string value;                 ///< what stands for its value: "DIR", "text|json"; of a flag nothing
    std::string range;                 ///< "1 to 64"
    std::string standard;              ///< what it has without being given
    std::vector<std::string> choices;  ///< the closed list of its values
    std::vector<std::string> excludes;
    std::vector<std::string> needs;
    std::string help;

    /// "-j, --jobs N", "--look[=VALUE]".
    [[nodiscard]] std::string usage() const;
    /// "default: 1; 1 to 64; not with --summary".
    [[nodiscard]] std::string conditions() const;
};

struct CommandLine {
    std::string path;  ///< "cudamatrix facts show"
    std::string name;
    std::string summary;
    std::string footer;  ///< details, then "Example: ..."
    std::vector<OptionLine> options;
    std::vector<CommandLine> subcommands;
    bool needs_subcommand = false;

    [[nodiscard]] std::string usage() const;  ///< "cudamatrix check [OPTIONS] MATRIX"
    [[nodiscard]] const CommandLine* subcommand(std::string_view name) const;
    /// The one that `words` lead to ("facts" "show"), or an input failure with "did you mean".
    [[nodiscard]] Result<const CommandLine*> find(const std::vector<std::string>& words) const;
};

/// The words of a command line with `--host a.json b.json` as `--host=a.json --host=b.json`: a flag takes no
/// word behind it, and a shell makes several of fleet/*.json.
[[nodiscard]] std::vector<std::string> each_host_alone(std::vector<std::string> words);

/// All of the program, whichever command `app` is.
[[nodiscard]] CommandLine command_line_of(const CLI::App& app);

/// What --help prints, in lines of at most `columns`.
[[nodiscard]] std::string help_text(const CommandLine& command, std::size_t columns);

/// Its page of the manual, mdoc(7): cudamatrix(1) or cudamatrix-COMMAND(1), of the state of `date`
/// (YYYY-MM-DD).
[[nodiscard]] std::string man_page(const CommandLine& whole, const CommandLine& command,
                                   std::string_view date);

/// The completion of all commands for "bash", "zsh" or "fish".
[[nodiscard]] std::string completion(const CommandLine& whole, std::string_view shell);

}  // namespace cudamatrix
