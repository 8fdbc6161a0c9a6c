// Where the jobs of Kubernetes are placed, tried against the labels of real nodes (tests/gfd/labels.yaml).
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "emitted.hpp"
#include "folders.hpp"
#include "matrix/yaml.hpp"

using namespace cudamatrix;
using yaml::Node;

namespace {

using Labels = std::map<std::string, std::string>;

std::string text_of(const Node& map, std::string_view name) {
    const auto* member = map.member(name);
    return member == nullptr ? std::string() : member->second.text;
}

struct KubernetesNode {
    std::string id;
    std::string gpu, driver;
    std::vector<std::pair<std::string, std::string>> others;  // gpu and driver of cells that are not for it
    Labels labels;
};

std::vector<KubernetesNode> real_nodes() {
    const auto text = file::read(std::filesystem::path(tests_dir()) / "gfd/labels.yaml", 1u << 20);
    REQUIRE(text.ok());
    const auto document = yaml::parse(*text, "labels.yaml");
    REQUIRE(document.ok());
    std::vector<KubernetesNode> nodes;
    for (const auto& item : document->member("nodes")->second.items) {
        KubernetesNode node{text_of(item, "id"), text_of(item, "gpu"), text_of(item, "driver"), {}, {}};
        for (const auto& other : item.member("not")->second.items)
            node.others.emplace_back(text_of(other, "gpu"), text_of(other, "driver"));
        for (const auto& [name, value] : item.member("labels")->second.members)
            node.labels.emplace(name.text, value.text);
        node.labels.emplace("kubernetes.io/arch",
                            "amd64");  // the kubelet writes it, not every source shows it
        nodes.push_back(std::move(node));
    }
    return nodes;
}

bool meets(const Node& expression, const Labels& labels) {
    const auto label = labels.find(text_of(expression, "key"));
    const auto how = text_of(expression, "operator");
    REQUIRE((how == "In" || how == "NotIn" || how == "Exists"));
    if (label == labels.end()) return how == "NotIn";
    if (how == "Exists") return true;
    const auto& values = expression.member("values")->second.items;
    const bool is_among =
        std::ranges::any_of(values, [&](const Node& value) { return value.text == label->second; });
    return is_among == (how == "In");
}

// The expressions of the one job of that cell, which a node has to meet all.
std::vector<Node> expressions_for(const std::string& gpu, const std::string& driver) {
    const test::EmitInput made(test::planned(
        fmt::format("include: [{{gpu: \"{}\"{}, cuda: \"11.8.0\", os: debian12, family: debian}}]\n"
                    "emit: {{registry: registry.example.org/team}}\n",
                    gpu, driver.empty() ? "" : fmt::format(", driver: \"{}\"", driver))));
    const auto files = emit::write_all(*emit::emitter_named("kubernetes"), made.input());
    REQUIRE(files.ok());
    REQUIRE(files->size() == 1);
    const auto& text = files->front().content;
    const auto job = yaml::parse(text.substr(text.find("---\n") + 4), "job.yaml");
    REQUIRE(job.ok());
    const auto* at = &*job;
    for (const auto* step : {"spec", "template", "spec", "affinity", "nodeAffinity",
                             "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"})
        at = &at->member(step)->second;
    REQUIRE(at->items.size() == 1);
    return at->items.front().member("matchExpressions")->second.items;
}

bool is_placed(const std::string& gpu, const std::string& driver, const Labels& labels) {
    const auto expressions = expressions_for(gpu, driver);
    return std::ranges::all_of(expressions, [&](const Node& one) { return meets(one, labels); });
}

// Only a whole GPU, on a node whose labels are those of today, is what a cell asks for.
bool may_be_placed(const KubernetesNode& node) {
    const auto product = node.labels.find("nvidia.com/gpu.product");
    if (product == node.labels.end() || !node.labels.contains("nvidia.com/gpu.compute.major")) return false;
    if (product->second.find("-MIG-") != std::string::npos || product->second.ends_with("-SHARED"))
        return false;
    return node.driver.empty() || node.labels.contains("nvidia.com/cuda.driver-version.full");
}

}  // namespace

TEST_CASE("a job goes to the nodes that have its GPU and driver, and to no other") {
    const auto nodes = real_nodes();
    CHECK(nodes.size() >= 12);
    std::size_t placed = 0, refused = 0;
    for (const auto& node : nodes) {
        CAPTURE(node.id);
        const bool expected = may_be_placed(node);
        CHECK(is_placed(node.gpu, node.driver, node.labels) == expected);
        placed += expected ? 1 : 0;
        for (const auto& other : node.others) {
            CAPTURE(other.first);
            CAPTURE(other.second);
            CHECK_FALSE(is_placed(other.first, other.second, node.labels));
            ++refused;
        }
        // Without a driver the GPU decides; a branch is met by each of its releases.
        if (!expected || node.driver.empty()) continue;
        CHECK(is_placed(node.gpu, "", node.labels));
        CHECK(is_placed(node.gpu, node.driver.substr(0, node.driver.find('.')), node.labels));
    }
    CHECK(placed >= 5);
    CHECK(refused >= 12);
}

TEST_CASE("each cell is placed on its own kind of node among all of them") {
    const auto nodes = real_nodes();
    for (const auto& node : nodes) {
        if (!may_be_placed(node)) continue;
        for (const auto& other : nodes) {
            CAPTURE(node.id);
            CAPTURE(other.id);
            if (is_placed(node.gpu, node.driver, other.labels))
                CHECK((other.gpu == node.gpu && (node.driver.empty() || other.driver == node.driver)));
        }
    }
}
