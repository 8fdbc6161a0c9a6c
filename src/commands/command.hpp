// What every command is made of: a row in the table, options in, a report out, an exit code.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "commands/arguments.hpp"

namespace cudamatrix {

/// What a command may know of the world; main fills it once.
struct World {
    Environment environment;
    std::string today;        ///< YYYY-MM-DD
    std::string run_id;       ///< unique name of this run
    bool colour_out = false;  ///< stdout is a terminal that wants colour
    bool colour_err = false;
    std::size_t columns = 80;          ///< width of the terminal
    std::string arch;                  ///< of this machine, as uname says it
    std::string glibc;                 ///< release of the C library; empty where it is another one
    std::filesystem::path root = "/";  ///< where `--host` looks for proc/ and etc/
    const Cancellation* cancellation = nullptr;
};

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
Action add_lint(const Arguments& app);
Action add_list(const Arguments& app);
Action add_lock(const Arguments& app);
Action add_render(const Arguments& app);
Action add_build(const Arguments& app);
Action add_test(const Arguments& app);
Action add_run(const Arguments& app);
Action add_facts(const Arguments& app);
Action add_rules(const Arguments& app);
Action add_templates(const Arguments& app);
Action add_scan(const Arguments& app);
Action add_schema(const Arguments& app);
Action add_explain(const Arguments& app);
Action add_suggest(const Arguments& app);

}  // namespace cudamatrix
