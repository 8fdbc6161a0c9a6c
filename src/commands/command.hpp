// What every command is made of: a row in the table, options in, a report out, an exit code.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_code.hpp"
#include "base/process.hpp"
#include "base/result.hpp"

namespace CLI {
class App;
}

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
using Action = std::function<ExitCode(const World&)>;

struct CommandRow {
    std::string_view name;
    std::string_view summary;
    std::string_view details;      ///< what it reads, prints and ends with
    std::string_view example;      ///< a line that can be typed
    Action (*add)(CLI::App& app);  ///< adds the options; they live as long as the action
};

/// THE list of commands, in the order of the help.
[[nodiscard]] std::span<const CommandRow> all_commands();

Action add_check(CLI::App& app);
Action add_lint(CLI::App& app);
Action add_list(CLI::App& app);
Action add_lock(CLI::App& app);
Action add_render(CLI::App& app);
Action add_build(CLI::App& app);
Action add_test(CLI::App& app);
Action add_run(CLI::App& app);
Action add_facts(CLI::App& app);
Action add_rules(CLI::App& app);
Action add_scan(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_suggest(CLI::App& app);

}  // namespace cudamatrix
