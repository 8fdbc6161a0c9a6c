// Every image of a registry that the facts know and a family renders: each combination of tag, distribution,
// flavour and machine gives a Dockerfile of the house's form, on the tag that the combination means.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/images.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/files/template_check.hpp"
#include "render/image/image_plan.hpp"
#include "render/image/resolve_cell.hpp"
#include "unit/render/injection/dockerfile_tokens.hpp"

using namespace cudamatrix;

namespace {

struct Combination {
    std::string cell;
    std::string reference;  ///< that its Dockerfile must stand on
};

std::string joined(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
    std::string out;
    for (const auto& [name, value] : fields) {
        if (!value.empty()) out += fmt::format("{}{}: \"{}\"", out.empty() ? "" : ", ", name, value);
    }
    return out;
}

void add_cuda(const Facts& facts, std::vector<Combination>& all) {
    for (const auto& row : facts.rows("cuda_images")) {
        if (row.text("status") == "deleted") continue;
        for (const auto os : row.list("os")) {
            const auto system = facts.row(fmt::format("os-{}", os));
            if (!system || !system->has("package_manager")) continue;
            const auto archs = row.has("arch") ? std::vector<std::string_view>(row.list("arch").begin(),
                                                                               row.list("arch").end())
                                               : std::vector<std::string_view>{"x86_64"};
            for (const auto flavour : row.list("flavours")) {
                const bool cudnn = flavour.starts_with("cudnn");
                if (flavour.starts_with("tensorrt")) continue;  // no field of a cell names it
                for (const auto arch : archs) {
                    if (arch != "x86_64" && arch != "aarch64") continue;
                    all.push_back(
                        {joined({{"family", "nvidia-cuda"},
                                 {"cuda", row.text("cuda")},
                                 {"os", os},
                                 {"flavour", flavour.substr(flavour.rfind('-') + 1)},
                                 {"cudnn", cudnn ? row.text("cudnn") : ""},
                                 {"arch", arch},
                                 {"python", all.size() % 2 == 0 ? "3.12" : ""}}),
                         fmt::format("docker.io/nvidia/cuda:{}-{}-{}", row.text("cuda"), flavour, os)});
                }
            }
        }
    }
}

void add_others(const Facts& facts, std::vector<Combination>& all) {
    for (const auto& row : facts.rows("pytorch_images")) {
        for (const auto cuda : row.list("cuda")) {
            const lookup::PytorchTag tag{"", std::string(cuda), "", ""};
            for (const auto flavour : row.list("flavours")) {
                if (row.text("exists") != "true") continue;
                all.push_back(
                    {joined({{"family", "pytorch"},
                             {"torch", fmt::format("{}+{}", row.text("torch"), tag.variant())},
                             {"flavour", flavour}}),
                     "docker.io/pytorch/pytorch:" + lookup::pytorch_tag_of(row, cuda, flavour).text()});
            }
        }
    }
    for (const auto& row : facts.rows("ngc_images")) {
        if (!row.has("cuda") && !row.has("torch")) continue;  // nothing names it
        auto cell = joined({{"family", "ngc"}, {"cuda", row.text("cuda")}, {"torch", row.text("torch")}});
        // What several images hold is written once: equal rows of a matrix are one cell.
        std::erase_if(all, [&](const Combination& other) { return other.cell == cell; });
        all.push_back({std::move(cell), "nvcr.io/nvidia/pytorch:" + std::string(row.text("tag"))});
    }
    for (const auto& row : facts.rows("distribution_images")) {
        const auto os = row.text("os");
        for (const auto arch : row.list("arch")) {
            for (const auto* flavour : {"base", "runtime", "devel"}) {
                all.push_back({joined({{"family", os.substr(0, os.find_first_of("0123456789"))},
                                       {"os", os},
                                       {"arch", arch},
                                       {"flavour", flavour}}),
                               lookup::distribution_image(facts, os, arch)});
            }
        }
    }
    for (const auto& row : facts.rows("toolkit_sources")) {
        const auto os = row.list("os").front();
        for (const auto* flavour : {"base", "runtime"}) {
            all.push_back({joined({{"family", row.text("family")},
                                   {"os", os},
                                   {"cuda", row.text("cuda")},
                                   {"cuda_from", row.text("cuda_from")},
                                   {"flavour", flavour}}),
                           lookup::distribution_image(facts, os, "x86_64")});
        }
    }
    for (const auto& row : facts.rows("python_images")) {
        for (const auto arch : row.list("arch")) {
            for (const auto* flavour : {"runtime", "devel"}) {
                all.push_back({joined({{"family", "cpu"},
                                       {"python", row.text("python")},
                                       {"os", row.text("os")},
                                       {"arch", arch},
                                       {"flavour", flavour}}),
                               "docker.io/library/python:" + std::string(row.text("tag"))});
            }
        }
    }
}

// Is `reference` the wanted image, or a newer one of NVIDIA's that holds the same CUDA and torch?
bool is_wanted(const Facts& facts, const std::string& wanted, const std::string& reference) {
    if (reference == wanted) return true;
    const auto tag_of = [](const std::string& text) { return text.substr(text.rfind(':') + 1); };
    const auto row = facts.row("ngc-pytorch-" + tag_of(wanted));
    const auto newer = facts.row("ngc-pytorch-" + tag_of(reference));
    if (!row || !newer || tag_of(reference) < tag_of(wanted)) return false;
    const auto same = [&](const char* column) {
        const auto own = Version::parse(row->text(column)), other = Version::parse(newer->text(column));
        return !own || (other && own->major_minor() == other->major_minor());
    };
    return same("cuda") && same("torch");
}

// One digest for each reference that the images name, and pins of every kind that they ask for.
Lock lock_for(const std::vector<Image>& images) {
    Lock lock;
    for (const auto& image : images) {
        for (const auto& reference : image.references())
            lock.references[reference] = {"sha256:" + std::string(64, 'd')};
        lock.images[image.id] = sample_pins(image);
    }
    return lock;
}

void check_form(const std::string& content) {
    CHECK(content.starts_with("# Generated by cudamatrix "));
    for (const auto& instruction : dockerfile_structure(content)) {
        CAPTURE(instruction);
        const auto keyword = instruction.substr(0, instruction.find(' '));
        const bool checks_health = keyword == "HEALTHCHECK";  // has several options
        CHECK((checks_health ||
               std::set<std::string>{"FROM", "COPY", "RUN", "ENV", "LABEL", "WORKDIR", "USER", "CMD"}.count(
                   keyword) == 1));
        CHECK(instruction.find("BROKEN") == std::string::npos);
        CHECK((checks_health || instruction.find("FLAG FLAG") == std::string::npos));
    }
}

void check_holds(const std::string& content, std::initializer_list<const char*> all) {
    for (const auto* wanted : all)
        CHECK(content.find(wanted) != std::string::npos);
}

// Renders them as one matrix and gives how many images they are.
std::size_t check_rendered(const Facts& facts, const std::vector<Combination>& all,
                           std::set<std::string>& ids) {
    std::string yaml = "version: 1\nname: all\nbuild: {base_from: registry}\ninclude:\n";
    for (const auto& combination : all)
        yaml += "  - {" + combination.cell + "}\n";
    auto matrix = read_matrix_text(yaml, "matrix.yaml");
    REQUIRE_MESSAGE(matrix.ok(), (matrix.ok() ? "" : render(matrix.failure().diagnostics.front(), {})));
    std::vector<PlannedCell> cells;
    for_each_cell(*matrix, [&](const Cell& cell) {
        cells.push_back({cell, std::to_string(cells.size())});
        return true;
    });
    REQUIRE(cells.size() == all.size());
    const auto plan = plan_images(*matrix, cells, facts);
    for (const auto& refusal : plan.refusals)
        CHECK_MESSAGE(false, all[static_cast<std::size_t>(std::stoi(refusal.cell))].cell, ": ",
                      refusal.reason);
    for (const auto& image : plan.images) {
        CAPTURE(image.id);
        CHECK(ids.insert(image.id).second);
        CHECK(image.id.size() <= 100);
        CHECK(image.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos);
        for (const auto& cell : image.cells)
            CHECK(is_wanted(facts, all[static_cast<std::size_t>(std::stoi(cell))].reference,
                            image.base_reference));
    }
    // The files alone: with the sources of the suite in each folder they would be gigabytes.
    const RenderSettings settings;
    auto library = load_templates(settings);
    REQUIRE(library.ok());
    const auto filled = [&](const Image& image, const std::string& name, const mustache::Data& model) {
        auto content = fill_dockerfile(*library, template_folder(image) + "/" + name, model);
        REQUIRE_MESSAGE(content.ok(), (content.ok() ? "" : content.failure().diagnostics.front().message));
        return std::move(content).value();
    };
    const auto locked = lock_for(plan.images);
    for (std::size_t i = 0; i < plan.images.size(); ++i) {
        const auto& image = plan.images[i];
        CAPTURE(image.id);
        const bool pinned = i % 2 == 0;
        const Lock none;
        const ImageInput input{*matrix, image, pinned ? locked : none, settings};
        const auto content = filled(image, "Dockerfile.mustache", dockerfile_model(input));
        const auto proof = filled(image, "proof.mustache", dockerfile_model(input));
        check_form(content);
        check_holds(content, {" AS base\n", " AS runtime\n", "\nUSER 65532:65532\n"});
        CHECK((content.find(" AS devel\n") != std::string::npos) == (image.flavour == "devel"));
        check_form(proof);
        check_holds(proof, {" AS devel\n", " AS suite\n", "\nCOPY --from=suite /opt/cudamatrix "});
        check_holds(proof, {("\nFROM " + image_repository(*matrix) + ":" + image.id + "\n").c_str()});
        CHECK((content.find("unpinned") == std::string::npos) == pinned);
        for (const auto& reference : image.references()) {
            const auto from =
                "FROM " + reference + (pinned ? "@sha256:" + std::string(64, 'd') : "") + " AS ";
            CHECK((content + proof).find(from) != std::string::npos);
        }
        CHECK((proof.find("dnf install") != std::string::npos) == (image.package_manager == "dnf"));
        for (const auto& instruction :
             dockerfile_structure(filled(image, "lock.mustache", lock_model(*matrix, image, &locked))))
            CHECK(instruction.find("BROKEN") == std::string::npos);
    }
    return plan.images.size();
}

}  // namespace

TEST_CASE(
    "every image of a registry that the facts know is rendered, on its own tag or a newer one that holds the "
    "same") {
    const auto facts = Facts::embedded();
    std::vector<Combination> all;
    add_cuda(facts, all);
    const auto cuda = all.size();
    add_others(facts, all);
    std::set<std::string> ids;
    std::size_t images = 0;
    constexpr std::size_t part = 1000;  // a matrix file takes no more values than about twice as many need
    for (std::size_t first = 0; first < all.size(); first += part) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        const auto size = static_cast<std::ptrdiff_t>(std::min(part, all.size() - first));
        images += check_rendered(facts, {begin, begin + size}, ids);
    }
    MESSAGE(cuda, " combinations of nvidia/cuda and ", all.size() - cuda, " others: ", images, " images");
    CHECK(cuda > 400);
    CHECK(all.size() - cuda > 150);
}

TEST_CASE(
    "torch, which brings CUDA's libraries, stands on the base of nvidia-cuda unless the cell wants more") {
    const auto base_of = [](std::string_view fields) {
        const auto matrix = read_matrix_text(
            fmt::format("version: 1\ninclude: [{{family: nvidia-cuda, os: ubuntu22.04, cuda: 12.4.1, {}}}]\n",
                        fields),
            "matrix.yaml");
        REQUIRE(matrix.ok());
        std::vector<PlannedCell> cells;
        for_each_cell(*matrix, [&](const Cell& cell) {
            cells.push_back({cell, "one"});
            return true;
        });
        const auto plan = plan_images(*matrix, cells, Facts::embedded());
        REQUIRE(plan.images.size() == 1);
        return plan.images.front().base_reference + " " + plan.images.front().id;
    };
    const std::string tag = "docker.io/nvidia/cuda:12.4.1-", id = " nvidia-cuda-ubuntu22.04-cu12.4.1";
    CHECK(base_of("torch: 2.6.0") == tag + "base-ubuntu22.04" + id + "-torch2.6.0_cu124-py3.10-base");
    CHECK(base_of("torch: 2.6.0, flavour: base") == base_of("torch: 2.6.0"));
    CHECK(base_of("torch: 2.6.0, flavour: runtime") ==
          tag + "runtime-ubuntu22.04" + id + "-torch2.6.0_cu124-py3.10");
    CHECK(base_of("torch: 2.6.0, flavour: devel") ==
          tag + "devel-ubuntu22.04" + id + "-torch2.6.0_cu124-py3.10-devel");
    CHECK(base_of("torch: 2.6.0, cudnn: \"9\"") ==
          tag + "cudnn-runtime-ubuntu22.04" + id + "-cudnn-torch2.6.0_cu124-py3.10");
    CHECK(base_of("torch: 2.6.0+cpu") == tag + "runtime-ubuntu22.04" + id + "-torch2.6.0_cpu-py3.10");
    CHECK(base_of("torch: none") == tag + "runtime-ubuntu22.04" + id);
    CHECK(base_of("python: \"3.10\"") == tag + "runtime-ubuntu22.04" + id + "-py3.10");
}
