#include "commands/command_line.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

std::string name_of(const CLI::Option& option) {
    if (option.get_positional() && option.get_lnames().empty()) return option.get_name(true, false);
    return option.get_lnames().empty() ? "-" + option.get_snames().front()
                                       : "--" + option.get_lnames().front();
}

// In the order in which they were added: CLI11 keeps them by address.
std::vector<std::string> names_of(const std::set<CLI::Option*>& some, const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        if (std::any_of(some.begin(), some.end(), [&](const CLI::Option* one) { return one == option; }))
            names.push_back(name_of(*option));
    }
    return names;
}

// CLI11 says the type and what `one_of` and `between` wrote as one text: "TEXT:{a|b}", "UINT:1 to 64".
void read_value(const CLI::Option& option, OptionLine& line) {
    const auto type = option.get_type_name();
    const auto colon = type.find(':');
    line.value = type.substr(0, colon);
    if (line.value == "TEXT") line.value = "VALUE";
    if (line.value == "UINT") line.value = "N";
    const auto limits = colon == std::string::npos ? std::string() : type.substr(colon + 1);
    if (limits.starts_with('{') && limits.ends_with('}')) {
        line.value = limits.substr(1, limits.size() - 2);
        line.choices = text::split(line.value, '|');
    } else {
        line.range = limits;
    }
    line.standard = option.get_default_str();
}

OptionLine read_option(const CLI::Option& option, const CLI::App& app) {
    OptionLine line;
    line.name = name_of(option);
    line.positional = option.get_positional() && option.get_lnames().empty();
    if (!option.get_snames().empty() && !option.get_lnames().empty())
        line.short_name = "-" + option.get_snames().front();
    line.required = option.get_required();
    line.help = option.get_description();
    // Of a flag CLI11 tells what it stands for, "--look{declared}", by its name alone.
    line.optional_value = option.get_name(false, true).find('{') != std::string::npos;
    if (line.optional_value) {
        const auto type = option.get_type_name();
        line.value = type.empty() ? "VALUE" : type;
    }
    if (option.get_type_size() != 0 && !line.optional_value) {
        read_value(option, line);
        line.repeated = option.get_items_expected_max() > 1;
    }
    line.excludes = names_of(option.get_excludes(), app);
    line.needs = names_of(option.get_needs(), app);
    return line;
}

CommandLine read_command(const CLI::App& app, const std::string& before) {
    CommandLine command;
    command.name = app.get_name();
    command.path = before.empty() ? command.name : before + " " + command.name;
    command.summary = app.get_description();
    command.footer = app.get_footer();
    command.needs_subcommand = app.get_require_subcommand_min() > 0;
    for (const CLI::Option* option : app.get_options())
        command.options.push_back(read_option(*option, app));
    for (const CLI::App* one : app.get_subcommands(nullptr))
        command.subcommands.push_back(read_command(*one, command.path));
    return command;
}

}  // namespace

std::vector<std::string> each_host_alone(std::vector<std::string> words) {
    std::vector<std::string> out;
    bool behind_host = false;
    for (auto& word : words) {
        if (behind_host && word.ends_with(".json") && !word.starts_with("-")) {
            if (out.back() == "--host") out.pop_back();
            out.push_back("--host=" + word);
            continue;
        }
        behind_host = word == "--host";
        out.push_back(std::move(word));
    }
    return out;
}

std::string OptionLine::usage() const {
    if (positional) return name;
    auto names = short_name.empty() ? name : short_name + ", " + name;
    if (optional_value) return names + "[=" + value + "]";
    if (value.empty()) return names;
    return names + " " + value + (repeated ? " ..." : "");
}

std::string OptionLine::conditions() const {
    std::vector<std::string> parts;
    if (positional && !choices.empty()) parts.push_back(value);
    if (!standard.empty()) parts.push_back("default: " + standard);
    if (!range.empty()) parts.push_back(range);
    if (required && !positional) parts.emplace_back("required");
    if (!needs.empty()) parts.push_back("only with " + text::join(needs, ", "));
    if (!excludes.empty()) parts.push_back("not with " + text::join(excludes, ", "));
    return text::join(parts, "; ");
}

std::string CommandLine::usage() const {
    std::string line = path + " [OPTIONS]";
    for (const auto& option : options) {
        if (!option.positional) continue;
        const auto shown = option.name + (option.repeated ? "..." : "");
        line += option.required ? " " + shown : " [" + shown + "]";
    }
    if (!subcommands.empty()) line += needs_subcommand ? " COMMAND" : " [COMMAND]";
    return line;
}

const CommandLine* CommandLine::subcommand(std::string_view wanted) const {
    const auto found = std::find_if(subcommands.begin(), subcommands.end(),
                                    [&](const CommandLine& one) { return one.name == wanted; });
    return found == subcommands.end() ? nullptr : &*found;
}

Result<const CommandLine*> CommandLine::find(const std::vector<std::string>& words) const {
    const CommandLine* at = this;
    for (const auto& word : words) {
        const auto* next = at->subcommand(word);
        if (next == nullptr) {
            std::vector<std::string> names;
            for (const auto& one : at->subcommands)
                names.push_back(one.name);
            return input_failure(
                fmt::format("unknown command \"{}\"", text::printable(word)),
                text::did_you_mean_or(word, names, fmt::format("`{} --help` lists the commands", at->path)));
        }
        at = next;
    }
    return at;
}

CommandLine command_line_of(const CLI::App& app) {
    const CLI::App* root = &app;
    while (root->get_parent() != nullptr)
        root = root->get_parent();
    return read_command(*root, "");
}

}  // namespace cudamatrix
