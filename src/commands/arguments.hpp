// The command line of a command. CLI11 stands behind it and is compiled in one place: its headers would cost
// each file of this folder several seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cudamatrix {

/// An option or a flag that was added. A handle: copies are the same one.
class Argument {
  public:
    explicit Argument(CLI::Option* option) : option_(option) {}

    /// What stands for its value in the help: "DIR".
    Argument type_name(const std::string& name) const;
    Argument required() const;
    /// The help names the value that it has without being given.
    Argument show_default() const;
    /// One text holds several values.
    Argument delimiter(char between) const;
    /// Takes one value each time that it is given, not all that follow.
    Argument one_value_each() const;
    Argument one_of(const std::vector<std::string>& values) const;
    Argument between(std::uint64_t first, std::uint64_t last) const;
    /// `says` gives what is wrong with a value, or nothing.
    Argument check(const std::function<std::string(const std::string&)>& says) const;
    Argument excludes(const Argument& other) const;
    Argument needs(const Argument& other) const;

  private:
    CLI::Option* option_;
};

/// The options of a command or of one of its subcommands. A handle; where values go has to outlive the
/// parsing.
class Arguments {
  public:
    explicit Arguments(CLI::App& app) : app_(&app) {}

    /// `names`: "--jobs,-j", or "MATRIX" for one by its position.
    Argument add_option(const std::string& names, std::string& into, const std::string& help) const;
    Argument add_option(const std::string& names, std::vector<std::string>& into,
                        const std::string& help) const;
    Argument add_option(const std::string& names, unsigned& into, const std::string& help) const;
    Argument add_option(const std::string& names, std::uint64_t& into, const std::string& help) const;
    Argument add_flag(const std::string& names, bool& into, const std::string& help) const;
    /// "--update{all}": without a value it has the one in braces.
    Argument add_flag(const std::string& names, std::string& into, const std::string& help) const;

    [[nodiscard]] Arguments add_subcommand(const std::string& name, const std::string& summary) const;
    /// One of the subcommands has to be given.
    void require_subcommand() const;
    /// What the help ends with.
    void footer(const std::string& text) const;
    /// Was this subcommand given?
    [[nodiscard]] bool parsed() const;

  private:
    CLI::App* app_;
};

}  // namespace cudamatrix
