#include <algorithm>
#include <array>

#include "advise/sources/command_words.hpp"
#include "advise/sources/requirements.hpp"
#include "base/text.hpp"

namespace cudamatrix::sources {
namespace {

// Options that take a value, of pip and of uv pip.
constexpr std::array<std::string_view, 58> kWithValue{"-r",
                                                      "--requirement",
                                                      "--requirements",
                                                      "-c",
                                                      "--constraint",
                                                      "--constraints",
                                                      "-i",
                                                      "--index-url",
                                                      "--default-index",
                                                      "--index",
                                                      "--extra-index-url",
                                                      "-f",
                                                      "--find-links",
                                                      "-t",
                                                      "--target",
                                                      "--prefix",
                                                      "--root",
                                                      "--platform",
                                                      "--python-version",
                                                      "--implementation",
                                                      "--abi",
                                                      "--cache-dir",
                                                      "--timeout",
                                                      "--default-timeout",
                                                      "--retries",
                                                      "--trusted-host",
                                                      "--allow-insecure-host",
                                                      "--no-binary",
                                                      "--only-binary",
                                                      "--progress-bar",
                                                      "--src",
                                                      "-e",
                                                      "--editable",
                                                      "-C",
                                                      "--config-settings",
                                                      "--config-setting",
                                                      "--global-option",
                                                      "--build-option",
                                                      "--install-option",
                                                      "--proxy",
                                                      "--cert",
                                                      "--log",
                                                      "--root-user-action",
                                                      "--index-strategy",
                                                      "--python",
                                                      "-p",
                                                      "--torch-backend",
                                                      "--extra",
                                                      "--group",
                                                      "--prerelease",
                                                      "--resolution",
                                                      "--link-mode",
                                                      "--upgrade-strategy",
                                                      "--override",
                                                      "--exclude-newer",
                                                      "--python-platform",
                                                      "--no-build-isolation-package",
                                                      "--upgrade-package"};

// The redirects that were meant as a part of a requirement.
void add_redirected(const Command& command, std::size_t from, std::vector<Step>& steps) {
    for (std::size_t i = 0; i < command.redirects.size(); ++i) {
        const auto& redirect = command.redirects[i];
        const auto after = command.redirected_after[i];
        if (!redirect.attached || after <= from || after > command.words.size() || redirect.file.empty())
            continue;
        const auto& word = command.words[after - 1];
        const bool is_version = redirect.file[0] == '=' || text::is_digit(redirect.file[0]);
        if (is_version && requirement_from(word.text, word.where))
            steps.emplace_back(Redirected{word, (redirect.output ? ">" : "<") + redirect.file});
    }
}

}  // namespace

void read_pip(const Command& command, std::string_view tool, std::string python, std::size_t from,
              std::vector<Step>& steps, std::vector<Skipped>& skipped) {
    const auto& words = command.words;
    const auto arguments = arguments_of(words, from, kWithValue);
    const auto action =
        std::ranges::find_if(arguments, [](const auto& argument) { return argument.name.empty(); });
    if (action == arguments.end()) return;
    const auto& verb = action->value.text;
    if (verb == "uninstall") {
        PipUninstall out;
        for (auto it = action + 1; it != arguments.end(); ++it) {
            if (it->name.empty()) out.names.push_back(text::normalised_project(it->value.text));
        }
        steps.emplace_back(std::move(out));
        return;
    }
    if (verb == "config") {  // pip config set global.index-url URL
        std::vector<Word> plain;
        for (auto it = action + 1; it != arguments.end(); ++it) {
            if (it->name.empty()) plain.push_back(it->value);
        }
        if (plain.size() == 3 && plain[0].text == "set") {
            const auto key = plain[1].text.substr(plain[1].text.find('.') + 1);
            if (key == "index-url") steps.emplace_back(Variable{"PIP_INDEX_URL", plain[2]});
            if (key == "extra-index-url") steps.emplace_back(Variable{"PIP_EXTRA_INDEX_URL", plain[2]});
        }
        return;
    }
    if (verb != "install" && verb != "add" && verb != "sync") return;
    PipInstall out;
    out.tool = std::string(tool);
    out.python = std::move(python);
    out.where = whole(words);
    for (auto it = arguments.begin(); it != arguments.end(); ++it) {
        if (it == action) continue;
        const auto& [name, value] = *it;
        if (name == "-i" || name == "--index-url" || name == "--default-index") {
            out.indexes.push_back({IndexKind::index, value.text, value.where});
        } else if (name == "--extra-index-url" || name == "--index") {
            const auto named = name == "--index" ? value.text.find('=') : std::string::npos;  // NAME=URL
            const bool has_name = named != std::string::npos && named < value.text.find(':');
            out.indexes.push_back(
                {IndexKind::extra, has_name ? value.text.substr(named + 1) : value.text, value.where});
        } else if (name == "--torch-backend") {
            out.indexes.push_back({IndexKind::index, "torch-backend:" + value.text, value.where});
        } else if (name == "-f" || name == "--find-links") {
            out.indexes.push_back({IndexKind::find_links, value.text, value.where});
        } else if (name == "-r" || name == "--requirement" || name == "--requirements") {
            out.files.push_back(value);
        } else if (name == "--python" || name == "-p" || name == "--python-version") {
            const auto named = python_of(value.text);
            out.python = !named.empty() ? named : text::only(value.text, ".") ? value.text : out.python;
        } else if (name == "--index-strategy") {
            out.index_strategy = value.text;
        } else if (name == "-U" || name == "--upgrade") {
            out.upgrades = true;
        } else if (name == "--break-system-packages" || name == "--user" || name == "-t" ||
                   name == "--target" || name == "--prefix") {
            out.breaks_system = true;
        } else if (name.empty() && verb == "sync") {
            out.files.push_back(value);
        } else if (name.empty()) {
            if (auto requirement = requirement_from(value.text, value.where)) {
                out.requirements.push_back(*std::move(requirement));
            } else if (value.is_open()) {
                skipped.push_back({value.where, "an argument of " + std::string(tool),
                                   "its text is known in the build only"});
            }
        }
    }
    add_redirected(command, from, steps);
    steps.emplace_back(std::move(out));
}

void read_lock(const Words& words, std::string_view tool, std::string_view file, std::vector<Step>& steps) {
    PipInstall out;
    out.tool = std::string(tool);
    out.where = whole(words);
    out.files.push_back({std::string(file), out.where, false});
    steps.emplace_back(std::move(out));
}

void read_uv(const Command& command, std::size_t from, std::vector<Step>& steps,
             std::vector<Skipped>& skipped) {
    const auto& words = command.words;
    if (from >= words.size()) return;
    const auto& verb = words[from].text;
    if (verb == "pip" || verb == "add")
        return read_pip(command, "uv", {}, verb == "pip" ? from + 1 : from, steps, skipped);
    if (verb == "sync") return read_lock(words, "uv", "uv.lock", steps);
    const bool installs = verb == "python" && from + 1 < words.size() && words[from + 1].text == "install";
    if (verb != "venv" && !installs) return;
    std::string version = "same";
    for (const auto& [name, value] : arguments_of(words, from + 1, kWithValue)) {
        const bool named = name == "--python" || name == "-p" || (installs && name.empty());
        const auto of_program = python_of(value.text);
        const auto& number = of_program.empty() ? value.text : of_program;
        if (named && !number.empty() && text::is_digit(number[0]) && text::only(number, "."))
            version = number;
    }
    if (verb == "venv" || version != "same")
        steps.emplace_back(PythonChoice{"venv", version, words[from].where});
}

}  // namespace cudamatrix::sources
