#include "commands/command.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "base/text.hpp"

namespace cudamatrix {

Argument Argument::type_name(const std::string& name) const {
    option_->type_name(name);
    return *this;
}

Argument Argument::required() const {
    option_->required();
    return *this;
}

Argument Argument::show_default() const {
    option_->capture_default_str();
    return *this;
}

Argument Argument::delimiter(char between) const {
    option_->delimiter(between);
    return *this;
}

Argument Argument::one_value_each() const {
    option_->allow_extra_args(false);
    return *this;
}

Argument Argument::one_of(const std::vector<std::string>& values) const {
    // What command_line.cpp reads back.
    option_->check(CLI::IsMember(values).description("{" + text::join(values, "|") + "}"));
    return *this;
}

Argument Argument::between(std::uint64_t first, std::uint64_t last) const {
    option_->check(CLI::Range(first, last).description(fmt::format("{} to {}", first, last)));
    return *this;
}

Argument Argument::check(const std::function<std::string(const std::string&)>& says) const {
    option_->check(says);
    return *this;
}

Argument Argument::excludes(const Argument& other) const {
    option_->excludes(other.option_);
    return *this;
}

Argument Argument::needs(const Argument& other) const {
    option_->needs(other.option_);
    return *this;
}

Argument Arguments::add_option(const std::string& names, std::string& into, const std::string& help) const {
    return Argument(app_->add_option(names, into, help));
}

Argument Arguments::add_option(const std::string& names, std::vector<std::string>& into,
                               const std::string& help) const {
    return Argument(app_->add_option(names, into, help));
}

Argument Arguments::add_option(const std::string& names, unsigned& into, const std::string& help) const {
    return Argument(app_->add_option(names, into, help));
}

Argument Arguments::add_option(const std::string& names, std::uint64_t& into, const std::string& help) const {
    return Argument(app_->add_option(names, into, help));
}

Argument Arguments::add_flag(const std::string& names, bool& into, const std::string& help) const {
    return Argument(app_->add_flag(names, into, help));
}

Argument Arguments::add_flag(const std::string& names, std::string& into, const std::string& help) const {
    return Argument(app_->add_flag(names, into, help));
}

Argument Arguments::add_flag(const std::string& names, std::vector<std::string>& into,
                             const std::string& help) const {
    return Argument(app_->add_flag(names, into, help));
}

Arguments Arguments::add_subcommand(const std::string& name, const std::string& summary) const {
    return Arguments(*app_->add_subcommand(name, summary));
}

void Arguments::require_subcommand() const {
    app_->require_subcommand(1);
}

void Arguments::footer(const std::string& text) const {
    app_->footer(text);
}

bool Arguments::parsed() const {
    return app_->parsed();
}

CommandLine Arguments::command_line() const {
    return command_line_of(*app_);
}

}  // namespace cudamatrix
