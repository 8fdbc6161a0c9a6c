// Structure invariance on the whole way: whatever text stands in whatever place of a matrix file, the reader
// or the plan refuses it, or the files keep the instructions, words and keys that they have with harmless
// text.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/resolve_cell.hpp"
#include "temp_folder.hpp"
#include "unit/render/injection/matrix_places.hpp"
#include "unit/render/injection/payloads.hpp"
#include "unit/render/injection/structure.hpp"
#include "unit/render/planned.hpp"

using namespace cudamatrix;

namespace {

// Together they have every key of the schema; the reader is asked for each text, so each is small.
constexpr std::string_view kSettings = R"(version: 1
name: injection
expect: {cells: 2, keys: 15, end: false}
axes: {gpu: [T4], cuda: ["11.8.0"], driver: ["580.65.06"], os: [debian12]}
zip: [[gpu, cuda]]
exclude: [{driver: "<1"}]
keep: [{driver: "<1"}]
include: [{family: nvidia-cuda, gpu: T4, driver: "580.65.06", cuda: "12.4.1", os: ubuntu22.04, torch: 2.6.0+cu124}]
set: {python: "3.11"}
rules: [{id: own, when: {gpu: T4}, require: {cuda: ">=11"}, because: reason, source: text, stage: install, severity: warning}]
waive: [{rule: own, when: {gpu: T4}, because: reason, until: 2030-01-01}]
stages: [install]
build: {base_from: auto, network: host, ca_bundle: /etc/ssl/site-ca.pem, cache: mounts, netrc: /etc/site.netrc, snapshot: 2026-11-01,
        user: app, workdir: /workspace}
mirrors: {pypi: "https://wheels.example.org/simple", docker.io: registry.example.org/hub, debian: "https://apt.example.org/debian",
          ubuntu: "https://apt.example.org/ubuntu"}
emit: {tool: "https://git.example.org/cudamatrix@0123456789abcdef0123456789abcdef01234567",
       machines: [{when: {gpu: T4}, labels: [gpu-t4], gpu: true}], registry: registry.example.org/team,
       kubernetes: {namespace: tests, queue: team-a}, slurm: {start: pyxis, partition: gpu}}
)";
constexpr std::string_view kAttacked = R"(version: 1
expect_cells: 2
include:
  - {family: debian, gpu: T4, torch: 2.6.0+cu124, python: "3.11", os: debian12}
  - {family: nvidia-cuda, gpu: T4, cuda: "12.4.1", os: ubuntu22.04, python: "3.10", packages: {timm: "0.6.13"}}
images:
  - name: app
    when: {gpu: T4}
    apt: [git]
    pip: [accelerate==1.2.1]
    copy: [{from: app, to: /workspace}]
    env: {TOKENIZERS_PARALLELISM: "false"}
    healthcheck: {test: [python, "true"], interval: 30s, timeout: 10s, start_period: 2m, retries: 3}
)";
constexpr std::string_view kServices = R"(version: 1
axes: {gpu: [T4], cuda: ["11.8.0"], os: [debian12]}
images: [{name: app, when: {gpu: T4}}]
services:
  - name: trainer
    image: app
    command: [python, train.py]
    gpu: ["0", "1"]
    capabilities: [compute, utility]
    shm_size: 8g
    ulimits: {memlock: -1, nofile: {soft: 1024, hard: 65536}, nproc: 100, stack: 1024}
    volumes: ["cache:/cache", "./data:/data:ro"]
    ports: ["9090/tcp", "127.0.0.1:8080:80"]
    environment: {OMP_NUM_THREADS: "4"}
    healthcheck: {test: [python, "true"], interval: 30s, timeout: 10s, start_period: 2m, retries: 3}
    depends_on: [worker]
    restart: unless-stopped
  - {name: worker, image: app, gpu: 1, healthcheck: ["true"]}
)";
// What takes fields.
constexpr std::string_view kSmall = R"(version: 1
name: injection
axes: {gpu: [T4], cuda: ["11.8.0"], os: [debian12]}
exclude: [{cuda: "<1"}]
keep: [{cuda: "<1"}]
include: [{gpu: T4, cuda: "12.9.1", os: debian12, torch: 2.6.0+cu126, python: "3.11"}]
set: {driver: "580.65.06"}
rules: [{id: own, when: {gpu: T4}, require: {cuda: ">=11"}, because: reason}]
waive: [{rule: own, when: {gpu: T4}, because: reason, until: 2030-01-01}]
images: [{name: app, when: {gpu: T4}}]
services: [{name: trainer, image: app, command: [python]}]
emit: {machines: [{when: {gpu: T4}, labels: [gpu-t4]}]}
)";

yaml::Node parsed(std::string_view text) {
    auto node = yaml::parse(text, "matrix.yaml");
    REQUIRE_MESSAGE(node.ok(), (node.ok() ? "" : node.failure().diagnostics.front().message));
    return std::move(node).value();
}

// What the files of a matrix look like: those of an image together, and those of compose.
using Structures = std::set<std::vector<std::string>>;

class FileRenderer {
  public:
    FileRenderer() : library_(load_templates(settings_).value()) {}

    // Nothing where the text is refused.
    std::optional<Structures> render(const std::string& text) {
        return render(read_matrix_text(text, "matrix.yaml"));
    }

    std::optional<Structures> render(const Result<Matrix>& matrix) {
        if (!matrix.ok()) return refuse(matrix.failure());
        const auto plan = test::plan_of(*matrix, facts_);
        Structures out;
        std::vector<RenderedImage> rendered;
        for (const auto& lock : {Lock{}, pinned_lock(plan.images)}) {
            const auto folders = image_folders(library_, *matrix, plan.images, lock, settings_);
            if (!folders.ok()) return refuse(folders.failure());
            for (const auto& folder : *folders) {
                std::vector<std::string> of_image;
                for (const auto* files : {&folder.image, &folder.proof}) {
                    for (const auto& file : *files)
                        add(of_image, file.path.filename().string(), file.content);
                }
                out.insert(of_image);
            }
        }
        for (const auto& image : plan.images) {
            const auto name = template_folder(image) + "/lock.mustache";
            const auto lock = fill_dockerfile(library_, name, lock_model(*matrix, image, nullptr));
            if (!lock.ok()) return refuse(lock.failure());
            std::vector<std::string> of_lock;
            add(of_lock, name, *lock);
            out.insert(of_lock);
            RenderedImage about;
            about.id = image.id;
            about.folder = "images/" + image.id;
            about.reference = image_repository(*matrix) + ":" + image.id;
            rendered.push_back(about);
            // A name of folders, tags and services.
            const bool plain = image.id.find_first_not_of(
                                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789._-") == std::string::npos;
            if (!plain || image.id.starts_with('.')) out.insert({"NAME " + image.id});
        }
        for (const auto& image : plan.images) {
            if (!image.references().empty()) continue;
            const auto bases =
                make_base_model(*matrix, {bootstrap_of(image, *matrix)}, {image}, settings_.matrix_folder);
            const auto script = library_.fill("make-base.sh.mustache", bases);
            if (!script.ok()) return refuse(script.failure());
            std::vector<std::string> of_bases;
            add(of_bases, "make-base.sh", *script);
            out.insert(of_bases);
        }
        const auto model = compose_model({*matrix, plan.images, rendered, settings_.matrix_folder});
        if (!model.ok()) return refuse(model.failure());
        for (const char* name : {"compose.yaml", "compose.gpu.yaml", "compose.cdi.yaml"}) {
            const auto content = library_.fill(std::string(name) + ".mustache", *model);
            if (!content.ok()) return refuse(content.failure());
            std::vector<std::string> of_compose;
            add(of_compose, name, *content);
            out.insert(of_compose);
        }
        return out;
    }

  private:
    // A refusal is one of the user's text, and says so.
    static std::optional<Structures> refuse(const Failure& failure) {
        CHECK(failure.code == ExitCode::bad_input);
        CHECK_FALSE(failure.diagnostics.empty());
        return std::nullopt;
    }

    static void add(std::vector<std::string>& out, const std::string& name, const std::string& content) {
        out.push_back("file " + name);
        if (!is_clean(content)) out.push_back("CONTROL CHARACTER");
        for (auto& line : structure_of(name, content))
            out.push_back(std::move(line));
    }

    RenderSettings settings_;
    Facts facts_ = Facts::embedded();
    mustache::Library library_;
};

// Whatever a harmless text makes of a place: words that many fields have, and those of the field itself.
std::vector<std::string> harmless(const Place& place) {
    std::vector<std::string> all{"marker", "1", "2.6.0", "none", "true", "a", "9.0", ">=1", "<1", "gcc-11"};
    const auto field = field_named(place.field);
    if (field) {
        const auto& choices = info(*field).choices;
        all.insert(all.end(), choices.begin(), choices.end());
    }
    return all;
}

struct Tally {
    std::size_t tried = 0, refused = 0, kept = 0;
};

// Under the sanitizers, what is nearly always refused meets an eighth of the rest's: keys of a closed list,
// texts for lists and maps, and fields, which take the same values in eight maps, so that a field meets each
// in one of them.
constexpr std::size_t kClosed = kEvery;

// A text that is none of those that a harmless one gives.
void check(FileRenderer& renderer, const yaml::Node& file, const Place& place, const std::string& value,
           const Structures& got) {
    CAPTURE(place.name);
    CAPTURE(place.field);
    CAPTURE(place.form);
    CAPTURE(value.substr(0, 100));
    Structures known;
    for (const auto& other : harmless(place)) {
        if (auto more = renderer.render(with_value(file, place, other))) known.merge(*more);
    }
    for (const auto& one : got) {
        const auto shown = text::join(one, "\n");
        CHECK_MESSAGE(known.count(one) == 1, shown);
    }
}

void attack(FileRenderer& renderer, const yaml::Node& file, const std::vector<Place>& places, Tally& tally) {
    const auto as_is = renderer.render(with_value(file, {Place::Kind::value, {99}, {}, {}, {}}, ""));
    REQUIRE(as_is);
    std::map<std::string, std::size_t> turns;
    for (const auto& place : places) {
        const auto step = kEvery * (place.open ? 1 : kClosed);
        const auto& values = hostile_values();
        for (auto each = turns[place.field + place.form]++ % step; each < values.size(); each += step) {
            ++tally.tried;
            auto got = renderer.render(with_value(file, place, values[each]));
            if (!got) {
                ++tally.refused;
                continue;
            }
            ++tally.kept;
            std::erase_if(*got, [&](const auto& one) { return as_is->count(one) == 1; });
            if (!got->empty()) check(renderer, file, place, values[each], *got);
        }
    }
}

std::string tally_text(const Tally& tally, std::size_t places) {
    return fmt::format(
        "{} hostile values, {} places: {} texts, {} refused, {} written without changing the structure",
        hostile_values().size(), places, tally.tried, tally.refused, tally.kept);
}

}  // namespace

TEST_CASE("no value and no key of a matrix file changes the structure of any file") {
    FileRenderer renderer;
    Tally tally;
    std::size_t attacked = 0;
    std::set<std::string> wanted, present;
    for (const auto text : {kSettings, kAttacked, kServices}) {
        const auto file = parsed(text);
        auto found = places_in(file, matrix_schema());
        wanted.merge(found.wanted);
        present.merge(found.present);
        // Fields have a test of their own.
        std::erase_if(found.all, [&](const Place& place) {
            return place.kind == Place::Kind::field ||
                   std::any_of(found.field_maps.begin(), found.field_maps.end(),
                               [&](const auto& map) { return place.name.starts_with(map + "."); });
        });
        attacked += found.all.size();
        attack(renderer, file, found.all, tally);
    }
    MESSAGE(tally_text(tally, attacked));
    // Nothing that the schema knows is left out.
    std::string left_out;
    for (const auto& one : wanted)
        left_out += present.count(one) == 1 ? "" : one + " ";
    CHECK(left_out.empty());
    CHECK(hostile_values().size() >= 150);
    CHECK(attacked > 100);
    CHECK(tally.refused > 1000 / kEvery);
    CHECK(tally.kept > 1000 / kEvery);
}

TEST_CASE("no value of any field changes the structure of any file") {
    const auto file = parsed(kSmall);
    auto found = places_in(file, matrix_schema());
    // Everywhere that a file takes fields.
    CHECK(found.field_maps == std::set<std::string>{"axes", "emit.machines[].when", "exclude[]",
                                                    "images[].when", "include[]", "keep[]", "rules[].require",
                                                    "rules[].when", "set", "waive[].when"});
    std::erase_if(found.all, [](const Place& place) { return place.kind != Place::Kind::field; });
    CHECK(found.all.size() == 2 * kFieldCount * found.field_maps.size());
    FileRenderer renderer;
    Tally tally;
    attack(renderer, file, found.all, tally);
    MESSAGE(tally_text(tally, found.all.size()));
    CHECK(tally.refused > 1000 / kEvery);
    CHECK(tally.kept > 100 / kEvery);
}

TEST_CASE("no line of a file of requirements changes the structure of any file") {
    const test::TempFolder folder;
    folder.put("matrix.yaml",
               text::replace_all(std::string(kAttacked), "[accelerate==1.2.1]", "requirements.txt"));
    FileRenderer renderer;
    const auto render = [&](const std::string& requirements) {
        folder.put("requirements.txt", requirements);
        return renderer.render(read_matrix_file(folder / "matrix.yaml"));
    };
    // Without a package, with one, with two.
    Structures known;
    for (const auto* harmless :
         {"# none\n", "timm==0.6.13\n", "accelerate==1.2.1\n", "accelerate==1.2.1\nnumpy==1.26.4\n"}) {
        auto structures = render(harmless);
        REQUIRE(structures);
        known.merge(*structures);
    }
    Tally tally;
    const auto& values = hostile_values();
    for (std::size_t each = 0; each < values.size(); each += kEvery) {
        const auto& value = values[each];
        CAPTURE(value.substr(0, 100));
        for (const auto& requirements :
             {value, "accelerate==" + value, value + "==1.2.1", "accelerate==1.2.1" + value,
              "accelerate==1.2.1 # " + value, "accelerate==1.2.1\n" + value + "==1.0"}) {
            ++tally.tried;
            const auto got = render(requirements + "\n");
            ++(got ? tally.kept : tally.refused);
            for (const auto& one : got.value_or(Structures{})) {
                const auto shown = text::join(one, "\n");
                CHECK_MESSAGE(known.count(one) == 1, shown);
            }
        }
    }
    MESSAGE(tally_text(tally, 6));
    CHECK(tally.refused > 500 / kEvery);
    CHECK(tally.kept > 100 / kEvery);
}

TEST_CASE("a text in a matrix file is what the reader sees") {
    const auto file = parsed("{name: x, list: [a, {b: c}]}");
    const auto written = [&](Place::Kind kind, const Path& path, const std::string& value) {
        return with_value(file, {kind, path, {}, "gpu", "value"}, value);
    };
    CHECK(written(Place::Kind::value, {0}, "q\"\\") ==
          "{\"name\": \"q\\\"\\\\\",\n\"list\": [a, {\"b\": c}]}\n");
    CHECK(written(Place::Kind::key, {1, 1, 0}, "k") == "{\"name\": x,\n\"list\": [a, {\"k\": c}]}\n");
    CHECK(written(Place::Kind::field, {1, 1}, "T4") ==
          "{\"name\": x,\n\"list\": [a, {\"gpu\": \"T4\",\n\"b\": c}]}\n");
    // What a value of YAML may hold at all comes through as it is.
    for (const auto& value : hostile_values()) {
        const auto back = yaml::parse(written(Place::Kind::value, {0}, value), "matrix.yaml");
        if (!back.ok()) continue;
        CHECK(back->find("name")->text == value);
        CHECK(back->find("list")->items.size() == 2);
    }
}
