// Structure invariance: whatever text stands where a text of the model stands, a file keeps the instructions,
// words and operators that it has with harmless text, or the value is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/resolve_cell.hpp"
#include "unit/render/injection/dockerfile_tokens.hpp"
#include "unit/render/injection/payloads.hpp"
#include "unit/render/injection/structure.hpp"
#include "unit/render/planned.hpp"

using namespace cudamatrix;
using mustache::Data;

namespace {

constexpr std::string_view kMatrix = R"(version: 1
name: injection
include:
  - {gpu: T4, cuda: "11.8.0", os: debian12}
  - {gpu: T4, cuda: "11.8.0", os: debian12, flavour: devel}
  - {gpu: T4, cuda: "13.4.3", os: debian12}
  - {gpu: T4, torch: 2.6.0+cu118, python: "3.11", os: debian12, packages: {timm: "0.6.13"}, env: {HF_HOME: /cache}}
  - {family: nvidia-cuda, gpu: H100, cuda: "12.4.1", os: ubuntu22.04, arch: aarch64, python: "3.12", packages: {timm: "0.6.13"}}
  - {family: nvidia-cuda, gpu: T4, cuda: "12.4.1", os: rockylinux9, python: "3.9"}
  - {family: ubuntu, gpu: T4, cuda: "13.3.1", os: ubuntu24.04, python: "3.13"}
  - {family: rockylinux, gpu: T4, torch: 2.9.0+cu130, os: rockylinux9, python: "3.12"}
  - {family: pytorch, gpu: T4, torch: 2.6.0+cu124, os: ubuntu22.04, python: "3.11", packages: {timm: "0.6.13"}}
  - {family: ngc, gpu: T4, torch: 2.10.0, os: ubuntu24.04, packages: {timm: "0.6.13"}}
  - {family: cpu, gpu: T4, torch: 2.6.0+cpu, os: debian12, flavour: devel}
set: {driver: "580.65.06", os: debian13}
build: {network: host, ca_bundle: /etc/ssl/site-ca.pem}
mirrors: {pypi: "https://wheels.example.org/simple", pytorch: "https://wheels.example.org/whl",
          python-build-standalone: "https://pythons.example.org/x", ubuntu-ports: "https://apt.example.org/ports",
          debian: "https://apt.example.org/debian", debian-security: "https://apt.example.org/security",
          rockylinux: "https://dnf.example.org/rocky"}
images:
  - {name: base, when: {cuda: "<13"}}
  - {name: one, when: {cuda: "13.4.3"}}
  - {name: two, when: {cuda: "13.3.1"}}
  - name: app
    when: {torch: ">=2"}
    apt: [git]
    pip: [accelerate==1.2.1]
    copy: [{from: app, to: /workspace}, {from: lib/x.py, to: /opt/x.py}]
    env: {TOKENIZERS_PARALLELISM: "false"}
    healthcheck: {test: [python, -c, "import torch"], interval: 30s, timeout: 10s, start_period: 2m, retries: 3}
services:
  - name: trainer
    image: app
    command: [python, train.py]
    gpu: ["0", "1"]
    capabilities: [compute, utility]
    shm_size: 8g
    ulimits: {memlock: -1, nofile: {soft: 1024, hard: 65536}}
    volumes: ["cache:/cache", "./data:/data:ro"]
    ports: ["9090/tcp"]
    environment: {OMP_NUM_THREADS: "4"}
    healthcheck: {test: [python, -c, "import torch"], interval: 30s, timeout: 10s, start_period: 2m, retries: 3}
    depends_on: [worker]
    restart: unless-stopped
  - {name: worker, image: one, gpu: 2, healthcheck: ["true"]}
  - {name: cpu, image: one}
  - {name: viewer, image: one, ports: ["127.0.0.1:8080:80/tcp"]}
)";

// The texts of a model, depth first. Nothing of it is const: what is in them may be replaced.
void texts_in(Data& data, std::vector<Data*>& out) {
    if (data.text() != nullptr) out.push_back(&data);
    if (const auto* list = data.list()) {
        for (const auto& item : *list)
            texts_in(const_cast<Data&>(item), out);
    }
    if (const auto* object = data.object()) {
        for (const auto& [name, item] : *object)
            texts_in(const_cast<Data&>(item), out);
    }
}

struct Target {
    std::string name;
    Data model;
};

struct TextTally {
    std::size_t texts = 0, tried = 0, refused = 0, kept = 0;
};

// Where in a file a text lands: the lines that hold it, whatever else the file says.
std::string lines_with(std::string_view content, std::string_view marker) {
    std::string out;
    for (const auto& line : text::split(content, '\n')) {
        if (line.find(marker) != std::string::npos) out += line + "\n";
    }
    return out;
}

/// `seen_lines`: places of this template that another image's values have attacked already.
void attack(mustache::Library& library, const Target& target, std::set<std::string>& seen_lines,
            TextTally& tally) {
    const auto benign = fill_dockerfile(library, target.name, target.model);
    REQUIRE_MESSAGE(benign.ok(), (benign.ok() ? "" : benign.failure().diagnostics.front().message));
    const auto wanted = structure_of(target.name, *benign);
    auto model = target.model;
    std::vector<Data*> texts;
    texts_in(model, texts);
    for (std::size_t at = 0; at < texts.size(); ++at) {
        const auto fill = [&, harmless = *texts[at]](const std::string& text) {
            *texts[at] = text;
            auto filled = fill_dockerfile(library, target.name, model);
            *texts[at] = harmless;
            return filled;
        };
        const auto marked = fill("marker");
        if (marked.ok() && *marked == *benign) continue;  // the template does not use this text
        if (marked.ok() && !seen_lines.insert(target.name + "\n" + lines_with(*marked, "marker")).second)
            continue;
        ++tally.texts;
        const auto& values = hostile_values();
        for (std::size_t each = tally.texts % kEvery; each < values.size(); each += kEvery) {
            const auto& value = values[each];
            const auto filled = fill(value);
            ++tally.tried;
            if (!filled.ok()) {
                ++tally.refused;
                continue;
            }
            ++tally.kept;
            if (*filled == *benign) continue;
            const bool same = structure_of(target.name, *filled) == wanted;
            const bool clean = is_clean(*filled);
            if (same && clean) continue;
            CAPTURE(target.name);
            CAPTURE(at);
            CAPTURE(value.substr(0, 100));
            CHECK(structure_of(target.name, *filled) == wanted);
            CHECK(clean);
        }
    }
}

}  // namespace

TEST_CASE("no value changes the structure of any file") {
    const auto planned = test::planned(std::string(kMatrix));
    const auto& matrix = planned.matrix;
    const auto& plan = planned.plan;
    REQUIRE(plan.refusals.empty());
    REQUIRE(plan.images.size() == 11);

    RenderSettings settings;
    settings.facts_hash = "0123456789ab";
    settings.facts_date = "2026-01-01";
    auto library = load_templates(settings);
    REQUIRE(library.ok());
    const auto lock = pinned_lock(plan.images);
    std::vector<Target> targets;
    std::vector<RenderedImage> rendered;
    for (const auto& image : plan.images) {
        const ImageInput input{matrix, image, lock, settings};
        auto model = dockerfile_model(input);
        const auto folder = template_folder(image);
        targets.push_back({folder + "/Dockerfile.mustache", model});
        targets.push_back({folder + "/proof.mustache", model});
        targets.push_back({folder + "/lock.mustache", lock_model(matrix, image, &lock)});
        AttemptRequest attempt;
        attempt.compiles = attempt.pip = true;
        attempt.beside = {"g++-12"};
        attempt.index = {"--index-url", "https://wheels.example.org/simple"};
        attempt.steps = {{"attempt", {"NAME=value"}, {"nvcc", "kernel.cu"}, 60}};
        if (image.references().empty())
            targets.push_back({"debian/attempt.mustache", attempt_model(input, attempt)});
        for (const auto& [file, wheels] : requirements_of(input)) {
            const Data::Object only{{"tool", model["tool"]}, {"image", model["image"]}, {"wheels", wheels}};
            targets.push_back({folder + "/requirements.mustache", only});
        }
        for (const auto& [file, packages] : package_files(image, lock.pins(image)))
            targets.push_back({"packages.mustache", Data::Object{{"packages", packages}}});
        RenderedImage about;
        about.id = image.id;
        about.folder = "images/" + image.id;
        about.reference = "cudamatrix/injection:" + image.id;
        rendered.push_back(about);
    }
    // Those of an image of each kind that copies something.
    for (const auto& image : plan.images) {
        if (image.copy.empty()) continue;
        const auto model = dockerfile_model({matrix, image, lock, settings});
        Data::Object names{{"copies", model.at("copies")}};
        if (image.references().empty()) names["bootstrap"] = model.at("bootstrap");
        targets.push_back({template_folder(image) + "/dockerignore.mustache", names});
    }
    const auto compose = compose_model({matrix, plan.images, rendered, settings.matrix_folder});
    REQUIRE(compose.ok());
    for (const char* name :
         {"compose.yaml.mustache", "compose.gpu.yaml.mustache", "compose.cdi.yaml.mustache"})
        targets.push_back({name, *compose});
    std::vector<Bootstrap> bootstraps;
    for (const auto& image : plan.images) {
        if (image.references().empty()) bootstraps.push_back(bootstrap_of(image, matrix));
    }
    targets.push_back(
        {"make-base.sh.mustache", make_base_model(matrix, bootstraps, plan.images, settings.matrix_folder)});

    TextTally tally;
    std::set<std::string> seen_lines;
    for (const auto& target : targets)
        attack(*library, target, seen_lines, tally);
    MESSAGE(hostile_values().size() << " hostile values, one of " << kEvery << " at each place, "
                                    << tally.texts << " texts of " << targets.size() << " files, "
                                    << tally.tried << " fillings: " << tally.refused << " refused, "
                                    << tally.kept << " written without changing the structure");
    CHECK(hostile_values().size() >= 150);
    CHECK(tally.tried >= tally.texts * (hostile_values().size() / kEvery));
    // A template that nobody attacks is none that is safe.
    std::set<std::string> attacked;
    for (const auto& target : targets)
        attacked.insert(target.name);
    for (const auto& one : library->list()) {
        CAPTURE(one.name);
        CHECK((one.name.find("partials/") != std::string::npos || attacked.count(one.name) == 1));
    }
    CHECK(tally.refused > 1000 / kEvery);
    CHECK(tally.kept > 1000 / kEvery);
}

TEST_CASE("the tokenizer of this test sees what it must see") {
    const std::vector<std::string> base = dockerfile_structure("RUN a 'b c' && d\nENV X=\"y\"\n");
    CHECK(base == std::vector<std::string>{"RUN 2w && 1w", "ENV 1w"});
    for (const char* other :
         {"RUN a b c && d\nENV X=\"y\"\n", "RUN a 'b c'; d\nENV X=\"y\"\n",
          "RUN a \"$(b)\" && d\nENV X=\"y\"\n", "RUN a `b` && d\nENV X=\"y\"\n",
          "RUN a 'b c' && d\nENV X=\"y\" Z=1\n", "RUN a 'b c' && d\nENV X=\"$y\"\n",
          "RUN a 'b c' && d\nUSER root\nENV X=\"y\"\n", "RUN --mount=x a 'b c' && d\nENV X=\"y\"\n",
          "RUN a 'b c' && d # x\nUSER root\nENV X=\"y\"\n", "RUN a 'b c && d\nENV X=\"y\"\n",
          "RUN a 'b c' && d\nENV X=\"y\n", "RUN a <<EOF && d\nENV X=\"y\"\n",
          "RUN a 'b c' && d\\\nENV X=\"y\"\n"}) {
        CAPTURE(other);
        CHECK(dockerfile_structure(other) != base);
    }
    for (const char* same :
         {"RUN a 'b  c' && d\n# x\n\nENV X=\"y z\"\n", "RUN a \\\n  # note\n 'b' && d\nENV X=y\n",
          "RUN a b\\ c && 'd$x'\nENV X=\"\\$y\"\n"}) {
        CAPTURE(same);
        CHECK(dockerfile_structure(same) == base);
    }
}

TEST_CASE("the first lines of a Dockerfile belong to us") {
    mustache::Library library;
    const auto begins = [&](const std::string& text) {
        library.add("t", text, "t");
        return fill_dockerfile(library, "t", Data::Object{{"x", "syntax=evil/frontend"}, {"y", "escape=`"}})
            .ok();
    };
    CHECK(begins("# Generated\nFROM scratch\n"));
    CHECK(begins("# a comment: with words\n#\n\nFROM scratch\n# syntax=x\n"));
    CHECK(begins("\xEF\xBB\xBF# Generated\nFROM scratch\n"));
    CHECK(begins("#!/bin/cat\nFROM scratch\n"));
    // What BuildKit reads as a directive besides "# syntax=".
    for (const char* other :
         {"\xEF\xBB\xBF# syntax=x\nFROM scratch\n", "\xEF\xBB\xBF#syntax = x\n",
          "#!/bin/cat\n# syntax=x\nFROM scratch\n", "// syntax=x\nFROM scratch\n", "//syntax = x\n",
          "\xEF\xBB\xBF// syntax=x\n", "#!/bin/cat\n// SYNTAX=x\n", "{\"syntax\": \"x\"}\n",
          "\n {\"a\": 1, \"syntax\": \"x\"}", "\xEF\xBB\xBF{\"\\u0073yntax\": \"x\"}",
          "#!/bin/cat\n{\"syntax\": \"x\"}", "# check=skip=all\nFROM scratch\n"}) {
        CAPTURE(other);
        CHECK_FALSE(begins(other));
    }
    CHECK_FALSE(begins("# {{ x | raw_comment }}\nFROM scratch\n"));
    CHECK_FALSE(begins("#{{ y | raw_comment }}\nFROM scratch\n"));
    CHECK_FALSE(begins("# Generated\n# {{ y | raw_comment }}\nFROM scratch\n"));
    CHECK_FALSE(begins("#   SYNTAX = a\nFROM scratch\n"));
}
