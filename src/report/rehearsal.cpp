#include "report/rehearsal.hpp"

#include "base/text.hpp"
#include "render/files/image_folder.hpp"

namespace cudamatrix::report {

std::string rehearsal_text(const Rehearsal& rehearsal) {
    auto out =
        fmt::format("# {} of {} by {}: {}\n", rehearsal.command, rehearsal.matrix, rehearsal.engine,
                    rehearsal.steps.empty() ? "nothing to do" : text::count(rehearsal.steps.size(), "step"));
    for (const auto& step : rehearsal.steps) {
        out += fmt::format("# {} {}{}{}\n", step.kind, step.of, step.after.empty() ? "" : ", after ",
                           text::join(step.after, ", "));
        for (const auto& [name, value] : step.environment)
            out += fmt::format("{}={} ", name, pasted(value));
        std::vector<std::string> words;
        for (const auto& word : step.argv)
            words.push_back(pasted(word));
        out += text::join(words, " ") + "\n";
    }
    return out;
}

std::string rehearsal_json(const Rehearsal& rehearsal) {
    JsonDocument document(rehearsal.tool);
    document.member("matrix", rehearsal.matrix);
    document.member("command", rehearsal.command);
    document.member("engine", rehearsal.engine);
    document.array("steps", rehearsal.steps, [](const Rehearsed& step) {
        auto environment = Json::object();
        for (const auto& [name, value] : step.environment)
            environment[name] = value;
        return Json{{"kind", step.kind},
                    {"of", step.of},
                    {"after", step.after},
                    {"argv", step.argv},
                    {"environment", std::move(environment)}};
    });
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
