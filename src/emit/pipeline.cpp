#include "emit/pipeline.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "matrix/condition.hpp"
#include "render/files/image_folder.hpp"

namespace cudamatrix::emit {
namespace {

// Of emit.machines, or their number where none matches.
std::size_t machine_of(const Matrix& matrix, const Cell& cell) {
    const auto& machines = matrix.emit.machines;
    const auto found =
        std::ranges::find_if(machines, [&](const Machine& machine) { return matches(machine.when, cell); });
    return static_cast<std::size_t>(found - machines.begin());
}

// A label as part of a name.
std::string plain(std::string label) {
    for (char& c : label) {
        if (!text::is_word(c) && c != '-' && c != '.' && c != '_') c = '-';
    }
    return label;
}

std::string unused(std::string name, std::set<std::string>& taken) {
    const auto wanted = name;
    for (std::size_t i = 2; !taken.insert(name).second; ++i)
        name = fmt::format("{}-{}", wanted, i);
    return name;
}

// For each image those that make what it shares. The first of a group waits for none, so that no image waits
// for one that waits.
std::vector<std::vector<std::size_t>> made_by(const Input& input) {
    std::vector<std::vector<std::size_t>> makers(input.images.size());
    std::set<std::size_t> first;
    for (const auto& group : input.shared)
        first.insert(*std::ranges::min_element(group));
    for (const auto& group : input.shared) {
        const auto maker = *std::ranges::min_element(group);
        for (const auto image : group) {
            auto& of_image = makers[image];
            if (!first.contains(image) && std::ranges::find(of_image, maker) == of_image.end())
                of_image.push_back(maker);
        }
    }
    return makers;
}

std::string tool_name(const Input& input) {
    return file_stem(input) + "-tool.sh";
}

bool is_plain_path(std::string_view path) {
    if (path.empty() || path.size() > 512 || path.front() == '/' || path.front() == '-' ||
        !text::only(path, "._/-+"))
        return false;
    const auto steps = text::split(path, '/');
    return std::ranges::none_of(steps, [](const std::string& step) { return step.empty() || step == ".."; });
}

}  // namespace

std::vector<Task> tasks_of(const Input& input) {
    std::vector<std::map<std::size_t, std::vector<std::string>>> by_machine(input.images.size());
    for (const auto& wanted : input.cells)
        by_machine[wanted.image][machine_of(input.matrix, *wanted.cell)].push_back(wanted.id);
    const auto makers = made_by(input);
    std::set<std::string> names;
    for (const auto& image : input.images)
        names.insert(image.id);
    std::vector<Task> tasks;
    const auto& machines = input.matrix.emit.machines;
    for (std::size_t i = 0; i < input.images.size(); ++i) {
        const bool alone = by_machine[i].size() == 1;
        auto after = makers[i];
        for (auto& [at, cells] : by_machine[i]) {
            Task task;
            task.image = i;
            task.after = after;
            after = {i};  // the image itself, from its second machine on
            task.name = input.images[i].id;
            if (at < machines.size()) {
                task.labels = machines[at].labels;
                task.gpu = machines[at].gpu;
            }
            if (input.is_part) task.cells = cells;
            if (!alone) {
                task.cells = std::move(cells);
                const auto where = task.labels.empty() ? "any" : plain(task.labels.back());
                task.name = unused(fmt::format("{}-on-{}", task.name, where), names);
            }
            tasks.push_back(std::move(task));
        }
    }
    return tasks;
}

std::string cluster_reference(const Input& input, std::size_t image, bool proof) {
    constexpr std::size_t digits = 12;
    const auto& rendered = input.rendered[image];
    const auto& inputs = proof ? rendered.proof_inputs : rendered.inputs;
    return fmt::format("{}/{}:{}-{}{}", input.matrix.emit.registry, image_repository(input.matrix),
                       input.images[image].id, inputs.substr(0, digits), proof ? kProofEnding : "");
}

Status require_registry(const Input& input, std::string_view target) {
    if (!input.matrix.emit.registry.empty()) return Done{};
    return input_failure(
        fmt::format("emit {} starts images that a registry has, and emit: names none", target),
        "write emit: {registry: registry.example.org/team}, and push them with "
        "`docker buildx bake --push` from what `emit bake` writes");
}

std::string_view demand_of(const Task& task) {
    return task.gpu ? "--require-gpu" : "--accept-static";
}

std::string run_line(const Input& input, const Task& task, const std::string& out) {
    std::vector<std::string> words{"cudamatrix", "run", input.matrix.path, "--only",
                                   input.images[task.image].id};
    for (const auto& cell : task.cells) {
        words.emplace_back("--cell");
        words.push_back(cell);
    }
    words.insert(words.end(), {"--locked", std::string(demand_of(task)), "--out", out});
    for (const auto* typed : {&input.typed.judging, &input.typed.rendering})
        words.insert(words.end(), typed->begin(), typed->end());
    return command_line(words);
}

std::string results_folder(const Input& input) {
    return input.runs + "-results";
}

std::string results_folder(const Input& input, const Task& task) {
    return results_folder(input) + "/" + task.name;
}

std::string file_stem(const Input& input, std::size_t shard) {
    const auto stem = "cudamatrix-" + input.matrix.name;
    return shard == 0 ? stem : fmt::format("{}-{}", stem, shard);
}

std::vector<std::string> emit_words(const Input& input, std::string_view target) {
    std::vector<std::string> words{"cudamatrix",      "emit",  std::string(target),
                                   input.matrix.path, "--out", input.folder};
    if (input.split != 0) words.insert(words.end(), {"--split", std::to_string(input.split)});
    for (const auto* typed : {&input.typed.judging, &input.typed.rendering})
        words.insert(words.end(), typed->begin(), typed->end());
    return words;
}

std::string emit_line(const Input& input, std::string_view target) {
    return command_line(emit_words(input, target));
}

std::string command_on_matrix(const Input& input, std::string_view command) {
    std::vector<std::string> words{"cudamatrix"};
    for (auto& word : text::split(command, ' '))
        words.push_back(std::move(word));
    words.push_back(input.matrix.path);
    words.insert(words.end(), input.typed.judging.begin(), input.typed.judging.end());
    if (command != "check")
        words.insert(words.end(), input.typed.rendering.begin(), input.typed.rendering.end());
    return command_line(words);
}

std::vector<std::string> check_lines(const Input& input, std::string_view target) {
    return {command_on_matrix(input, "check") + " --against-lock", emit_line(input, target) + " --check"};
}

std::string collect_line(const Input& input, const std::string& results, std::string_view format) {
    return fmt::format("{} {} --accept-static --format {} --out summary", command_on_matrix(input, "collect"),
                       pasted(results), format);
}

std::string command_line(const std::vector<std::string>& words) {
    std::vector<std::string> quoted;
    for (const auto& word : words)
        quoted.push_back(pasted(word));
    return text::join(quoted, " ");
}

std::vector<std::vector<Task>> in_shards(const Input& input, std::vector<Task> tasks, std::size_t most) {
    if (input.split != 0) most = std::min(most, input.split);
    std::vector<std::vector<Task>> shards;
    for (auto& task : tasks) {
        if (shards.empty() || shards.back().size() == most) shards.emplace_back();
        shards.back().push_back(std::move(task));
    }
    return shards;
}

std::vector<Artifact> tool_files(const Input& input) {
    const auto& emit = input.matrix.emit;
    if (emit.tool.empty()) return {};
    constexpr std::string_view script =
        R"sh(# Gets cudamatrix and puts it on PATH. Written by `cudamatrix emit`: edit the matrix file, not this one.
set -e
if [ ! -d FOLDER/source ]; then
  git init --quiet FOLDER/source
  git -C FOLDER/source fetch --quiet --depth 1 URL COMMIT
  git -C FOLDER/source checkout --quiet FETCH_HEAD
fi
as_root=sudo
if [ "$(id -u)" = 0 ]; then as_root=; fi
$as_root sh FOLDER/source/cmake/install_packages.sh build
if [ ! -x FOLDER/bin/cudamatrix ]; then
  (cd FOLDER/source && cmake --preset release && cmake --build --preset release)
  cmake --install FOLDER/source/build/release --prefix FOLDER
  rm -rf FOLDER/source/build
fi
PATH="$PWD/FOLDER/bin:$PATH"
export PATH
)sh";
    auto out = text::replace_all(script, "FOLDER", kToolFolder);
    out = text::replace_all(out, "URL", pasted(emit.tool));
    return {{tool_name(input), text::replace_all(out, "COMMIT", emit.commit), {}}};
}

std::string tool_line(const Input& input) {
    if (input.matrix.emit.tool.empty()) return {};
    return fmt::format(". ./{}/{}\n", input.folder, tool_name(input));
}

std::vector<std::string> head_of(const Input& input, std::string_view target) {
    return {fmt::format("Written by `{}`.", emit_line(input, target)),
            "To change it, edit the matrix file and run that again."};
}

Status check_paths(const Input& input) {
    for (const auto& [what, path] :
         {std::pair<std::string_view, std::string_view>{"the matrix file", input.matrix.path},
          std::pair<std::string_view, std::string_view>{"--out", input.folder},
          std::pair<std::string_view, std::string_view>{"the output folder of its runs", input.runs}}) {
        if (is_plain_path(path)) continue;
        return Failure{
            ExitCode::bad_input,
            {Diagnostic::error(fmt::format("{} is {}: expected a path of letters, digits, '.', '_', '-' and "
                                           "'+' below the current folder",
                                           what, text::printable(path)))
                 .with_fix("run emit in the root of the repository, where the jobs run")}};
    }
    return Done{};
}

Status check_size(const std::vector<Artifact>& files, std::size_t most, std::string_view system) {
    for (const auto& file : files) {
        if (file.content.size() <= most) continue;
        return Failure{
            ExitCode::bad_input,
            {Diagnostic::error(fmt::format("{} has {}, and {} takes {} of a file", file.path.generic_string(),
                                           text::human_bytes(file.content.size()), system,
                                           text::human_bytes(most)))
                 .with_fix("split the matrix file, or give fewer tasks to a file with --split")}};
    }
    return Done{};
}

}  // namespace cudamatrix::emit
