// Jobs of Kubernetes: the proof of each image on nodes that have its cells' GPU and driver, by the labels of
// NVIDIA's GPU Feature Discovery; an indexed job for cells that one kind of node answers.
#include <algorithm>
#include <map>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "emit/emitters.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"
#include "matrix/yaml_writer.hpp"

namespace cudamatrix::emit {
namespace {

constexpr unsigned kUser = 65532;  // as our own containers have it
constexpr unsigned kTmpMib = 512;

// A name of an object (RFC 1123); what is lost is in the hash.
std::string object_name(std::string_view text) {
    constexpr std::size_t longest = 63, digits = 8;
    auto name = text::lower(text);
    for (char& c : name) {
        if (!text::is_word(c)) c = '-';
    }
    if (name == text && name.size() <= longest) return name;
    name = name.substr(0, longest - digits - 1);
    return fmt::format("{}-{}", name, sha256(text).substr(0, digits));
}

Json expression(std::string_view label, std::vector<std::string> values, std::string_view how = "In") {
    return {{"key", label}, {"operator", how}, {"values", std::move(values)}};
}

// By nvidia.com/gpu.product: one of those under which nodes show the GPU; where no fact has seen it, none of
// those of other GPUs that its compute capability does not tell from it. Nothing where neither is known.
std::optional<Json> product_of(const Facts& facts, const WantedCell& wanted) {
    const auto* gpu = wanted.cell->get(Field::gpu);
    const auto known = gpu == nullptr ? std::nullopt : lookup::gpu(facts, gpu->text);
    if (!known) return std::nullopt;
    std::vector<std::string> own, others;
    for (const auto& row : facts.rows("gpu_products")) {
        const auto other = lookup::gpu(facts, row.text("gpu"));
        if (!other || other->text("compute") != known->text("compute")) continue;
        if (other->id() == known->id()) {
            own.emplace_back(row.text("product"));
            continue;
        }
        for (const auto* sharing : {"", "-SHARED"})
            others.push_back(fmt::format("{}{}", row.text("product"), sharing));
    }
    constexpr std::string_view label = "nvidia.com/gpu.product";
    if (!own.empty()) return expression(label, std::move(own));
    if (!others.empty()) return expression(label, std::move(others), "NotIn");
    return std::nullopt;
}

// What a node has to have, in the labels that are current (those of cuda.driver.* are deprecated).
Json node_of(const Input& input, const WantedCell& wanted) {
    const auto& image = input.images[wanted.image];
    Json out = Json::array({expression("kubernetes.io/arch", {image.arch == "aarch64" ? "arm64" : "amd64"})});
    if (!wanted.test.gpu) return out;
    if (const auto dot = wanted.test.compute.find('.'); dot != std::string::npos) {
        out.push_back(expression("nvidia.com/gpu.compute.major", {wanted.test.compute.substr(0, dot)}));
        out.push_back(expression("nvidia.com/gpu.compute.minor", {wanted.test.compute.substr(dot + 1)}));
    }
    if (wanted.test.compute.empty())
        out.push_back({{"key", "nvidia.com/gpu.product"}, {"operator", "Exists"}});
    if (auto product = product_of(input.facts, wanted)) out.push_back(std::move(*product));
    const auto& driver = wanted.test.driver;
    if (driver.empty()) return out;
    const bool is_branch = driver.find('.') == std::string::npos;
    out.push_back(
        expression(is_branch ? "nvidia.com/cuda.driver-version.major" : "nvidia.com/cuda.driver-version.full",
                   {driver}));
    return out;
}

// Cells of one image that one kind of node answers.
struct Kind {
    std::size_t image = 0;
    Json node;
    std::vector<const WantedCell*> cells;
};

std::vector<Kind> kinds_of(const Input& input) {
    std::vector<Kind> kinds;
    std::map<std::pair<std::size_t, std::string>, std::size_t> places;
    for (const auto& wanted : input.cells) {
        auto node = node_of(input, wanted);
        const auto [found, is_new] = places.emplace(std::pair(wanted.image, to_text(node)), kinds.size());
        if (is_new) kinds.push_back({wanted.image, std::move(node), {}});
        kinds[found->second].cells.push_back(&wanted);
    }
    return kinds;
}

Json labels_of(const Input& input) {
    return {{"app.kubernetes.io/name", "cudamatrix"},
            {"app.kubernetes.io/instance", object_name(input.matrix.name)}};
}

Json container(const Input& input, const Kind& kind) {
    std::vector<std::string> arguments{"pick", "$(JOB_COMPLETION_INDEX)"};
    unsigned memory = 0, shm = 0;
    for (const auto* wanted : kind.cells) {
        if (wanted != kind.cells.front()) arguments.emplace_back("--");
        arguments.insert(arguments.end(), wanted->test.arguments.begin(), wanted->test.arguments.end());
        memory = std::max(memory, wanted->test.memory_mib);
        shm = std::max(shm, wanted->test.shm_mib);
    }
    Json limits{
        {"cpu", "4"}, {"memory", fmt::format("{}Mi", memory + shm + kTmpMib)}, {"ephemeral-storage", "1Gi"}};
    if (kind.cells.front()->test.gpu) limits["nvidia.com/gpu"] = "1";
    return {{"name", "suite"},
            {"image", cluster_reference(input, kind.image, true)},
            {"imagePullPolicy", "IfNotPresent"},
            {"command", Json::array({kSuiteProgram})},
            {"args", std::move(arguments)},
            {"workingDir", "/tmp"},
            {"env", Json::array({Json{{"name", "HOME"}, {"value", "/tmp"}}})},
            {"resources", {{"limits", std::move(limits)}, {"requests", {{"cpu", "1"}}}}},
            {"securityContext",
             {{"allowPrivilegeEscalation", false},
              {"readOnlyRootFilesystem", true},
              {"capabilities", {{"drop", Json::array({"ALL"})}}}}},
            {"volumeMounts", Json::array({Json{{"name", "tmp"}, {"mountPath", "/tmp"}},
                                          Json{{"name", "shm"}, {"mountPath", "/dev/shm"}}})}};
}

Json memory_volume(std::string_view name, unsigned mebibytes) {
    return {{"name", name},
            {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", fmt::format("{}Mi", mebibytes)}}}};
}

Json pod(const Input& input, const Kind& kind) {
    unsigned shm = 0;
    for (const auto* wanted : kind.cells)
        shm = std::max(shm, wanted->test.shm_mib);
    const Json terms = Json::array({Json{{"matchExpressions", kind.node}}});
    return {{"restartPolicy", "Never"},
            {"automountServiceAccountToken", false},
            {"enableServiceLinks", false},
            {"securityContext",
             {{"runAsNonRoot", true},
              {"runAsUser", kUser},
              {"runAsGroup", kUser},
              {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
            {"affinity",
             {{"nodeAffinity",
               {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", terms}}}}}}},
            {"tolerations", Json::array({Json{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}}})},
            {"containers", Json::array({container(input, kind)})},
            {"volumes", Json::array({memory_volume("tmp", kTmpMib), memory_volume("shm", shm)})}};
}

Json with_place(const Input& input, std::string_view name, Json labels) {
    Json out{{"name", name}};
    if (!input.matrix.emit.namespace_name.empty()) out["namespace"] = input.matrix.emit.namespace_name;
    out["labels"] = std::move(labels);
    return out;
}

Json job(const Input& input, const Kind& kind) {
    const auto& queue = input.matrix.emit.queue;
    auto labels = labels_of(input);
    if (!queue.empty()) labels["kueue.x-k8s.io/queue-name"] = queue;
    const auto name =
        object_name(fmt::format("{}-{}-{}", input.matrix.name, input.images[kind.image].id,
                                sha256(kind.cells.front()->id + to_text(kind.node)).substr(0, 8)));
    std::vector<std::string> cells;
    for (const auto* wanted : kind.cells)
        cells.push_back(wanted->id);
    auto metadata = with_place(input, name, std::move(labels));
    metadata["annotations"] = {{"io.cudamatrix/image", input.images[kind.image].id},
                               {"io.cudamatrix/cells", text::join(cells, " ")}};
    Json spec = Json::object();
    if (!queue.empty()) spec["suspend"] = true;  // until Kueue admits it
    spec["completionMode"] = "Indexed";
    spec["completions"] = kind.cells.size();
    spec["parallelism"] = kind.cells.size();
    // A red test is an answer. A pod that lost its node is none, and does not count.
    spec["backoffLimit"] = 0;
    const Json lost = Json::array({Json{{"type", "DisruptionTarget"}}});
    spec["podFailurePolicy"] = {
        {"rules", Json::array({Json{{"action", "Ignore"}, {"onPodConditions", lost}}})}};
    spec["activeDeadlineSeconds"] = 6 * 3600;
    spec["ttlSecondsAfterFinished"] = 7 * 24 * 3600;
    spec["template"] = {{"metadata", {{"labels", labels_of(input)}}}, {"spec", pod(input, kind)}};
    return {{"apiVersion", "batch/v1"},
            {"kind", "Job"},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
}

// As --network none of our own containers: nothing in, nothing out.
Json no_network(const Input& input) {
    return {{"apiVersion", "networking.k8s.io/v1"},
            {"kind", "NetworkPolicy"},
            {"metadata", with_place(input, object_name("cudamatrix-" + input.matrix.name), labels_of(input))},
            {"spec",
             {{"podSelector", {{"matchLabels", labels_of(input)}}},
              {"policyTypes", Json::array({"Ingress", "Egress"})}}}};
}

}  // namespace

Result<std::vector<Artifact>> kubernetes(const Input& input) {
    CM_TRY(require_registry(input, "kubernetes"));
    const auto kinds = kinds_of(input);
    const auto most =
        std::min(input.split == 0 ? kinds.size() : input.split, limit_of(input.facts, "kubernetes", "jobs"));
    std::vector<Artifact> files;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (i % most == 0) {
            files.push_back({file_stem(input, files.size() + 1) + ".yaml",
                             yaml::document_text(head_of(input, "kubernetes"), no_network(input)),
                             {}});
        }
        const auto document = job(input, kinds[i]);
        if (to_text(document, false).size() > bytes_of(input.facts, "kubernetes")) {
            return input_failure(
                fmt::format("the job of image {} is larger than what Kubernetes keeps of one object",
                            input.images[kinds[i].image].id),
                "choose fewer cells for it");
        }
        files.back().content += "---\n" + yaml::document_text({}, document);
    }
    return files;
}

}  // namespace cudamatrix::emit
