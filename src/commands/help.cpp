#include <algorithm>

#include "commands/command.hpp"
#include "commands/command_line.hpp"
#include "commands/common.hpp"

namespace cudamatrix {

Action add_help(const Arguments& app) {
    auto words = std::make_shared<std::vector<std::string>>();
    app.add_option("COMMAND", *words, "A command, and one of its own").type_name("COMMAND");
    return [app, words](const World& world) -> Result<ExitCode> {
        const auto whole = app.command_line();
        CM_TRY_ASSIGN(const auto* command, whole.find(*words));
        print(help_text(*command, help_columns(world.columns)));
        return ExitCode::success;
    };
}

}  // namespace cudamatrix
