// Pipelines of Buildkite: the first uploads the others, each as large as one upload may be.
#include "base/text.hpp"
#include "emit/emitters.hpp"
#include "matrix/yaml_writer.hpp"
#include "render/files/image_folder.hpp"

namespace cudamatrix::emit {
namespace {

// An upload replaces $NAME by what its own environment has; $$ is a dollar.
std::string kept(std::string_view script) {
    return text::replace_all(script, "$", "$$");
}

Json agents(const Task& task) {
    Json json = Json::object();
    for (const auto& label : task.labels) {
        const auto equals = label.find('=');
        if (equals == std::string::npos)
            json["queue"] = label;
        else
            json[label.substr(0, equals)] = label.substr(equals + 1);
    }
    return json;
}

Json step_of(const Input& input, const Task& task) {
    const auto folder = results_folder(input, task);
    Json step{{"label", task.name},
              {"command", kept(tool_line(input) + run_line(input, task, folder) + "\n")},
              {"artifact_paths",
               Json::array({folder + "/report.json", folder + "/report.xml", folder + "/logs/*.log"})},
              {"timeout_in_minutes", 360}};
    if (auto tags = agents(task); !tags.empty()) step["agents"] = std::move(tags);
    return step;
}

Json first_pipeline(const Input& input, std::size_t shards) {
    Json steps = Json::array();
    const auto tool = tool_line(input);
    steps.push_back({{"label", "check"},
                     {"command", kept(tool + text::join(check_lines(input, "buildkite"), "\n") + "\n")}});
    steps.push_back({{"wait", nullptr}});
    for (std::size_t number = 1; number <= shards; ++number) {
        steps.push_back(
            {{"label", fmt::format("images {}", number)},
             {"command", "buildkite-agent pipeline upload " +
                             pasted(fmt::format("{}/{}.yml", input.folder, file_stem(input, number)))}});
    }
    steps.push_back({{"wait", nullptr}, {"continue_on_failure", true}});
    steps.push_back({{"label", "summary"},
                     {"command", kept(fmt::format("{}buildkite-agent artifact download \"{}/*\" .\n"
                                                  "{} > /dev/null || true\n"
                                                  "code=0\n"
                                                  "{} > /dev/null || code=$?\n"
                                                  "buildkite-agent annotate --context cudamatrix < "
                                                  "summary/collected.md\n"
                                                  "exit $code\n",
                                                  tool, results_folder(input),
                                                  collect_line(input, results_folder(input), "junit"),
                                                  collect_line(input, results_folder(input), "markdown")))},
                     {"artifact_paths", "summary/*"}});
    return {{"steps", std::move(steps)}};
}

}  // namespace

Result<std::vector<Artifact>> buildkite(const Input& input) {
    const auto shards = in_shards(input, tasks_of(input), limit_of(input.facts, "buildkite", "jobs"));
    const auto head = head_of(input, "buildkite");
    std::vector<Artifact> files;
    files.push_back(
        {file_stem(input) + ".yml", yaml::document_text(head, first_pipeline(input, shards.size())), {}});
    for (std::size_t i = 0; i < shards.size(); ++i) {
        Json steps = Json::array();
        for (const auto& task : shards[i])
            steps.push_back(step_of(input, task));
        files.push_back(
            {file_stem(input, i + 1) + ".yml", yaml::document_text(head, {{"steps", std::move(steps)}}), {}});
    }
    return files;
}

}  // namespace cudamatrix::emit
