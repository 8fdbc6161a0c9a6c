// A workflow of GitHub Actions: judge, then one job for each image and machine, then the results of all as
// one.
#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "base/text.hpp"
#include "emit/emitters.hpp"
#include "matrix/yaml_writer.hpp"
#include "render/files/image_folder.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix::emit {
namespace {

constexpr std::string_view kRunner = "ubuntu-24.04";

// GitHub reads ${{ }} in every value; what stands there comes from the context, never from the matrix file.
Json of_matrix(const char* member) {
    return fmt::format("${{{{ matrix.{} }}}}", member);
}

// Tasks of which some wait for others of the same chain, and none for those of another.
struct Chain {
    std::vector<Task> first, then;
    std::vector<std::string> needs;  // of those in `then`
};

// A chain is closed when it has so many tasks: with several of them no machine waits for the slowest of all
// that are built first.
constexpr std::size_t kChain = 200;

std::vector<Chain> chains_of(const Input& input) {
    auto tasks = tasks_of(input);
    std::vector<std::size_t> group(input.images.size());  // of each image another of its group, or itself
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto first_of = [&](std::size_t image) {
        while (group[image] != image)
            image = group[image] = group[group[image]];
        return image;
    };
    for (const auto& task : tasks) {
        for (const auto maker : task.after) {
            const auto a = first_of(maker), b = first_of(task.image);
            group[std::max(a, b)] = std::min(a, b);
        }
    }
    std::map<std::size_t, std::size_t> sizes, place;  // of each group
    for (const auto& task : tasks)
        ++sizes[first_of(task.image)];
    std::vector<Chain> chains(1);
    std::size_t held = 0;
    for (const auto& [at, size] : sizes) {
        if (held >= kChain) {
            chains.emplace_back();
            held = 0;
        }
        held += size;
        place[at] = chains.size() - 1;
    }
    for (auto& task : tasks) {
        auto& chain = chains[place[first_of(task.image)]];
        (task.after.empty() ? chain.first : chain.then).push_back(std::move(task));
    }
    return chains;
}

class Workflow {
  public:
    explicit Workflow(const Input& input) : input_(input) {}

    Result<std::vector<Artifact>> write() {
        Json jobs = Json::object();
        jobs["check"] = check_job();
        auto chains = chains_of(input_);
        std::vector<std::string> all{"check"};
        for (auto& chain : chains)
            chain.needs = add_shards(jobs, "first", std::move(chain.first), {"check"}, all);
        for (auto& chain : chains)
            add_shards(jobs, "then", std::move(chain.then), chain.needs, all);
        jobs["summary"] = summary_job(all);
        CM_TRY(status_);
        const Json document{
            {"name", input_.matrix.name + " images"},
            {"on", triggers()},
            {"permissions", {{"contents", "read"}}},
            {"concurrency",
             {{"group", fmt::format("cudamatrix-{}-${{{{ github.ref }}}}", input_.matrix.name)},
              {"cancel-in-progress", true}}},
            {"defaults", {{"run", {{"shell", "bash"}}}}},
            {"jobs", std::move(jobs)}};
        std::vector<Artifact> files;
        files.push_back({file_name(), yaml::document_text(head_of(input_, "github"), document), {}});
        CM_TRY(check_size(files, bytes_of(input_.facts, "github"), "GitHub"));
        return files;
    }

  private:
    [[nodiscard]] std::string file_name() const { return file_stem(input_) + ".yml"; }

    [[nodiscard]] Json triggers() const {
        const auto folder = std::filesystem::path(input_.matrix.path).parent_path();
        const auto paths = Json::array(
            {input_.matrix.path, (folder / kLockFile).generic_string(), input_.folder + "/" + file_name()});
        return {{"push", {{"branches", Json::array({"main", "master"})}, {"paths", paths}}},
                {"pull_request", {{"paths", paths}}},
                {"workflow_dispatch", Json::object()}};
    }

    // By the commit of a release, which cannot move as a tag can.
    Json uses(std::string_view action, Json with = {}) {
        const auto rows = input_.facts.rows("ci_actions");
        const auto row =
            std::ranges::find_if(rows, [&](const Row& one) { return one.text("action") == action; });
        if (row == rows.end()) {
            status_ = environment_failure(fmt::format("no fact pins the action {}", action),
                                          "write a row of ci_actions into a folder for --facts");
            return {};
        }
        Json step{{"uses", fmt::format("{}@{}", action, row->text("commit"))},
                  {"uses#", fmt::format("v{}", row->text("version"))}};
        if (!with.is_null()) step["with"] = std::move(with);
        return step;
    }

    static Json named(std::string_view name, const Json& step) {
        Json out{{"name", name}};
        out.update(step);
        return out;
    }

    static Json run(std::string_view name, std::string script) {
        return {{"name", name}, {"run", std::move(script)}};
    }

    // The repository, and cudamatrix on PATH.
    Json first_steps() {
        Json steps = Json::array();
        steps.push_back(
            named("Get the repository", uses("actions/checkout", {{"persist-credentials", false}})));
        const auto script = tool_line(input_);
        if (script.empty()) return steps;
        steps.push_back(
            named("Keep cudamatrix for the next job",
                  uses("actions/cache",
                       {{"path", kToolFolder},
                        {"key", fmt::format("cudamatrix-{}-${{{{ runner.os }}}}-${{{{ runner.arch }}}}",
                                            input_.matrix.emit.commit)}})));
        steps.push_back(run("Get cudamatrix",
                            script + fmt::format("echo \"$PWD/{}/bin\" >> \"$GITHUB_PATH\"\n", kToolFolder)));
        return steps;
    }

    // Verdicts that moved since the lock, and whether this very file is what the matrix gives.
    Json check_job() {
        auto steps = first_steps();
        const auto check = command_on_matrix(input_, "check");
        steps.push_back(
            run("Judge the matrix", fmt::format("{} --format github --step-summary || test $? -eq 1\n"
                                                "{} --against-lock\n",
                                                check, check)));
        steps.push_back(
            run("Compare this workflow with the matrix", emit_line(input_, "github") + " --check\n"));
        return {{"runs-on", kRunner}, {"timeout-minutes", kMinutes}, {"steps", std::move(steps)}};
    }

    Json entry_of(const Task& task) const {
        const auto& image = input_.images[task.image];
        const std::string hosted = std::string(kRunner) + (image.arch == "aarch64" ? "-arm" : "");
        Json entry{{"task", task.name}, {"image", image.id}};
        if (!task.cells.empty()) entry["cells"] = text::join(task.cells, " ");
        std::vector<std::string> after;
        for (const auto maker : task.after)
            after.push_back(input_.images[maker].id);
        if (!after.empty()) entry["after"] = text::join(after, " ");
        entry["runner"] = task.labels.empty() ? Json(hosted) : Json(task.labels);
        entry["demand"] = demand_of(task);
        return entry;
    }

    // Gives what a job needs that waits for these.
    std::vector<std::string> add_shards(Json& jobs, std::string_view name, std::vector<Task> tasks,
                                        const std::vector<std::string>& needs,
                                        std::vector<std::string>& all) {
        const auto most = limit_of(input_.facts, "github", "jobs");
        auto added = needs;
        for (const auto& shard : in_shards(input_, std::move(tasks), most)) {
            Json include = Json::array();
            for (const auto& task : shard)
                include.push_back(entry_of(task));
            const auto job = fmt::format("{}-{}", name, ++numbers_[name]);
            jobs[job] = image_job(needs, std::move(include));
            added.push_back(job);
            all.push_back(job);
        }
        return added;
    }

    Json image_job(const std::vector<std::string>& needs, Json include) {
        // One that waits for the first builds goes on where one of them failed: it finds less in the cache.
        const bool waits = needs.size() > 1;
        Json job{{"needs", needs}};
        if (waits) job["if"] = "${{ !cancelled() && needs.check.result == 'success' }}";
        job["name"] = of_matrix("task");
        job["strategy"] = {{"fail-fast", false}, {"matrix", {{"include", std::move(include)}}}};
        job["runs-on"] = of_matrix("runner");
        job["timeout-minutes"] = kMinutes;
        job["env"] = {{"TASK", of_matrix("task")},
                      {"IMAGE", of_matrix("image")},
                      {"CELLS", of_matrix("cells")},
                      {"AFTER", of_matrix("after")},
                      {"DEMAND", of_matrix("demand")}};
        auto steps = first_steps();
        steps.push_back(named(
            "Show the build cache to the next step",
            uses("actions/github-script",
                 {{"script",
                   "for (const name of ['ACTIONS_RESULTS_URL', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_CACHE_URL', "
                   "'ACTIONS_CACHE_SERVICE_V2'])\n"
                   "  core.exportVariable(name, process.env[name] || '');\n"}})));
        auto bake = run("Build with the cache", bake_script());
        // What is not built here is built by the next step, without the cache.
        bake["continue-on-error"] = true;
        steps.push_back(std::move(bake));
        steps.push_back(run("Build and test", run_script()));
        auto upload =
            named("Keep the results",
                  uses("actions/upload-artifact",
                       {{"name", "result-${{ matrix.task }}"},
                        {"path", fmt::format("{0}/report.json\n{0}/report.xml\n{0}/logs/\n", input_.runs)},
                        {"if-no-files-found", "warn"}}));
        upload["if"] = "${{ !cancelled() }}";
        steps.push_back(std::move(upload));
        job["steps"] = std::move(steps);
        return job;
    }

    // The targets are named as emit bake does it: by the image's id without dots.
    [[nodiscard]] std::string bake_script() const {
        const auto folder = input_.runs + "/bake";
        const auto emit = command_on_matrix(input_, "emit bake");
        const bool host = input_.matrix.build.network == "host";
        return fmt::format(
            "docker buildx inspect cudamatrix > /dev/null 2>&1 ||\n  docker buildx create --name cudamatrix --driver docker-container{}\n"
            "{} --only \"$IMAGE\" --prepare --out {}\n"
            "{} --out {}\n"
            "target=\"${{IMAGE//./_}}\"\n"
            "sets=(--set \"$target-proof.cache-to=type=gha,mode=max,scope=$IMAGE\")\n"
            "for scope in $IMAGE $AFTER; do sets+=(--set \"*.cache-from=type=gha,scope=$scope\"); done\n"
            "docker buildx bake --builder cudamatrix --load{} --file {}/docker-bake.json \\\n"
            "  --file {}/docker-bake.linked.json \"${{sets[@]}}\" \"$target\" \"$target-proof\"\n",
            host ? " --buildkitd-flags '--allow-insecure-entitlement network.host'" : "",
            command_on_matrix(input_, "build"), input_.runs, emit, folder,
            host ? " --allow network.host" : "", folder, folder);
    }

    [[nodiscard]] std::string run_script() const {
        return fmt::format(
            "chosen=()\n"
            "for cell in $CELLS; do chosen+=(--cell \"$cell\"); done\n"
            "{} --only \"$IMAGE\" \"${{chosen[@]}}\" --locked \"$DEMAND\" --out {}\n",
            command_on_matrix(input_, "run"), input_.runs);
    }

    Json summary_job(const std::vector<std::string>& needs) {
        auto steps = first_steps();
        steps.push_back(named("Get the results", uses("actions/download-artifact",
                                                      {{"pattern", "result-*"}, {"path", "results"}})));
        steps.push_back(
            run("Make one report of them", fmt::format("{} > /dev/null || true\n"
                                                       "{} --step-summary > /dev/null\n",
                                                       collect_line(input_, "results", "markdown"),
                                                       collect_line(input_, "results", "junit"))));
        auto upload =
            named("Keep it", uses("actions/upload-artifact", {{"name", "summary"}, {"path", "summary/"}}));
        upload["if"] = "${{ !cancelled() }}";
        steps.push_back(std::move(upload));
        return {{"needs", needs},
                {"if", "${{ !cancelled() && needs.check.result == 'success' }}"},
                {"runs-on", kRunner},
                {"timeout-minutes", kMinutes},
                {"steps", std::move(steps)}};
    }

    static constexpr unsigned kMinutes = 360;  // what GitHub's own runners allow a job

    const Input& input_;
    Status status_ = Done{};
    std::map<std::string_view, std::size_t> numbers_;  // of the jobs of each name
};

}  // namespace

Result<std::vector<Artifact>> github(const Input& input) {
    return Workflow(input).write();
}

}  // namespace cudamatrix::emit
