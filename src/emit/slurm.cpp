// Job arrays of Slurm: a batch script for each kind of machine, a task of the array for each image on it.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "emit/emitters.hpp"

namespace cudamatrix::emit {
namespace {

// The words that start the suite in an image, each system in the way of its own; hardened as far as it goes.
std::vector<std::string> starter(const Input& input, const std::string& reference, const ClusterTest& test) {
    const auto& start = input.matrix.emit.start;
    if (start == "pyxis") {
        return {"srun",
                "--container-image=docker://" + reference,
                "--no-container-mount-home",
                "--no-container-remap-root",
                "--container-workdir=/tmp",
                std::string(kSuiteProgram)};
    }
    if (start == "apptainer") {
        std::vector<std::string> words{"apptainer", "exec", "--containall", "--no-home", "--no-privs"};
        if (test.gpu) words.emplace_back("--nv");
        words.insert(words.end(), {"docker://" + reference, std::string(kSuiteProgram)});
        return words;
    }
    std::vector<std::string> words{"podman",         "run",
                                   "--rm",           "--network",
                                   "none",           "--read-only",
                                   "--tmpfs",        "/tmp:rw,noexec,nosuid,nodev",
                                   "--cap-drop",     "ALL",
                                   "--security-opt", "no-new-privileges",
                                   "--pids-limit",   "512",
                                   "--memory",       fmt::format("{}m", test.memory_mib),
                                   "--shm-size",     fmt::format("{}m", test.shm_mib),
                                   "--user",         "65532:65532",
                                   "--env",          "HOME=/tmp"};
    if (test.gpu) words.insert(words.end(), {"--device", "nvidia.com/gpu=all"});
    words.insert(words.end(), {"--entrypoint", std::string(kSuiteProgram), reference});
    return words;
}

// The lines of one task; all of its cells are tried, and its worst exit code is the task's.
std::vector<std::string> lines_of(const Input& input, const Task& task) {
    if (input.matrix.emit.start == "run") return {run_line(input, task, results_folder(input, task))};
    const auto reference = cluster_reference(input, task.image, true);
    std::vector<std::string> lines;
    for (const auto& wanted : input.cells) {
        const bool is_of_task =
            wanted.image == task.image &&
            (task.cells.empty() || std::ranges::find(task.cells, wanted.id) != task.cells.end());
        if (!is_of_task) continue;
        auto words = starter(input, reference, wanted.test);
        words.insert(words.end(), wanted.test.arguments.begin(), wanted.test.arguments.end());
        lines.push_back(command_line(words) + " || code=$?");
    }
    return lines;
}

std::string script_of(const Input& input, const std::vector<Task>& tasks) {
    const auto& emit = input.matrix.emit;
    std::string out = "#!/bin/bash\n";
    for (const auto& line : head_of(input, "slurm"))
        out += fmt::format("# {}\n", line);
    const auto option = [&](std::string_view text) { out += fmt::format("#SBATCH {}\n", text); };
    option("--job-name=" + file_stem(input));
    option(fmt::format("--array=0-{}", tasks.size() - 1));
    if (!emit.partition.empty()) option("--partition=" + emit.partition);
    // The labels of a machine are features of its nodes.
    if (!tasks.front().labels.empty()) option("--constraint=" + text::join(tasks.front().labels, "&"));
    if (tasks.front().gpu) option("--gres=gpu:1");
    option("--ntasks=1");
    option("--time=06:00:00");
    // A task that lost its node is started anew, in the same file.
    option("--requeue");
    option("--open-mode=append");
    // Slurm makes no folder for its output.
    option("--output=/dev/null");
    const auto results = results_folder(input);
    out += fmt::format(
        "mkdir -p {0}\nexec >> \"{0}/slurm-${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID.out\" 2>&1\n",
        results);
    if (emit.start != "run") out += "code=0\n";
    if (const auto tool = tool_line(input); !tool.empty() && emit.start == "run") out += tool;
    out += "case \"$SLURM_ARRAY_TASK_ID\" in\n";
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        out += fmt::format("  {})  # {}\n", i, tasks[i].name);
        for (const auto& line : lines_of(input, tasks[i]))
            out += fmt::format("    {}\n", line);
        out += "    ;;\n";
    }
    return out + (emit.start == "run" ? "esac\n" : "esac\nexit \"$code\"\n");
}

}  // namespace

Result<std::vector<Artifact>> slurm(const Input& input) {
    if (input.matrix.emit.start != "run") CM_TRY(require_registry(input, "slurm"));
    // An array asks for one kind of machine.
    std::vector<std::vector<Task>> kinds;
    for (auto& task : tasks_of(input)) {
        auto found = std::ranges::find_if(kinds, [&](const std::vector<Task>& kind) {
            return kind.front().labels == task.labels && kind.front().gpu == task.gpu;
        });
        if (found == kinds.end()) found = kinds.insert(kinds.end(), std::vector<Task>());
        found->push_back(std::move(task));
    }
    const auto most = limit_of(input.facts, "slurm", "jobs");
    std::vector<Artifact> files;
    for (auto& kind : kinds) {
        for (const auto& shard : in_shards(input, std::move(kind), most))
            files.push_back(
                {fmt::format("{}.sbatch", file_stem(input, files.size() + 1)), script_of(input, shard), {}});
    }
    CM_TRY(check_size(files, bytes_of(input.facts, "slurm"), "Slurm"));
    return files;
}

}  // namespace cudamatrix::emit
