#include <algorithm>

#include "base/text.hpp"
#include "commands/command_line.hpp"

namespace cudamatrix {
namespace {

// 'text' for a shell that ends a quoted text at the next quote.
std::string shell_quoted(std::string_view text) {
    return "'" + text::replace_all(text, "'", "'\\''") + "'";
}

std::string first_sentence(const std::string& help) {
    const auto end = help.find_first_of(".;:\n");
    return std::string(text::trim(help.substr(0, end)));
}

bool takes_value(const OptionLine& option) {
    return !option.positional && !option.value.empty() && !option.optional_value;
}

std::vector<std::string> names_of_commands(const CommandLine& command) {
    std::vector<std::string> names;
    for (const auto& one : command.subcommands)
        names.push_back(one.name);
    return names;
}

// What can stand where no option is typed: commands, and the values of closed lists.
std::vector<std::string> words_at(const CommandLine& whole, const CommandLine& command) {
    auto words = names_of_commands(command);
    for (const auto& option : command.options) {
        if (!option.positional) continue;
        const auto more = option.name == "COMMAND" ? names_of_commands(whole) : option.choices;
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

// Whether a path may stand there.
bool takes_files(const CommandLine& command) {
    return std::any_of(command.options.begin(), command.options.end(), [](const OptionLine& option) {
        return option.positional && option.choices.empty() && option.name != "COMMAND";
    });
}

std::vector<const CommandLine*> all_of(const CommandLine& command) {
    std::vector<const CommandLine*> all{&command};
    for (const auto& one : command.subcommands) {
        const auto more = all_of(one);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

std::vector<std::string> names_of(const OptionLine& option) {
    return option.short_name.empty() ? std::vector{option.name} : std::vector{option.name, option.short_name};
}

// The rows that bash and zsh share, both `case` statements: the way from one command to the next, the options
// whose values are words, and those with any value.
std::string steps(const CommandLine& whole) {
    std::string out;
    for (const auto* command : all_of(whole)) {
        for (const auto& one : command->subcommands)
            out += fmt::format("            {}) at={} ;;\n", shell_quoted(command->path + "/" + one.name),
                               shell_quoted(one.path));
    }
    return out;
}

std::string values(const CommandLine& whole) {
    std::string out;
    for (const auto* command : all_of(whole)) {
        for (const auto& option : command->options) {
            if (!takes_value(option)) continue;
            for (const auto& name : names_of(option)) {
                out +=
                    fmt::format("        {}) values={} ;;\n", shell_quoted(command->path + "/" + name),
                                option.choices.empty() ? "/" : shell_quoted(text::join(option.choices, " ")));
            }
        }
    }
    return out;
}

std::string options(const CommandLine& whole) {
    std::string out;
    for (const auto* command : all_of(whole)) {
        std::vector<std::string> names;
        for (const auto& option : command->options) {
            if (option.positional) continue;
            for (const auto& name : names_of(option))
                names.push_back(name);
        }
        out += fmt::format("        {}) options={} words={} files={} ;;\n", shell_quoted(command->path),
                           shell_quoted(text::join(names, " ")),
                           shell_quoted(text::join(words_at(whole, *command), " ")),
                           takes_files(*command) ? "yes" : "''");
    }
    return out;
}

constexpr std::string_view kBash =
    R"(# Completion of cudamatrix for bash. To use it: source <(cudamatrix completion bash)
_cudamatrix() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=cudamatrix values= options= words= files= i word
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case "$at/${COMP_WORDS[i]}" in
@STEPS@        esac
    done
    # readline makes --format=text three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case "$at/$before" in
@VALUES@    esac
    case $at in
@OPTIONS@    esac
    COMPREPLY=()
    if [[ $values == / ]]; then
        files=yes
    elif [[ -n $values ]]; then
        files=
        COMPREPLY=($(compgen -W "$values" -- "$current"))
    elif [[ $current == -* ]]; then
        files=
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    fi
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do
            COMPREPLY+=("$word")
        done < <(compgen -f -- "$current")
    fi
}
complete -F _cudamatrix cudamatrix
)";

constexpr std::string_view kZsh = R"(#compdef cudamatrix
# Completion of cudamatrix for zsh. To use it: cudamatrix completion zsh > "${fpath[1]}/_cudamatrix"
_cudamatrix() {
    local at=cudamatrix values options words_here files word before=${words[CURRENT-1]}
    for word in "${(@)words[2,CURRENT-1]}"; do
        case "$at/$word" in
@STEPS@        esac
    done
    if [[ ${words[CURRENT]} == --*=* ]]; then
        before=${words[CURRENT]%%=*}
        compset -P 1 '*='
    fi
    case "$at/$before" in
@VALUES@    esac
    case $at in
@OPTIONS@    esac
    if [[ $values == / ]]; then
        _files
    elif [[ -n $values ]]; then
        compadd -- ${=values}
    elif [[ $PREFIX == -* ]]; then
        compadd -- ${=options}
    else
        compadd -- ${=words_here}
        [[ -z $files ]] || _files
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _cudamatrix "$@"
else
    compdef _cudamatrix cudamatrix
fi
)";

constexpr std::string_view kFish =
    R"(# Completion of cudamatrix for fish. To use it: cudamatrix completion fish | source
function __cudamatrix_at
    set -l at cudamatrix
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
@STEPS@        end
    end
    test "$at" = "$argv"
end
complete -c cudamatrix -f
@OPTIONS@)";

std::string fish(const CommandLine& whole) {
    std::string way, rows;
    for (const auto* command : all_of(whole)) {
        for (const auto& one : command->subcommands)
            way += fmt::format("            case {}\n                set at {}\n",
                               shell_quoted(command->path + "/" + one.name), shell_quoted(one.path));
        const auto here =
            fmt::format("complete -c cudamatrix -n {}", shell_quoted("__cudamatrix_at " + command->path));
        for (const auto& one : command->subcommands)
            rows +=
                fmt::format("{} -a {} -d {}\n", here, one.name, shell_quoted(first_sentence(one.summary)));
        if (command->subcommands.empty()) {
            const auto words = words_at(whole, *command);
            if (!words.empty()) rows += fmt::format("{} -a {}\n", here, shell_quoted(text::join(words, " ")));
        }
        if (takes_files(*command)) rows += here + " -F\n";
        for (const auto& option : command->options) {
            if (option.positional) continue;
            rows += here;
            if (!option.short_name.empty()) rows += " -s " + option.short_name.substr(1);
            rows += " -l " + option.name.substr(2);
            if (takes_value(option))
                rows += option.choices.empty() ? " -r -F"
                                               : " -x -a " + shell_quoted(text::join(option.choices, " "));
            rows += " -d " + shell_quoted(first_sentence(option.help)) + "\n";
        }
    }
    return text::replace_all(text::replace_all(kFish, "@STEPS@", way), "@OPTIONS@", rows);
}

}  // namespace

std::string completion(const CommandLine& whole, std::string_view shell) {
    if (shell == "fish") return fish(whole);
    auto script = text::replace_all(shell == "zsh" ? kZsh : kBash, "@STEPS@", steps(whole));
    script = text::replace_all(script, "@VALUES@", values(whole));
    auto rows = options(whole);
    // `words` is zsh's own.
    if (shell == "zsh") rows = text::replace_all(rows, " words=", " words_here=");
    return text::replace_all(script, "@OPTIONS@", rows);
}

}  // namespace cudamatrix
