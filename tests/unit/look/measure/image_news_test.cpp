#include "look/measure/image_news.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "knowledge/facts/images.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

const Facts& known_facts() {
    static const auto all = Facts::embedded();
    return all;
}

Row repository(const std::string& name) {
    return *lookup::image_repository(known_facts(), name);
}

const std::string kCuda = "docker.io/nvidia/cuda", kTorch = "docker.io/pytorch/pytorch",
                  kNgc = "nvcr.io/nvidia/pytorch", kPython = "docker.io/library/python";

// All tags that the facts know of a repository, and floating ones.
std::vector<std::string> known(const std::string& name) {
    std::vector<std::string> out{"latest", "nightly-devel-cuda12.4-cudnn9", "3.15.0rc2-slim", "26.13-py2",
                                 "13.0-extra"};
    const auto* scheme = image_scheme(repository(name).text("scheme"));
    for (const auto& row : known_facts().rows(scheme->table)) {
        for (auto& tag : scheme->tags_of(row))
            out.push_back(std::move(tag));
    }
    return out;
}

std::string shown(const ImageNews& news) {
    std::string out;
    for (const auto& change : news.changes)
        out += fmt::format("{} {}: {} {}\n", change.project, change.version, to_string(change.kind),
                           change.detail);
    for (const auto& group : news.groups)
        out += fmt::format("{} of {}, read {}{}\n", text::join(group.tags, " "), group.release, group.read,
                           group.first ? "" : ", not the first");
    return out;
}

using Env = std::vector<std::pair<std::string, std::string>>;

SeenImage seen(const std::string& reference, Env env, std::map<std::string, std::string> labels = {}) {
    SeenImage image{reference, "sha256:" + std::string(64, 'a'), {"x86_64", "aarch64"}, {}};
    image.config.env = std::move(env);
    image.config.labels = std::move(labels);
    return image;
}

// The rows as lines, or the message.
std::string rows_of(const std::string& name, const ImageGroup& group, Env env,
                    std::map<std::string, std::string> labels = {}) {
    const auto rows =
        image_rows(group, repository(name), seen(name + ":" + group.read, std::move(env), std::move(labels)),
                   known_facts());
    if (!rows.ok()) return rows.failure().diagnostics.front().message;
    std::string out;
    for (const auto& row : *rows)
        out += row.table + yaml_line(row);
    return text::replace_all(out, std::string(64, 'a'), "AA");
}

const ImageGroup kNewCuda{
    "99.1.0",
    {"99.1.0-base-ubuntu24.04", "99.1.0-cudnn-devel-ubuntu24.04", "99.1.0-devel-ubuntu24.04"},
    "99.1.0-cudnn-devel-ubuntu24.04"};

}  // namespace

TEST_CASE("a registry that lists what the facts know is no news") {
    for (const auto& name : {kCuda, kTorch, kNgc, kPython}) {
        CAPTURE(name);
        CHECK(known(name).size() > 20);
        CHECK(shown(image_news(known(name), repository(name), known_facts())).empty());
    }
}

TEST_CASE("new tags of nvidia/cuda: a row for the distributions that have the same flavours") {
    auto tags = known(kCuda);
    for (const auto* tag :
         {"99.1.0-base-ubuntu24.04", "99.1.0-cudnn-devel-ubuntu24.04", "99.1.0-devel-ubuntu24.04",
          "99.1.0-base-ubuntu26.04", "99.1.0-cudnn-devel-ubuntu26.04", "99.1.0-devel-ubuntu26.04",
          "99.1.0-base-azl3", "99.1.0-base", "6.5-devel-ubuntu14.04"})
        tags.emplace_back(tag);
    CHECK(shown(image_news(tags, repository(kCuda), known_facts())) ==
          "docker.io/nvidia/cuda 99.1.0: new 99.1.0-base-azl3, 99.1.0-base-ubuntu24.04, "
          "99.1.0-base-ubuntu26.04, 99.1.0-cudnn-devel-ubuntu24.04, "
          "99.1.0-cudnn-devel-ubuntu26.04 and 2 more\n"
          "99.1.0-base-azl3 of 99.1.0, read 99.1.0-base-azl3\n"
          "99.1.0-base-ubuntu24.04 99.1.0-cudnn-devel-ubuntu24.04 99.1.0-devel-ubuntu24.04 "
          "99.1.0-base-ubuntu26.04 "
          "99.1.0-cudnn-devel-ubuntu26.04 99.1.0-devel-ubuntu26.04 of 99.1.0, read "
          "99.1.0-cudnn-devel-ubuntu24.04\n");
}

TEST_CASE(
    "a known release with more tags than before is described as a whole; tags that are gone are named") {
    auto tags = known(kTorch);
    std::erase_if(tags, [](const std::string& tag) {
        return tag.starts_with("2.7.1-cuda11.8") || tag == "1.6.0-cuda10.1-cudnn7-devel";
    });
    tags.emplace_back("2.7.1-cuda12.9-cudnn9-devel");
    CHECK(shown(image_news(tags, repository(kTorch), known_facts())) ==
          "docker.io/pytorch/pytorch 1.6.0: vanished 1.6.0-cuda10.1-cudnn7-devel\n"
          "docker.io/pytorch/pytorch 2.7.1: vanished 2.7.1-cuda11.8-cudnn9-devel, "
          "2.7.1-cuda11.8-cudnn9-runtime\n"
          "docker.io/pytorch/pytorch 2.7.1: new 2.7.1-cuda12.9-cudnn9-devel\n"
          "2.7.1-cuda12.6-cudnn9-devel 2.7.1-cuda12.6-cudnn9-runtime 2.7.1-cuda12.8-cudnn9-devel "
          "2.7.1-cuda12.8-cudnn9-runtime of 2.7.1, "
          "read 2.7.1-cuda12.8-cudnn9-runtime\n"
          "2.7.1-cuda12.9-cudnn9-devel of 2.7.1, read 2.7.1-cuda12.9-cudnn9-devel, not the first\n");
    CHECK(shown(image_news({"98.01-py3", "98.1-py3", "98.01-py3-igpu"}, repository(kNgc), known_facts()))
              .find("98.01-py3: new 98.01-py3\n") != std::string::npos);
    auto pythons = known(kPython);
    for (const auto* tag : {"3.99-slim-trixie", "3.99-slim-nowhere", "3.99.1-slim-trixie",
                            "3.99-alpine-trixie", "2.7-slim-buster"})
        pythons.emplace_back(tag);
    CHECK(shown(image_news(pythons, repository(kPython), known_facts())) ==
          "docker.io/library/python 3.99-slim-trixie: new 3.99-slim-trixie\n3.99-slim-trixie of "
          "3.99-slim-trixie, read 3.99-slim-trixie\n");
}

TEST_CASE("rows of nvidia/cuda come from the configuration of one image") {
    CHECK(
        rows_of(
            kCuda, kNewCuda,
            {{"CUDA_VERSION", "99.1.0"},
             {"NV_CUDNN_VERSION", "10.2.3.64-1"},
             {"NVIDIA_REQUIRE_CUDA",
              "cuda>=99.1 driver>=700 brand=tesla,driver>=535,driver<536 brand=tesla,driver>=550,driver<551 "
              "brand=quadro,driver>=550,driver<551 brand=tesla,driver>=580,driver<581 "
              "brand=geforce,driver>=580,driver<581"}}) ==
        "cuda_images  - {id: cuda-image-99.1.0-ubuntu24.04, cuda: \"99.1.0\", status: \"supported\", os: "
        "[\"ubuntu24.04\"], flavours: [\"base\", \"devel\", "
        "\"cudnn-devel\"], cudnn: \"10.2.3\", arch: [\"x86_64\", \"aarch64\"], complete: true, source: "
        "\"image:docker.io/nvidia/cuda:99.1.0-cudnn-devel-ubuntu24.04 sha256:AA\", confidence: measured}\n"
        "cuda_image_requirements  - {id: cuda-image-requires-99.1.0-x86_64, cuda: \"99.1.0\", arch: "
        "[\"x86_64\", \"aarch64\"], cuda_min: \"99.1\", "
        "driver_min: \"700\", tesla_branches: [\"535\"], professional_branches: [\"550\"], any_branches: "
        "[\"580\"], source: "
        "\"image:docker.io/nvidia/cuda:99.1.0-cudnn-devel-ubuntu24.04 sha256:AA\", confidence: measured}\n");
    // Of a release that is past its end as much is known; one that was deleted and is listed is there.
    const auto eol = rows_of(kCuda, {"13.0.0", {"13.0.0-base-ubuntu26.04"}, "13.0.0-base-ubuntu26.04"},
                             {{"CUDA_VERSION", "13.0.0"}, {"NVIDIA_REQUIRE_CUDA", "cuda>=13.0"}});
    CHECK(eol.find("status: \"eol\"") != std::string::npos);
}

TEST_CASE("a configuration that does not fit its tag, or no row, gives none") {
    const auto refused = [](Env env) { return rows_of(kCuda, kNewCuda, std::move(env)); };
    const std::string start = "docker.io/nvidia/cuda:99.1.0-cudnn-devel-ubuntu24.04: ";
    CHECK(refused({}) == start + "its configuration says no CUDA_VERSION");
    CHECK(refused({{"CUDA_VERSION", "99.1.01"}}) ==
          start + "its configuration says CUDA_VERSION 99.1.01, which is not what its tag names");
    for (const std::string clauses :
         {"", "brand=tesla,driver>=535,driver<536", "cuda>=99.1 brand=tesla,driver>=535",
          "cuda>=99.1 brand=tesla,driver>=535,driver<540", "cuda>=99.1 brand=tesla,driver>=x,driver<y",
          "cuda>=99.1 brand=geforce,driver>=535,driver<536", "cuda>=99.1 arch>=8.0",
          "cuda>=", "cuda>=99.1 brand=tesla,driver>=535,driver<536 brand=grid,driver>=535,driver<536",
          "cuda>=99.1 driver>=5,driver<6,brand=tesla"}) {
        CAPTURE(clauses);
        CHECK(refused({{"CUDA_VERSION", "99.1.0"}, {"NVIDIA_REQUIRE_CUDA", clauses}}) ==
              start + "no row can hold its NVIDIA_REQUIRE_CUDA '" + clauses + "'");
    }
    CHECK(rows_of(kTorch, {"2.99.0", {"2.99.0-cuda13.0-cudnn9-devel"}, "2.99.0-cuda13.0-cudnn9-devel"},
                  {{"PYTORCH_VERSION", "2.98.0"}}) ==
          "docker.io/pytorch/pytorch:2.99.0-cuda13.0-cudnn9-devel: its configuration says PYTORCH_VERSION "
          "2.98.0, which is not what its tag names");
    CHECK(rows_of(kNgc, {"98.01-py3", {"98.01-py3"}, "98.01-py3"}, {{"NVIDIA_PYTORCH_VERSION", "98.02"}}) ==
          "nvcr.io/nvidia/pytorch:98.01-py3: its configuration says NVIDIA_PYTORCH_VERSION 98.02, which is "
          "not what its tag names");
    CHECK(rows_of(kPython, {"3.99-slim-trixie", {"3.99-slim-trixie"}, "3.99-slim-trixie"},
                  {{"PYTHON_VERSION", "3.9.9"}}) ==
          "docker.io/library/python:3.99-slim-trixie: its configuration says PYTHON_VERSION 3.9.9, which is "
          "not what its tag names");
    auto image = seen("docker.io/library/python:3.99-slim-trixie", {{"PYTHON_VERSION", "3.99.1"}});
    image.arches.clear();
    const auto none = image_rows({"3.99-slim-trixie", {"3.99-slim-trixie"}, "3.99-slim-trixie"},
                                 repository(kPython), image, known_facts());
    REQUIRE_FALSE(none.ok());
    CHECK(none.failure().diagnostics.front().message ==
          "docker.io/library/python:3.99-slim-trixie: it is for neither x86_64 nor aarch64");
}

TEST_CASE("rows of the other repositories") {
    CHECK(rows_of(kTorch,
                  {"2.99.0",
                   {"2.99.0-cuda13.0-cudnn9-devel", "2.99.0-cuda13.2-cudnn9-devel"},
                   "2.99.0-cuda13.2-cudnn9-devel"},
                  {{"PYTORCH_VERSION", "2.99.0"}}) ==
          "pytorch_images  - {id: pytorch-image-2.99.0-hub, torch: \"2.99.0\", cuda: [\"13.0\", \"13.2\"], "
          "cudnn: \"9\", flavours: [\"devel\"], exists: true, "
          "source: \"image:docker.io/pytorch/pytorch:2.99.0-cuda13.2-cudnn9-devel sha256:AA\", confidence: "
          "measured}\n");
    CHECK(rows_of(kTorch, {"2.99.0", {"2.99.0-cuda13.2-cudnn9-devel"}, "2.99.0-cuda13.2-cudnn9-devel", false},
                  {})
              .find("id: pytorch-image-2.99.0-hub-cuda13.2, ") != std::string::npos);
    const Env ngc{
        {"NVIDIA_PYTORCH_VERSION", "98.01"},
        {"PYTORCH_VERSION", "2.10.0a0+b4e4ee81d3"},
        {"CUDA_VERSION", "13.1.0.036"},
        {"LD_LIBRARY_PATH", "/usr/local/lib/python3.12/dist-packages/torch/lib:/usr/local/lib/python3.12/x"}};
    const ImageGroup month{"98.01-py3", {"98.01-py3"}, "98.01-py3"};
    CHECK(rows_of(kNgc, month, ngc,
                  {{"org.opencontainers.image.ref.name", "ubuntu"},
                   {"org.opencontainers.image.version", "24.04"}}) ==
          "ngc_images  - {id: ngc-pytorch-98.01-py3, tag: \"98.01-py3\", torch: \"2.10.0\", cuda: "
          "\"13.1.0\", python: \"3.12\", os: \"ubuntu24.04\", "
          "note: \"torch 2.10.0a0+b4e4ee81d3\", source: \"image:nvcr.io/nvidia/pytorch:98.01-py3 "
          "sha256:AA\", confidence: measured}\n");
    // What is not said is not written.
    CHECK(rows_of(kNgc, month,
                  {{"NVIDIA_PYTORCH_VERSION", "98.01"}, {"A", "/python3.8/"}, {"B", "/python3.9/"}},
                  {{"org.opencontainers.image.version", "9"}}) ==
          "ngc_images  - {id: ngc-pytorch-98.01-py3, tag: \"98.01-py3\", source: "
          "\"image:nvcr.io/nvidia/pytorch:98.01-py3 sha256:AA\", confidence: measured}\n");
    CHECK(rows_of(kPython, {"3.99-slim-trixie", {"3.99-slim-trixie"}, "3.99-slim-trixie"},
                  {{"PYTHON_VERSION", "3.99.1"}}) ==
          "python_images  - {id: python-image-3.99-slim-trixie, tag: \"3.99-slim-trixie\", python: \"3.99\", "
          "os: \"debian13\", arch: [\"x86_64\", \"aarch64\"], "
          "source: \"image:docker.io/library/python:3.99-slim-trixie sha256:AA\", confidence: measured}\n");
}

TEST_CASE("of any other image a row holds what it asks of the host") {
    const auto row_of = [](Env env) {
        const auto row = other_image_row(seen("registry.example.org/team/app:1", std::move(env)));
        if (!row.ok()) return row.failure().diagnostics.front().message;
        const auto* requires_cell = row->cell("requires");
        return requires_cell == nullptr ? std::string("none") : requires_cell->values.front();
    };
    CHECK(row_of({{"CUDA_VERSION", "12.4.1"},
                  {"NVIDIA_REQUIRE_CUDA", "cuda>=12.4 brand=tesla,driver>=470,driver<471"}}) ==
          "cuda>=12.4 brand=tesla,driver>=470,driver<471");
    // Without it the container toolkit makes a condition of the CUDA that an image names.
    CHECK(row_of({{"CUDA_VERSION", "12.4.1"}}) == "cuda>=12.4");
    CHECK(row_of({{"CUDA_VERSION", "12.4.1"}, {"NVIDIA_REQUIRE_CUDA", ""}}) == "cuda>=12.4");
    CHECK(row_of({{"CUDA_VERSION", "12"}}) == "none");
    CHECK(row_of({{"NVIDIA_REQUIRE_DRIVER", "driver>=550"}}) == "none");
    CHECK(row_of({}) == "none");
    CHECK(row_of({{"NVIDIA_REQUIRE_CUDA", "cuda>=12.4 && $(x)"}}) ==
          "registry.example.org/team/app:1: no row can hold its NVIDIA_REQUIRE_CUDA 'cuda>=12.4 && $(x)'");
    const auto of_both = [](Env first, Env second) {
        auto image = seen("registry.example.org/team/app:1", std::move(first));
        image.second.emplace();
        image.second->env = std::move(second);
        const auto row = other_image_row(image);
        if (!row.ok()) return row.failure().diagnostics.front().message;
        const auto* cell = row->cell("requires_aarch64");
        return cell == nullptr ? std::string("the same") : cell->values.front();
    };
    CHECK(of_both({{"CUDA_VERSION", "12.4.1"}}, {{"NVIDIA_REQUIRE_CUDA", "cuda>=12.4"}}) == "the same");
    CHECK(of_both({}, {}) == "the same");
    CHECK(of_both({{"CUDA_VERSION", "12.4.1"}}, {{"CUDA_VERSION", "12.6.1"}}) == "cuda>=12.6");
    CHECK(of_both({}, {{"CUDA_VERSION", "12.6.1"}}) == "cuda>=12.6");
    CHECK(of_both({{"CUDA_VERSION", "12.4.1"}}, {}) == "none");
    CHECK(of_both({}, {{"NVIDIA_REQUIRE_CUDA", "$(x)"}}) ==
          "registry.example.org/team/app:1: no row can hold its NVIDIA_REQUIRE_CUDA '$(x)'");
    CHECK(row_of({{"NVIDIA_REQUIRE_CUDA", std::string(5000, 'a')}}) ==
          "registry.example.org/team/app:1: no row can hold its NVIDIA_REQUIRE_CUDA '" +
              std::string(200, 'a') + "'");
}
