#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/command.hpp"
#include "commands/command_line.hpp"
#include "commands/common.hpp"
#include "knowledge/facts/facts.hpp"

namespace cudamatrix {
namespace {

Result<ExitCode> write_pages(const CommandLine& whole, const std::filesystem::path& folder) {
    CM_TRY(file::make_directories(folder));
    const auto date = Facts::embedded().date();
    CM_TRY(file::write(folder / (whole.name + ".1"), man_page(whole, whole, date)));
    for (const auto& one : whole.subcommands) {
        CM_TRY(
            file::write(folder / fmt::format("{}-{}.1", whole.name, one.name), man_page(whole, one, date)));
    }
    return ExitCode::success;
}

}  // namespace

Action add_help(const Arguments& app) {
    auto words = std::make_shared<std::vector<std::string>>();
    app.add_option("COMMAND", *words, "A command, and one of its own");
    return [app, words](const World& world) -> Result<ExitCode> {
        const auto whole = app.command_line();
        CM_TRY_ASSIGN(const auto* command, whole.find(*words));
        print(help_text(*command, help_columns(world.columns)));
        return ExitCode::success;
    };
}

Action add_man(const Arguments& app) {
    auto words = std::make_shared<std::vector<std::string>>();
    auto out = std::make_shared<std::string>();
    const auto asked =
        app.add_option("COMMAND", *words, "A command; without one the page of the whole program");
    app.add_option("--out", *out, "Write all pages into this folder instead")
        .type_name("DIR")
        .excludes(asked);
    return [app, words, out](const World&) -> Result<ExitCode> {
        const auto whole = app.command_line();
        if (!out->empty()) return write_pages(whole, *out);
        CM_TRY_ASSIGN(const auto* command, whole.find(*words));
        if (words->size() > 1)
            return input_failure(fmt::format("{} has no page of its own", command->path),
                                 fmt::format("cudamatrix man {} has it", words->front()));
        print(man_page(whole, *command, Facts::embedded().date()));
        return ExitCode::success;
    };
}

Action add_completion(const Arguments& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "The shell").required().one_of({"bash", "zsh", "fish"});
    return [app, shell](const World&) -> Result<ExitCode> {
        print(completion(app.command_line(), *shell));
        return ExitCode::success;
    };
}

}  // namespace cudamatrix
