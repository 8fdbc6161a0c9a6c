// What GPU Feature Discovery writes on Kubernetes nodes: the table of its products, and the label sets of
// real nodes in tests/gfd, which node affinity is tried against.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/version.hpp"
#include "folders.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/schema.hpp"
#include "matrix/yaml.hpp"

using namespace cudamatrix;

namespace {

std::string text_of(const yaml::Node& node, std::string_view key) {
    const auto* found = node.find(key);
    return found == nullptr ? "" : found->text;
}

std::string label_of(const yaml::Node& node, std::string_view name) {
    const auto* labels = node.find("labels");
    return labels == nullptr ? "" : text_of(*labels, "nvidia.com/" + std::string(name));
}

// "NVIDIA-A30" of "NVIDIA-A30-MIG-1g.6gb-SHARED".
std::string whole_product(std::string_view label) {
    constexpr std::string_view shared = "-SHARED";
    if (label.ends_with(shared)) label.remove_suffix(shared.size());
    return std::string(label.substr(0, label.find("-MIG-")));
}

// The driver that the labels name, in the way of GFD since v0.15.0 or in the one before.
std::string driver_in_labels(const yaml::Node& node) {
    if (auto full = label_of(node, "cuda.driver-version.full"); !full.empty()) return full;
    auto driver = label_of(node, "cuda.driver.major");
    for (const auto* part : {"cuda.driver.minor", "cuda.driver.rev"}) {
        if (auto text = label_of(node, part); !text.empty()) driver += "." + text;
    }
    return driver;
}

class NodeCheck {
  public:
    NodeCheck(const Facts& facts, const yaml::Node& node) : facts_(facts), node_(node) {}

    std::vector<std::string> mistakes() {
        const auto source = text_of(node_, "source");
        expect(facts::is_source(source) && (source.starts_with("https://") || source.starts_with("github:")),
               fmt::format("source '{}' is not public", source));
        product();
        driver();
        cells();
        return found_;
    }

  private:
    void expect(bool holds, std::string_view text) {
        if (!holds) found_.push_back(fmt::format("{}: {}", text_of(node_, "id"), text));
    }

    void product() {
        const auto label = label_of(node_, "gpu.product"), gpu = text_of(node_, "gpu");
        const auto rows = facts_.rows("gpu_products");
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& each) {
            return each.text("product") == whole_product(label);
        });
        if (row == rows.end()) return expect(false, fmt::format("gpu_products has no '{}'", label));
        const auto named = row->text("gpu");
        expect(named == gpu, fmt::format("'{}' is the {}, not the {}", label, named, gpu));
        const auto major = label_of(node_, "gpu.compute.major"), minor = label_of(node_, "gpu.compute.minor");
        if (major.empty() && minor.empty()) return;
        const auto known = lookup::gpu(facts_, named)->text("compute");
        expect(major + "." + minor == known,
               fmt::format("compute capability {}.{}, the {} has {}", major, minor, named, known));
    }

    void driver() {
        const auto driver = text_of(node_, "driver"), labels = driver_in_labels(node_);
        expect(driver == labels, fmt::format("driver '{}', in its labels '{}'", driver, labels));
        if (label_of(node_, "cuda.driver-version.full").empty()) return;
        std::string parts;
        for (const auto* part : {"major", "minor", "revision"}) {
            const auto text = label_of(node_, "cuda.driver-version." + std::string(part));
            if (!text.empty()) parts += (parts.empty() ? "" : ".") + text;
        }
        expect(parts == labels, fmt::format("driver {}, its parts make '{}'", labels, parts));
    }

    // A cell is kept off by its GPU, or by a driver that the node is too old for.
    void cells() {
        const auto* cells = node_.find("not");
        if (cells == nullptr || cells->items.empty())
            return expect(false, "no cell that may not be placed here");
        for (const auto& cell : cells->items) {
            const auto gpu = text_of(cell, "gpu"), driver = text_of(cell, "driver");
            const auto row = lookup::gpu(facts_, gpu);
            if (!row || row->text("name") != gpu) {
                expect(false, fmt::format("gpus has no '{}'", gpu));
                continue;
            }
            const auto asked = Version::parse(driver), has = Version::parse(text_of(node_, "driver"));
            expect(gpu != text_of(node_, "gpu") || (asked && has && *asked > *has),
                   fmt::format("nothing keeps {} with driver '{}' off", gpu, driver));
        }
    }

    const Facts& facts_;
    const yaml::Node& node_;
    std::vector<std::string> found_;
};

struct Nodes {
    explicit Nodes(std::string_view text) {
        auto parsed = yaml::parse(text, "labels.yaml");
        REQUIRE(parsed);
        tree = *std::move(parsed);
        REQUIRE(tree.find("nodes") != nullptr);
    }
    const std::vector<yaml::Node>& all() const { return tree.find("nodes")->items; }

    template <typename Holds>
    std::ptrdiff_t count(Holds holds) const {
        return std::count_if(all().begin(), all().end(), holds);
    }

    // One a line.
    std::string mistakes() const {
        const auto facts = Facts::embedded();
        std::string found;
        for (const auto& node : all()) {
            for (const auto& mistake : NodeCheck(facts, node).mistakes())
                found += (found.empty() ? "" : "\n") + mistake;
        }
        return found;
    }

    yaml::Node tree;
};

// The mistakes of one node, from a sound one with `from` replaced by `to`.
std::string with(std::string_view from, std::string_view to) {
    std::string text =
        "nodes:\n"
        "  - id: n\n"
        "    source: \"https://example.org/a\"\n"
        "    gpu: Tesla T4\n"
        "    driver: \"550.54.15\"\n"
        "    not: [{gpu: T4G}, {gpu: Tesla T4, driver: \"570.133.07\"}]\n"
        "    labels:\n"
        "      nvidia.com/cuda.driver-version.full: \"550.54.15\"\n"
        "      nvidia.com/cuda.driver-version.major: \"550\"\n"
        "      nvidia.com/cuda.driver-version.minor: \"54\"\n"
        "      nvidia.com/cuda.driver-version.revision: \"15\"\n"
        "      nvidia.com/gpu.compute.major: \"7\"\n"
        "      nvidia.com/gpu.compute.minor: \"5\"\n"
        "      nvidia.com/gpu.product: \"Tesla-T4-SHARED\"\n";
    const auto at = text.find(from);
    REQUIRE(at != text.npos);
    return Nodes(text.replace(at, from.size(), to)).mistakes();
}

}  // namespace

TEST_CASE("a product is the name of its GPU, as a label can hold it") {
    const auto facts = Facts::embedded();
    std::set<std::string_view> products, strangers;
    for (const auto& row : facts.rows("gpu_products")) {
        const auto product = row.text("product");
        CHECK_MESSAGE(products.insert(product).second, product);
        CHECK_MESSAGE(product.size() <= 63, product);
        CHECK_MESSAGE(whole_product(product) == product, product);
        CHECK_MESSAGE(std::all_of(product.begin(), product.end(),
                                  [](char c) {
                                      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                                             (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
                                  }),
                      product);
        if (const auto gpu = lookup::gpu(facts, product))
            CHECK_MESSAGE(gpu->text("name") == row.text("gpu"), product);
        else
            strangers.insert(product);
    }
    CHECK(products.size() >= 25);
    CHECK(strangers == std::set<std::string_view>{"Tesla-V100-SXM2-16GB-N"});
}

TEST_CASE("the label sets of real nodes are sound") {
    const auto text = file::read(std::filesystem::path(tests_dir()) / "gfd" / "labels.yaml", 1u << 20);
    REQUIRE(text);
    const Nodes nodes(*text);
    CHECK(nodes.mistakes() == "");

    std::set<std::string> ids;
    for (const auto& node : nodes.all())
        CHECK_MESSAGE(ids.insert(text_of(node, "id")).second, text_of(node, "id"));
    CHECK(ids.size() >= 12);
    const auto product = [](const yaml::Node& node) { return label_of(node, "gpu.product"); };
    CHECK(nodes.count([&](const auto& node) { return product(node).ends_with("-SHARED"); }) >= 2);
    CHECK(nodes.count([&](const auto& node) { return product(node).find("-MIG-") != std::string::npos; }) >=
          2);
    CHECK(nodes.count([](const auto& node) {
        return label_of(node, "cuda.driver-version.full").empty() &&
               !label_of(node, "cuda.driver.major").empty();
    }) >= 2);
    CHECK(nodes.count([](const auto& node) { return !label_of(node, "cuda.driver-version.full").empty(); }) >=
          2);
}

TEST_CASE("what is wrong with a label set is found") {
    CHECK(with("Tesla-T4-SHARED", "Tesla-T4-MIG-1g.5gb-SHARED") == "");
    CHECK(with("https://example.org/a", "wheel:a.whl sha256:" + std::string(64, 'a')) ==
          "n: source 'wheel:a.whl sha256:" + std::string(64, 'a') + "' is not public");
    CHECK(with("https://", "http://") == "n: source 'http://example.org/a' is not public");
    CHECK(with("Tesla-T4-SHARED", "Tesla-T4-shared") == "n: gpu_products has no 'Tesla-T4-shared'");
    CHECK(with("Tesla-T4-SHARED", "NVIDIA-Tesla-T4") == "n: gpu_products has no 'NVIDIA-Tesla-T4'");
    CHECK(with("Tesla-T4-SHARED", "NVIDIA-L4") ==
          "n: 'NVIDIA-L4' is the L4, not the Tesla T4\n"
          "n: compute capability 7.5, the L4 has 8.9");
    CHECK(with("minor: \"5\"", "minor: \"0\"") == "n: compute capability 7.0, the Tesla T4 has 7.5");
    CHECK(with("driver: \"550.54.15\"", "driver: \"550.54.14\"") ==
          "n: driver '550.54.14', in its labels '550.54.15'");
    CHECK(with("revision: \"15\"", "revision: \"\"") == "n: driver 550.54.15, its parts make '550.54'");
    CHECK(with("{gpu: T4G}, {gpu: Tesla T4, driver: \"570.133.07\"}", "") ==
          "n: no cell that may not be placed here");
    CHECK(with("{gpu: T4G}", "{gpu: Tesla T5}") == "n: gpus has no 'Tesla T5'");
    CHECK(with("{gpu: T4G}", "{gpu: Tesla T4}") == "n: nothing keeps Tesla T4 with driver '' off");
    CHECK(with("570.133.07", "550.54.15") == "n: nothing keeps Tesla T4 with driver '550.54.15' off");
    CHECK(with("570.133.07", "535.129.03") == "n: nothing keeps Tesla T4 with driver '535.129.03' off");
}
