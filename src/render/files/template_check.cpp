#include "render/files/template_check.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/attempt.hpp"
#include "render/files/lock_request.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/resolve_cell.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix {
namespace {

// A cell for each way through the templates of each family: a toolkit from the archive and from wheels, in
// each flavour; torch of a wheel and of the base; python of the distribution, of the base and standalone;
// packages without a toolkit; dnf; nothing but a python. And images and services with everything that they
// can say.
constexpr std::string_view kSample = R"(version: 1
name: sample
include:
  - {gpu: T4, cuda: "11.8.0", os: debian12}
  - {gpu: T4, cuda: "11.8.0", os: debian12, flavour: devel}
  - {gpu: T4, cuda: "13.4.3", os: debian12}
  - {gpu: T4, cuda: "13.4.3", os: debian12, flavour: runtime}
  - {gpu: T4, cuda: "13.4.3", os: debian12, flavour: devel, packages: {timm: "0.6.13"}}
  - {gpu: T4, torch: 2.6.0+cu118, python: "3.11", os: debian12, env: {HF_HOME: /cache}}
  - {gpu: T4, python: "3.11", os: debian12}
  - {gpu: T4, python: "3.12", os: debian12, torch: 2.6.0+cu124}
  - {gpu: T4, python: "3.12", os: debian12}
  - {family: nvidia-cuda, gpu: T4, cuda: "12.4.1", os: ubuntu22.04}
  - {family: nvidia-cuda, gpu: T4, cuda: "12.4.1", os: ubuntu22.04, flavour: devel, torch: 2.6.0+cu124, python: "3.10"}
  - {family: nvidia-cuda, gpu: H100, cuda: "12.4.1", os: ubuntu22.04, arch: aarch64, python: "3.12", packages: {timm: "0.6.13"}}
  - {family: nvidia-cuda, gpu: T4, cuda: "12.4.1", os: rockylinux9, python: "3.9", packages: {timm: "0.6.13"}}
  - {family: ubuntu, gpu: T4, cuda: "13.4.3", os: ubuntu24.04}
  - {family: ubuntu, gpu: T4, cuda: "13.4.3", os: ubuntu24.04, flavour: runtime}
  - {family: ubuntu, gpu: T4, cuda: "13.4.3", os: ubuntu24.04, flavour: devel, python: "3.13"}
  - {family: rockylinux, gpu: T4, torch: 2.9.0+cu130, os: rockylinux9, python: "3.12"}
  - {family: pytorch, gpu: T4, torch: 2.6.0+cu124, os: ubuntu22.04, python: "3.11", packages: {timm: "0.6.13"}}
  - {family: pytorch, gpu: T4, torch: 2.6.0+cu124, flavour: devel}
  - {family: ngc, gpu: T4, torch: 2.10.0, os: ubuntu24.04, packages: {timm: "0.6.13"}}
  - {family: cpu, gpu: T4, torch: 2.6.0+cpu, os: debian12, python: "3.11"}
set: {driver: "580.65.06"}
images:
  - {name: plain}
  - name: app
    when: {torch: "2.6.0"}
    apt: [git]
    pip: [accelerate==1.2.1]
    copy: [{from: app, to: /workspace}]
    env: {TOKENIZERS_PARALLELISM: "false"}
    healthcheck: {test: [python, -c, "import torch"], interval: 30s, retries: 3}
services:
  - name: trainer
    image: app
    command: [python, train.py]
    gpu: ["0", "1"]
    capabilities: [compute, utility]
    shm_size: 8g
    ulimits: {memlock: -1}
    volumes: ["cache:/cache", "./data:/data:ro"]
    ports: ["8080"]
    environment: {OMP_NUM_THREADS: "4"}
    healthcheck: {test: [python, -c, "import torch"], interval: 30s, timeout: 10s, start_period: 2m, retries: 3}
    depends_on: [worker]
    restart: unless-stopped
  - {name: worker, image: plain, gpu: 2}
  - {name: cpu, image: plain}
)";
// Each of a kind of its own: sections that a mirror opens.
constexpr std::string_view kMirrors =
    "mirrors: {pypi: \"https://wheels.example.org/simple\", pytorch: \"https://wheels.example.org/whl\"";
constexpr std::string_view kMoreMirrors =
    ", nvidia-pypi: \"https://wheels.example.org/nvidia\", python-build-standalone: "
    "\"https://pythons.example.org/x\", ubuntu: \"https://apt.example.org/ubuntu\", ubuntu-ports: "
    "\"https://apt.example.org/ports\", debian: \"https://apt.example.org/debian\", debian-security: "
    "\"https://apt.example.org/security\", rockylinux: \"https://dnf.example.org/rocky\"";
constexpr std::string_view kCaBundle =
    "build: {network: host, ca_bundle: /etc/ssl/site-ca.pem, netrc: /etc/site.netrc}\n";

Lock sample_lock(const std::vector<Image>& images) {
    Lock lock;
    for (const auto& image : images) {
        for (const auto& reference : image.references())
            lock.references[reference] = {"sha256:" + std::string(64, 'c')};
        lock.bases[image.base_name()] = {std::string(64, 'a'), {"mmdebstrap"}, {{"base-files", "12"}}};
        lock.images[image.id] = sample_pins(image);
    }
    return lock;
}

AttemptRequest sample_attempt() {
    AttemptRequest attempt;
    attempt.compiles = attempt.pip = true;
    attempt.beside = {"g++-12"};
    attempt.index = {"--index-url", "https://wheels.example.org/simple"};
    attempt.steps = {{"attempt", {"NAME=value"}, {"nvcc", "kernel.cu"}, 60}};
    return attempt;
}

void add_new(std::vector<Diagnostic>& mistakes, Diagnostic mistake) {
    const bool known = std::ranges::any_of(mistakes, [&](const Diagnostic& one) {
        return one.message == mistake.message && one.where == mistake.where;
    });
    if (!known) mistakes.push_back(std::move(mistake));
}

class Checker {
  public:
    Checker(const RenderSettings& settings, mustache::Watch& watch, TemplateCheck& check)
        : settings_(settings), watch_(watch), check_(check) {}

    void fill(const Matrix& matrix, const Facts& facts) {
        std::vector<PlannedCell> cells;
        for_each_cell(matrix, [&](const Cell& cell) {
            cells.push_back({cell, cell_id(matrix, cell)});
            return true;
        });
        const auto plan = plan_images(matrix, cells, facts);
        for (const auto& [cell, reason] : plan.refusals)
            watch_.mistakes.push_back(Diagnostic::error(fmt::format("the sample cell {}: {}", cell, reason)));
        for (const auto& lock : {Lock{}, sample_lock(plan.images)}) {
            count(render_artifacts(matrix, plan.images, lock, settings_));
            for (const auto& image : plan.images) {
                if (image.references().empty())
                    count(attempt_context(matrix, image, lock, sample_attempt(), "sample", settings_));
                count(lock_request(matrix, image, settings_));
            }
        }
    }

  private:
    void count(const Result<Rendering>& rendering) {
        if (!rendering.ok()) return add(rendering.failure());
        check_.filled += rendering->artifacts.size();
    }
    void count(const Result<std::vector<Artifact>>& files) {
        if (!files.ok()) return add(files.failure());
        check_.filled += files->size();
    }
    void add(const Failure& failure) {
        for (const auto& one : failure.diagnostics)
            add_new(watch_.mistakes, one);
    }

    const RenderSettings& settings_;
    mustache::Watch& watch_;
    TemplateCheck& check_;
};

}  // namespace

ImagePins sample_pins(const Image& image) {
    const auto wanted = package_requests(image);
    const auto packages = [](const std::vector<std::string>& names) {
        std::vector<AptPin> pins{{"gcc", "1:2~3"}};
        for (const auto& name : names)
            pins.push_back({name, "1:2~3"});
        return pins;
    };
    const auto wheels = [](const std::vector<std::string>& requirements) {
        const std::string hash(64, 'b');
        std::vector<WheelPin> pins{{"filelock", "3.0", hash}};
        for (const auto& requirement : requirements)
            pins.push_back(
                {name_of_request(requirement), requirement.substr(requirement.find("==") + 2), hash});
        return pins;
    };
    ImagePins pins;
    pins.asked = asked_of(image);
    for (const auto& list : kAptLists)
        pins.*list.member = packages(wanted.*list.wanted);
    for (const auto& list : kWheelLists)
        pins.*list.member = wheels(wanted.*list.wanted);
    return pins;
}

Result<std::vector<mustache::Library::Listed>> list_templates(const std::filesystem::path& folder) {
    auto library = embedded_templates();
    if (!folder.empty()) {
        CM_TRY(library.override_from(folder));
    }
    return library.list();
}

TemplateCheck check_templates(const std::filesystem::path& folder, const Facts& facts) {
    TemplateCheck check;
    mustache::Watch watch;
    watch.check = true;
    auto library = embedded_templates();
    if (!folder.empty()) {
        if (auto done = library.override_from(folder); !done.ok())
            watch.mistakes = done.failure().diagnostics;
    }
    check.templates = library.list();
    // Those of templates that a partial of the user's waits for are known already.
    for (auto& mistake : library.syntax_mistakes())
        add_new(watch.mistakes, std::move(mistake));

    RenderSettings settings;
    settings.templates = folder;
    settings.facts_hash = facts.hash();
    settings.facts_date = facts.date();
    settings.watch = &watch;
    for (const bool all : {false, true}) {
        const auto matrix = read_matrix_text(
            fmt::format("{}{}{}}}\n{}", kSample, kMirrors, all ? kMoreMirrors : "", all ? kCaBundle : ""),
            "sample.yaml");
        if (matrix.ok()) Checker(settings, watch, check).fill(*matrix, facts);
        if (!matrix.ok()) watch.mistakes.push_back(matrix.failure().diagnostics.front());
    }
    check.mistakes = std::move(watch.mistakes);
    std::ranges::stable_sort(check.mistakes, [](const auto& a, const auto& b) {
        return std::tie(a.where.file, a.where.line, a.where.column) <
               std::tie(b.where.file, b.where.line, b.where.column);
    });
    return check;
}

}  // namespace cudamatrix
