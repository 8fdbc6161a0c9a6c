// templates: what images are rendered from, and whether a folder of one's own fits.
#include "base/text.hpp"
#include "commands/common.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

struct TemplatesOptions {
    std::string name;
    std::string folder;
    std::string format;
};

const report::TemplatesFormat& format_of(const TemplatesOptions& options) {
    return *report::format_named(report::templates_formats(), options.format);
}

Result<ExitCode> list(const TemplatesOptions& options, const World& world) {
    CM_TRY_ASSIGN(auto listed, list_templates(options.folder));
    print(format_of(options).write({std::move(listed), tool_info(Facts::embedded(), world.today)}));
    return ExitCode::success;
}

Result<ExitCode> show(const TemplatesOptions& options) {
    CM_TRY_ASSIGN(const auto listed, list_templates(options.folder));
    std::vector<std::string> names;
    for (const auto& one : listed) {
        names.push_back(one.name);
        if (one.name != options.name) continue;
        print(format_of(options).write_one(one));
        return ExitCode::success;
    }
    const auto near = text::did_you_mean(options.name, names);
    return input_failure(fmt::format("there is no template {}", text::printable(options.name)),
                         near ? fmt::format("did you mean {}?", *near) : "cudamatrix templates list");
}

Result<ExitCode> check(const TemplatesOptions& options) {
    auto checked = check_templates(options.folder, Facts::embedded());
    if (!checked.mistakes.empty()) return Failure{ExitCode::bad_input, std::move(checked.mistakes)};
    print(format_of(options).write_check(checked));
    return ExitCode::success;
}

}  // namespace

Action add_templates(const Arguments& app) {
    auto options = std::make_shared<TemplatesOptions>();
    app.require_subcommand();
    const auto lists = app.add_subcommand(
        "list",
        "List the templates: ours, those that replace them, and your own partials with who includes them");
    lists.footer("Example: cudamatrix templates list --templates my-templates");
    const auto shows = app.add_subcommand("show", "Show the text of one template");
    shows.add_option("NAME", options->name, "Its name, as `templates list` prints it").required();
    shows.footer(
        "Example: cudamatrix templates show debian/Dockerfile.mustache > "
        "my-templates/debian/Dockerfile.mustache");
    const auto checks = app.add_subcommand("check", "Parse all templates and fill them from a sample matrix");
    checks.footer("Example: cudamatrix templates check --templates my-templates");
    for (const auto& command : {lists, shows, checks}) {
        command
            .add_option("--templates", options->folder,
                        "Folder of templates and partials that replace ours by name, and of partials that "
                        "they include")
            .type_name("DIR");
        add_format(command, options->format, report::names_of(report::templates_formats()));
    }
    return [options, lists, shows](const World& world) {
        if (lists.parsed()) return list(*options, world);
        return shows.parsed() ? show(*options) : check(*options);
    };
}

}  // namespace cudamatrix
