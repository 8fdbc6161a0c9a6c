// emit: who runs what `cudamatrix emit` writes.
#include "base/text.hpp"
#include "matrix/deployment/syntax.hpp"
#include "matrix/reader.hpp"
#include "matrix/syntax.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

constexpr std::size_t kCommitDigits = 40;
constexpr std::string_view kToolForm =
    "a git URL and a commit such as https://git.example.org/tools/cudamatrix@ and 40 hexadecimal digits";
constexpr std::string_view kMachineExample =
    "{when: {gpu: [T4, L4]}, labels: [self-hosted, gpu-t4], gpu: true}";

// "https://git.example.org/tools/cudamatrix@0123...": a branch or a tag may move, a commit does not.
bool is_tool(std::string_view text) {
    constexpr std::string_view scheme = "https://";
    const auto at = text.rfind('@');
    if (at == std::string_view::npos || text.size() - at - 1 != kCommitDigits || text.size() > 512)
        return false;
    const auto url = text.substr(0, at);
    const auto slash = url.find('/', scheme.size());
    return url.starts_with(scheme) && slash != std::string_view::npos &&
           syntax::is_registry_host(url.substr(scheme.size(), slash - scheme.size())) &&
           is_relative_path(url.substr(slash + 1)) && text::only(url.substr(slash), "/._~-") &&
           text.substr(at + 1).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_label(std::string_view text) {
    return !text.empty() && text.size() <= 100 && text::is_word(text.front()) && text::only(text, "-_.:=/");
}

// A name of an object of Kubernetes (RFC 1123).
bool is_object_name(std::string_view text) {
    return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

bool is_start(std::string_view text) {
    return text == "run" || text == "pyxis" || text == "apptainer" || text == "podman";
}

void read_kubernetes(const Entry& entry, const yaml::Member& member, EmitSettings& emit) {
    const Entry kubernetes(entry.reader(), member.first, member.second);
    if (!kubernetes.is_map("{namespace: gpu-tests, queue: team-a}")) return;
    kubernetes.refuse_keys_beside({"namespace", "queue"});
    constexpr std::string_view form = "a name such as gpu-tests (lower-case letters, digits and '-')";
    kubernetes.optional("namespace", emit.namespace_name, form, is_object_name);
    kubernetes.optional("queue", emit.queue, form, is_object_name);
}

void read_slurm(const Entry& entry, const yaml::Member& member, EmitSettings& emit) {
    const Entry slurm(entry.reader(), member.first, member.second);
    if (!slurm.is_map("{start: pyxis, partition: gpu}")) return;
    slurm.refuse_keys_beside({"start", "partition"});
    slurm.optional("start", emit.start, "run, pyxis, apptainer or podman", is_start);
    slurm.optional("partition", emit.partition, "the name of a partition such as gpu",
                   [](std::string_view text) {
                       return !text.empty() && text.size() <= 64 && text::is_word(text.front()) &&
                              text::only(text, "-_.");
                   });
}

void read_machine(const Entry& entry, std::vector<Machine>& machines) {
    entry.refuse_keys_beside({"when", "labels", "gpu"});
    Machine machine;
    machine.when = entry.condition("when", kEveryCell);
    std::vector<Word> labels;
    if (entry.required("labels", "jobs find the machine by them") != nullptr)
        entry.optional("labels", labels,
                       {"a list of labels such as [self-hosted, gpu-t4]",
                        "a label of letters, digits, and - _ . : = /", is_label});
    for (auto& label : labels)
        machine.labels.push_back(std::move(label.text));
    if (!labels.empty()) machine.where = labels.front().where;
    std::string gpu;
    entry.optional("gpu", gpu, "true or false", is_truth_value);
    machine.gpu = gpu == "true";
    machines.push_back(std::move(machine));
}

}  // namespace

void read_emit(Reader& reader, const Node& key, const Node& node) {
    const Entry entry(reader, key, node);
    if (!entry.is_map("{machines: [...]}")) return;
    entry.refuse_keys_beside({"tool", "machines", "registry", "kubernetes", "slurm"});
    auto& emit = reader.matrix.emit;
    std::string tool;
    entry.optional("tool", tool, kToolForm, is_tool);
    if (!tool.empty()) {
        emit.commit = tool.substr(tool.size() - kCommitDigits);
        emit.tool = tool.substr(0, tool.size() - kCommitDigits - 1);
    }
    entry.optional("registry", emit.registry, "a registry prefix such as registry.example.org/team",
                   syntax::is_registry_prefix);
    if (const auto* kubernetes = entry.find("kubernetes")) read_kubernetes(entry, *kubernetes, emit);
    if (const auto* slurm = entry.find("slurm")) read_slurm(entry, *slurm, emit);
    const auto* machines = entry.find("machines");
    if (machines == nullptr) return;
    entry.each_map(*machines, kMachineExample,
                   [&](const Entry& machine) { read_machine(machine, emit.machines); });
}

Json write_emit(const Matrix& matrix) {
    const auto& emit = matrix.emit;
    auto map = Json::object();
    if (!emit.tool.empty()) map["tool"] = emit.tool + "@" + emit.commit;
    if (!emit.registry.empty()) map["registry"] = emit.registry;
    if (!emit.namespace_name.empty()) map["kubernetes"]["namespace"] = emit.namespace_name;
    if (!emit.queue.empty()) map["kubernetes"]["queue"] = emit.queue;
    if (emit.start != EmitSettings{}.start) map["slurm"]["start"] = emit.start;
    if (!emit.partition.empty()) map["slurm"]["partition"] = emit.partition;
    if (!emit.machines.empty()) {
        map["machines"] = list_json(emit.machines, [](const Machine& machine) {
            auto entry = Json::object();
            if (!machine.when.clauses.empty()) entry["when"] = condition_json(machine.when);
            entry["labels"] = machine.labels;
            if (machine.gpu) entry["gpu"] = true;
            return entry;
        });
    }
    return map;
}

}  // namespace cudamatrix
