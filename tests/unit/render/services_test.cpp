// images: and services: as images, and as the services of compose files. Whole files: tests/render.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/resolve_cell.hpp"
#include "unit/render/planned.hpp"

using namespace cudamatrix;

namespace {

using test::Planned;
using test::planned;

// "id: cell cell", one line for each image, then "cell: reason" for each refusal.
std::string images(const std::string& yaml) {
    const auto got = planned(yaml);
    std::string out;
    for (const auto& image : got.plan.images)
        out += image.id + ": " + text::join(image.cells, " ") + "\n";
    for (const auto& [cell, reason] : got.plan.refusals)
        out += cell + ": " + reason + "\n";
    return out;
}

// "name image", one line for each service, or the failure.
std::string services(const std::string& yaml) {
    const auto got = planned(yaml);
    const auto plan = plan_services(got.matrix.deployment, got.plan.images);
    if (!plan.ok()) {
        CHECK(plan.failure().code == ExitCode::bad_input);
        const auto& diagnostic = plan.failure().diagnostics.front();
        return fmt::format("{}:{}: {} | {}", diagnostic.where.line, diagnostic.where.column,
                           diagnostic.message, diagnostic.fix);
    }
    std::string out;
    for (const auto& service : plan->services)
        out += service.name + " " + got.plan.images[service.image].id + "\n";
    for (const auto& name : plan->left_out)
        out += "left out " + name + "\n";
    return out;
}

const std::string kTwoToolkits = "set: {os: debian12}\naxes: {cuda: [\"11.8.0\", \"13.4.3\"]}\n";

}  // namespace

TEST_CASE("one image for each entry and content of the cells that it matches") {
    CHECK(images(kTwoToolkits) ==
          "debian12-cu11.8.0: cu11.8.0-debian12\n"
          "debian12-cu13.4.3: cu13.4.3-debian12\n");
    CHECK(images(kTwoToolkits + "images: [{name: a}, {name: b, when: {cuda: \"<12\"}}]\n") ==
          "a-debian12-cu11.8.0: cu11.8.0-debian12\n"
          "b-debian12-cu11.8.0: cu11.8.0-debian12\n"
          "a-debian12-cu13.4.3: cu13.4.3-debian12\n");
    CHECK(images(kTwoToolkits + "images: [{name: b, when: {cuda: \"<12\"}}]\n") ==
          "b-debian12-cu11.8.0: cu11.8.0-debian12\n"
          "cu13.4.3-debian12: no entry of images matches it\n");
    CHECK(images(kTwoToolkits + "images: [{name: b, when: {cuda: \"<9\"}}]\n") ==
          "cu11.8.0-debian12: no entry of images matches it\n"
          "cu13.4.3-debian12: no entry of images matches it\n");
    // What cells differ in beside their images does not divide them.
    CHECK(images("set: {os: debian12, cuda: \"11.8.0\"}\naxes: {gpu: [T4, A100 80GB]}\nimages: [{name: a, "
                 "apt: [git]}]\n") ==
          "a-debian12-cu11.8.0: t4-cu11.8.0-debian12 a10080gb-cu11.8.0-debian12\n");
}

TEST_CASE("an entry's id says what the cell is, not what the entry adds") {
    CHECK(images("set: {os: debian12, cuda: \"11.8.0\"}\nimages: [{name: a, apt: [git], pip: "
                 "[numpy==1.26.4], env: {A: b}}]\n") == "a-debian12-cu11.8.0: cu11.8.0-debian12\n");
    const std::string of_cells = "set: {os: debian12, packages: {timm: \"0.6.13\"}, env: {A: b}}\n";
    const auto plain = planned(of_cells).plan.images.front().id;
    CHECK(planned(of_cells + "images: [{name: a, pip: [numpy==1.26.4], env: {C: d}}]\n")
              .plan.images.front()
              .id == "a-" + plain);
}

TEST_CASE("what an entry adds is in the image") {
    const auto got = planned(
        "set: {os: debian12, cuda: \"11.8.0\"}\nimages: [{name: a, apt: [git, python3], pip: "
        "[numpy==1.26.4], "
        "copy: [{from: x, to: /y}], env: {A: b}}]\nservices: [{name: s, volumes: [\"v:/v\", \"w:/b\", "
        "\"./x:/x\"]}, {name: "
        "t, volumes: [\"v:/v:ro\"]}]\n");
    REQUIRE(got.plan.images.size() == 1);
    const auto& image = got.plan.images.front();
    CHECK(image.entry == "a");
    CHECK(image.python == "3.11");
    CHECK(image.packages == std::vector<std::pair<std::string, std::string>>{{"numpy", "1.26.4"}});
    CHECK(image.env == std::vector<std::pair<std::string, std::string>>{{"A", "b"}});
    CHECK(image.copy.size() == 1);
    CHECK(image.folders == std::vector<std::string>{"/b", "/v"});
    // python3 is asked for once, whoever needs it.
    CHECK(package_requests(image).runtime ==
          std::vector<std::string>{"libcudart11.0", "python3", "python3-venv", "git"});
    CHECK(package_requests(image).wheels == std::vector<std::string>{"numpy==1.26.4"});
}

TEST_CASE("an entry that contradicts a cell gives it no image") {
    const std::string cell = "set: {os: debian12, packages: {num_py: \"1.0\"}, env: {A: b}}\n";
    const auto why = [&](const std::string& entry) {
        const auto got = planned(cell + "images: [{name: a, " + entry + "}]\n").plan;
        return got.refusals.empty() ? "" : got.refusals.front().reason;
    };
    CHECK(why("pip: [num-py==2.0]") == "images: a adds num-py 2.0, where packages of the cell say 1.0");
    CHECK(why("env: {A: c}") == "images: a adds A c, where env of the cell say b");
    CHECK(why("pip: [num-py==1.0], env: {A: b}").empty());
}

TEST_CASE("a cell that one of its entries cannot serve gets no image at all, and says which entry") {
    CHECK(images("set: {os: debian12, env: {A: b}}\nimages: [{name: plain}, {name: a, env: {A: c}}]\n") ==
          "debian12-enva_b: images: a adds A c, where env of the cell say b\n");
    const std::string cell = "set: {os: debian12}\naxes: {torch: [2.6.0+cu124, 1.11.0+cu115]}\n";
    CHECK(images(cell + "images: [{name: a}, {name: b, when: {cuda: \"<12\"}}]\n") ==
          "a-debian12-torch2.6.0_cu124: torch2.6.0_cu124-debian12\n"
          "torch1.11.0_cu115-debian12: images: a: torch 1.11.0+cu115 is not the build that the Python index "
          "serves, and no fact knows the address of its own index; write mirrors: {pytorch: URL} (the part "
          "before /cu115)\n");
}

TEST_CASE("a service is one of each image that it names") {
    const auto entries =
        kTwoToolkits +
        "images: [{name: a}, {name: b, when: {cuda: \"<12\"}}, {name: c, when: {cuda: \"<9\"}}]\n";
    CHECK(services(kTwoToolkits) ==
          "debian12-cu11.8.0 debian12-cu11.8.0\n"
          "debian12-cu13.4.3 debian12-cu13.4.3\n");
    CHECK(services(kTwoToolkits + "services: [{name: s}]\n") ==
          "s-debian12-cu11.8.0 debian12-cu11.8.0\n"
          "s-debian12-cu13.4.3 debian12-cu13.4.3\n");
    CHECK(services(entries + "services: [{name: s, image: b, ports: [\"80:80\"]}, {name: t, image: a, ports: "
                             "[\"80\"]}, {name: u, image: c}]\n") ==
          "s b-debian12-cu11.8.0\n"
          "t-a-debian12-cu11.8.0 a-debian12-cu11.8.0\n"
          "t-a-debian12-cu13.4.3 a-debian12-cu13.4.3\n"
          "left out u\n");
}

TEST_CASE("services that could not run beside each other are refused with their place") {
    CHECK(services(kTwoToolkits + "services:\n  - {name: s, ports: [\"80\", \"8080:80\"]}\n") ==
          "6:29: service s is of 2 images (debian12-cu11.8.0 and debian12-cu13.4.3 ...): each would publish "
          "port "
          "8080:80 of the host | write the container's port alone, or name an image that its cells share");
    CHECK(
        services(
            "set: {os: debian12}\naxes: {cuda: [\"11.8.0\", \"13.4.3\"]}\nimages: [{name: x, when: {cuda: "
            "\"<12\"}}, {name: debian12}]\n"
            "services:\n  - {name: s, image: debian12}\n  - {name: s-debian12-debian12-cu11, image: x}\n") ==
        "s-debian12-debian12-cu11.8.0 debian12-debian12-cu11.8.0\n"
        "s-debian12-debian12-cu13.4.3 debian12-debian12-cu13.4.3\n"
        "s-debian12-debian12-cu11 x-debian12-cu11.8.0\n");
    CHECK(services("axes: {os: [debian12, debian13]}\nimages: [{name: a}, {name: b, when: {os: debian12}}]\n"
                   "services:\n  - {name: s, image: a}\n  - {name: s-a-debian12, image: b}\n") ==
          "7:12: service s-a-debian12: service s at 6:12 gives a compose service s-a-debian12 as well | give "
          "one of "
          "them another name");
}
