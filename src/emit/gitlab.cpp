// Pipelines of GitLab: a parent that judges, and children with a job for each image and machine.
#include "base/text.hpp"
#include "emit/emitters.hpp"
#include "matrix/yaml_writer.hpp"

namespace cudamatrix::emit {
namespace {

// A job starts nothing of a pipeline's own defaults: it says itself how it gets the tool.
Json script_of(const Input& input, std::vector<std::string> lines) {
    Json script = Json::array();
    if (auto tool = tool_line(input); !tool.empty()) script.push_back(text::trim(tool));
    for (auto& line : lines)
        script.push_back(std::move(line));
    return script;
}

Json job_of(const Input& input, const Task& task) {
    const auto folder = results_folder(input, task);
    Json job{{"stage", "images"}, {"script", script_of(input, {run_line(input, task, folder)})}};
    if (!task.labels.empty()) job["tags"] = task.labels;
    job["timeout"] = "6h";
    job["artifacts"] = {{"when", "always"},
                        {"paths", Json::array({folder + "/report.json", folder + "/logs/"})},
                        {"reports", {{"junit", folder + "/report.xml"}}}};
    return job;
}

// Of one child among several the others have the rest of the plan.
std::string summary_line(const Input& input, bool is_alone) {
    const auto folder = results_folder(input);
    if (is_alone) return collect_line(input, folder, "markdown");
    return fmt::format("cudamatrix report {}/*/report.json --accept-static --format markdown --out summary",
                       folder);
}

Json child(const Input& input, const std::vector<Task>& tasks, bool is_alone) {
    Json document{{"stages", Json::array({"images", "summary"})}};
    for (const auto& task : tasks)
        append_member(document, task.name, job_of(input, task));
    // The files of all jobs of the stage before are there.
    append_member(document, "summary of results",
                  {{"stage", "summary"},
                   {"when", "always"},
                   {"script", script_of(input, {summary_line(input, is_alone)})},
                   {"artifacts", {{"when", "always"}, {"paths", Json::array({"summary/"})}}}});
    return document;
}

Json parent(const Input& input, std::size_t shards) {
    Json document{{"stages", Json::array({"check", "images"})}};
    document["check"] = {{"stage", "check"}, {"script", script_of(input, check_lines(input, "gitlab"))}};
    for (std::size_t number = 1; number <= shards; ++number) {
        document[fmt::format("images {}", number)] = {
            {"stage", "images"},
            {"trigger",
             {{"include", Json::array({Json{
                              {"local", fmt::format("{}/{}.yml", input.folder, file_stem(input, number))}}})},
              {"strategy", "depend"}}}};
    }
    return document;
}

std::vector<Artifact> pipelines(const Input& input, std::size_t most) {
    const auto shards = in_shards(input, tasks_of(input), most);
    const auto head = head_of(input, "gitlab");
    std::vector<Artifact> files;
    files.push_back({file_stem(input) + ".yml", yaml::document_text(head, parent(input, shards.size())), {}});
    for (std::size_t i = 0; i < shards.size(); ++i)
        files.push_back({file_stem(input, i + 1) + ".yml",
                         yaml::document_text(head, child(input, shards[i], shards.size() == 1)),
                         {}});
    return files;
}

}  // namespace

Result<std::vector<Artifact>> gitlab(const Input& input) {
    const auto bytes = bytes_of(input.facts, "gitlab");
    // One job of each child makes the summary. A child that is too large for a file becomes several.
    auto most = limit_of(input.facts, "gitlab", "jobs") - 1;
    auto files = pipelines(input, most);
    while (most > 1 && input.split == 0 && !check_size(files, bytes, "GitLab").ok())
        files = pipelines(input, most /= 2);
    CM_TRY(check_size(files, bytes, "GitLab"));
    return files;
}

}  // namespace cudamatrix::emit
