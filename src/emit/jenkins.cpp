// A declarative pipeline of Jenkins: a matrix of tasks for each kind of machine.
#include <algorithm>

#include "base/text.hpp"
#include "emit/emitters.hpp"

namespace cudamatrix::emit {
namespace {

// A text of Groovy that nothing is put into.
std::string groovy(std::string_view text) {
    return "'" + text::replace_all(text::replace_all(text, "\\", "\\\\"), "'", "\\'") + "'";
}

struct Agent {
    std::string label;  // empty: any
    std::vector<Task> tasks;
};

std::vector<Agent> by_agent(std::vector<Task> tasks) {
    std::vector<Agent> agents;
    for (auto& task : tasks) {
        const auto label = text::join(task.labels, " && ");
        auto found = std::ranges::find(agents, label, &Agent::label);
        if (found == agents.end()) found = agents.insert(agents.end(), {label, {}});
        found->tasks.push_back(std::move(task));
    }
    return agents;
}

class Pipeline {
  public:
    explicit Pipeline(const Input& input) : input_(input) {}

    std::string write() {
        for (const auto& text : head_of(input_, "jenkins"))
            line("// " + text);
        line(
            "// Needs the plugins Pipeline and JUnit. Kinds of machines follow one another, the tasks of one run side by side.");
        block("pipeline", [&] {
            line("agent none");
            block("stages", [&] { stages(); });
        });
        return std::move(out_);
    }

  private:
    void line(std::string_view text) { out_ += std::string(depth_ * 2, ' ') + std::string(text) + "\n"; }

    template <class Inside>
    void block(std::string_view head, Inside inside) {
        line(fmt::format("{} {{", head));
        ++depth_;
        inside();
        --depth_;
        line("}");
    }

    void shell(const std::vector<std::string>& lines) {
        auto text = text::replace_all(tool_line(input_) + text::join(lines, "\n"), "\\", "\\\\");
        line("sh '''");
        out_ += text::replace_all(text, "'", "\\'") + "\n";
        line("'''");
    }

    // What fails is seen, and keeps no stage behind it from running.
    template <class Inside>
    void caught(Inside inside) {
        block("catchError(buildResult: 'FAILURE', stageResult: 'FAILURE')", inside);
    }

    void stages() {
        block("stage('check')", [&] {
            line("agent any");
            block("steps", [&] { shell(check_lines(input_, "jenkins")); });
        });
        std::size_t number = 0;
        for (const auto& agent : by_agent(tasks_of(input_))) {
            for (const auto& shard : in_shards(input_, agent.tasks, kMost))
                images(agent, shard, ++number);
        }
        block("stage('summary')", [&] {
            line("agent any");
            block("steps", [&] { summary(); });
            block("post", [&] {
                line("always { archiveArtifacts allowEmptyArchive: true, artifacts: 'summary/*' }");
            });
        });
    }

    void images(const Agent& agent, const std::vector<Task>& tasks, std::size_t number) {
        std::vector<std::string> names;
        for (const auto& task : tasks)
            names.push_back(groovy(task.name));
        all_.insert(all_.end(), names.begin(), names.end());
        block(fmt::format("stage('images {}')", number), [&] {
            block("matrix", [&] {
                line(agent.label.empty() ? "agent any"
                                         : fmt::format("agent {{ label {} }}", groovy(agent.label)));
                block("axes", [&] {
                    block("axis", [&] {
                        line("name 'TASK'");
                        line("values " + text::join(names, ", "));
                    });
                });
                block("stages", [&] {
                    block("stage('build and test')", [&] {
                        block("steps", [&] { caught([&] { shell(commands(tasks)); }); });
                        block("post", [&] { block("always", [&] { keep(); }); });
                    });
                });
            });
        });
    }

    [[nodiscard]] std::vector<std::string> commands(const std::vector<Task>& tasks) const {
        std::vector<std::string> lines{"case \"$TASK\" in"};
        for (const auto& task : tasks)
            lines.push_back(
                fmt::format("  {}) {} ;;", task.name, run_line(input_, task, results_folder(input_, task))));
        lines.emplace_back("esac");
        return lines;
    }

    void keep() {
        const auto results = results_folder(input_);
        line(
            fmt::format("junit allowEmptyResults: true, testResults: {}", groovy(results + "/*/report.xml")));
        line(fmt::format("stash name: \"result-${{TASK}}\", allowEmpty: true, includes: {}",
                         groovy(results + "/*/report.json")));
        line(fmt::format("archiveArtifacts allowEmptyArchive: true, artifacts: {}",
                         groovy(results + "/*/logs/*.log")));
    }

    void summary() {
        block("script", [&] {
            block(fmt::format("for (task in [{}])", text::join(all_, ", ")),
                  [&] { caught([&] { line("unstash \"result-${task}\""); }); });
        });
        const auto results = results_folder(input_);
        shell({collect_line(input_, results, "junit") + " > /dev/null || test $? -eq 1",
               collect_line(input_, results, "markdown")});
    }

    static constexpr std::size_t kMost = 100;  // tasks of one stage: its script is one text of the JVM

    const Input& input_;
    std::size_t depth_ = 0;
    std::string out_;
    std::vector<std::string> all_;
};

}  // namespace

Result<std::vector<Artifact>> jenkins(const Input& input) {
    std::vector<Artifact> files;
    files.push_back({file_stem(input) + ".Jenkinsfile", Pipeline(input).write(), {}});
    CM_TRY(check_size(files, bytes_of(input.facts, "jenkins"), "Jenkins"));
    return files;
}

}  // namespace cudamatrix::emit
