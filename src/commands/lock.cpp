#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/json.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"

namespace cudamatrix {
namespace {

struct LockOptions {
    ImageOptions image;
    bool update = false;
};

ExitCode lock(const LockOptions& options, const World& world) {
    const auto loaded = load_for_images(options.image, world);
    if (!loaded.ok()) return report_failure(loaded.failure(), world);
    const auto settings = run_settings(options.image, *loaded.value(), world);
    const auto& [matrix, facts, judgement, today, host] = *loaded.value();
    const auto lines = make_lock({matrix, facts, judgement}, settings, options.update);
    if (!lines.ok()) return report_failure(lines.failure(), world);
    if (options.image.format == "json") {
        print(to_text(Json{{"schema_version", 1}, {"changes", lines.value()}}) + "\n");
    } else {
        for (const auto& line : lines.value())
            print(text::printable(line) + "\n");
    }
    return ExitCode::success;
}

}  // namespace

Action add_lock(CLI::App& app) {
    auto options = std::make_shared<LockOptions>();
    options->image.add_output(app);
    add_format(app, options->image.format, {"text", "json"});
    options->image.add_engine(app);
    app.add_flag("--update", options->update, "Resolve the pins that exist anew, and say what moved");
    return [options](const World& world) { return lock(*options, world); };
}

}  // namespace cudamatrix
