// What every command is made of: a row in the table, options in, a report out, an exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "commands/command_line.hpp"

// CLI11 is compiled in arguments.cpp: its headers would cost each file of this folder several seconds.
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
    /// The same, and may be given several times.
    Argument add_flag(const std::string& names, std::vector<std::string>& into,
                      const std::string& help) const;

    [[nodiscard]] Arguments add_subcommand(const std::string& name, const std::string& summary) const;
    /// One of the subcommands has to be given.
    void require_subcommand() const;
    /// What the help ends with.
    void footer(const std::string& text) const;
    /// Was this subcommand given?
    [[nodiscard]] bool parsed() const;
    /// That of the whole program.
    [[nodiscard]] CommandLine command_line() const;

  private:
    CLI::App* app_;
};

/// What a command may know of the world; main fills it once.
struct World {
    Environment environment;
    std::string today;        ///< YYYY-MM-DD
    std::string run_id;       ///< unique name of this run
    bool colour_out = false;  ///< stdout is a terminal that wants colour
    bool colour_err = false;
    std::size_t columns = 80;          ///< width of the terminal, or what COLUMNS says
    bool live_err = false;             ///< stderr is a terminal on which lines can be drawn anew
    std::size_t columns_err = 80;      ///< its width
    bool has_columns = false;          ///< whether somebody said so; in a pipe nothing is cut
    std::string arch;                  ///< of this machine, as uname says it
    std::string glibc;                 ///< release of the C library; empty where it is another one
    std::filesystem::path root = "/";  ///< where `--host` looks for proc/ and etc/
    const Cancellation* cancellation = nullptr;
};

/// The width of help on a terminal of `columns`: lines that are longer than a hand are hard to read.
[[nodiscard]] constexpr std::size_t help_columns(std::size_t columns) {
    return columns < 40 ? 40 : columns > 100 ? 100 : columns;
}

/// Runs after parsing.
using Action = std::function<Result<ExitCode>(const World&)>;

struct CommandRow {
    std::string_view name;
    std::string_view summary;
    std::string_view details;             ///< what it reads, prints and ends with
    std::string_view example;             ///< a line that can be typed
    Action (*add)(const Arguments& app);  ///< adds the options; they live as long as the action
};

/// THE list of commands, in the order of the help.
[[nodiscard]] std::span<const CommandRow> all_commands();

Action add_check(const Arguments& app);
Action add_diff(const Arguments& app);
Action add_upgrade(const Arguments& app);
Action add_review(const Arguments& app);
Action add_audit(const Arguments& app);
Action add_init(const Arguments& app);
Action add_lint(const Arguments& app);
Action add_list(const Arguments& app);
Action add_lock(const Arguments& app);
Action add_render(const Arguments& app);
Action add_build(const Arguments& app);
Action add_test(const Arguments& app);
Action add_run(const Arguments& app);
Action add_sbom(const Arguments& app);
Action add_report(const Arguments& app);
Action add_emit(const Arguments& app);
Action add_collect(const Arguments& app);
Action add_clean(const Arguments& app);
Action add_doctor(const Arguments& app);
Action add_facts(const Arguments& app);
Action add_rules(const Arguments& app);
Action add_kernels(const Arguments& app);
Action add_templates(const Arguments& app);
Action add_scan(const Arguments& app);
Action add_schema(const Arguments& app);
Action add_explain(const Arguments& app);
Action add_suggest(const Arguments& app);
Action add_help(const Arguments& app);
Action add_completion(const Arguments& app);
Action add_man(const Arguments& app);

}  // namespace cudamatrix
