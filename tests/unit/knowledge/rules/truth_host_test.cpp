// Truth tables of what surrounds the code: images and their requirement, kernel modules, container toolkits,
// the GPU itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "truth_table.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;
using naive::doubtful;
using naive::lists;
using naive::number;

namespace {

struct Tag {
    std::string text;
    Row row;
    std::string cuda, flavour, os;
};

// Every tag of nvidia/cuda that the rows name.
std::vector<Tag> tags(const Facts& facts) {
    std::vector<Tag> out;
    for (const auto& row : facts.rows("cuda_images")) {
        for (const auto os : row.list("os")) {
            for (const auto flavour : row.list("flavours")) {
                out.push_back({fmt::format("nvidia/cuda:{}-{}-{}", row.text("cuda"), flavour, os), row,
                               std::string(row.text("cuda")), std::string(flavour), std::string(os)});
            }
        }
    }
    return out;
}

// The condition of the image's row on a driver of a branch with a GPU of a class, the row's clauses read one
// by one.
Verdict meets(const Row& row, const Row& branch, std::string_view driver, const std::string& host_class) {
    if (!row.has("cuda_min")) return Verdict::accepted;
    if (number(branch.text("cuda")) >= number(row.text("cuda_min"))) return Verdict::accepted;
    if (row.has("driver_min") &&
        number(driver) / 100 >= std::atoi(std::string(row.text("driver_min")).c_str()))
        return Verdict::accepted;
    const auto number_of_branch = branch.text("branch");
    const bool professional = host_class == "workstation" || host_class == "datacenter";
    if (lists(row, "any_branches", number_of_branch)) return Verdict::accepted;
    if (professional && lists(row, "professional_branches", number_of_branch)) return Verdict::accepted;
    if (host_class == "datacenter" && lists(row, "tesla_branches", number_of_branch))
        return Verdict::accepted;
    return Verdict::rejected;
}

}  // namespace

TEST_CASE(
    "truth table: image-requirement-met, every image and distribution on every branch by class of GPU") {
    TruthTable table("image-requirement-met");
    const auto& facts = table.facts();
    for (const auto& tag : tags(facts)) {
        if (tag.flavour != "base") continue;  // the flavours of an image share its requirement
        std::vector<Row> own, others;
        for (const auto& row : facts.rows("cuda_image_requirements")) {
            if (row.text("cuda") != tag.cuda || !lists(row, "arch", "x86_64")) continue;
            if (lists(row, "os", tag.os)) own.push_back(row);
            if (!row.has("os")) others.push_back(row);
        }
        const auto& rows = own.empty() ? others : own;
        if (rows.size() > 1) continue;
        for (const auto& branch : facts.rows("driver_branches")) {
            if (!branch.has("cuda") || !branch.has("newest")) continue;
            for (const std::string host_class : {"datacenter", "workstation", "geforce"}) {
                auto expected = Verdict::accepted;
                bool doubts = doubtful(branch);
                if (rows.empty()) {
                    if (number(branch.text("cuda")) < number(tag.cuda)) expected = Verdict::unknown;
                } else {
                    expected = meets(rows.front(), branch, branch.text("newest"), host_class);
                    doubts = doubts || doubtful(rows.front());
                }
                if (doubts && !rows.empty()) expected = Verdict::unknown;
                table.expect({{Field::image, tag.text},
                              {Field::driver, std::string(branch.text("newest"))},
                              {Field::host_class, host_class}},
                             expected);
            }
        }
    }
    table.finish(10'000);
}

TEST_CASE("truth table: image-tag-supported and image-has-compiler, every tag") {
    TruthTable supported("image-tag-supported"), compiler("image-has-compiler");
    const auto& facts = supported.facts();
    for (const auto& tag : tags(facts)) {
        bool has_update = false;
        for (const auto& other : facts.rows("cuda_images")) {
            has_update = has_update || (number(other.text("cuda")) == number(tag.cuda) &&
                                        naive::whole(other.text("cuda")) > naive::whole(tag.cuda) &&
                                        other.text("status") != "deleted");
        }
        const auto status = tag.row.text("status");
        auto expected = Verdict::accepted;
        if (status != "deleted" && (status == "eol" || has_update)) expected = Verdict::degraded;
        if (status != "deleted" && doubtful(tag.row)) expected = Verdict::unknown;
        supported.expect({{Field::image, tag.text}}, expected);
        compiler.expect({{Field::image, tag.text}, {Field::compiler, "gcc-11"}},
                        tag.flavour.ends_with("devel") ? Verdict::accepted : Verdict::rejected);
    }
    supported.finish(700);
    compiler.finish(700);
}

TEST_CASE("truth table: image-matches-cell, every tag beside every release") {
    TruthTable table("image-matches-cell");
    const auto& facts = table.facts();
    for (const auto& tag : tags(facts)) {
        if (tag.flavour != "base") continue;
        for (const auto& release : facts.rows("cuda_releases")) {
            const auto cuda = release.text("cuda");
            // A tag of two parts (10.2) stands for each release of its minor.
            const bool minor_only = std::count(tag.cuda.begin(), tag.cuda.end(), '.') == 1;
            const bool same = minor_only ? number(cuda) == number(tag.cuda) : cuda == tag.cuda;
            table.expect({{Field::image, tag.text}, {Field::cuda, std::string(cuda)}},
                         same ? Verdict::accepted : Verdict::rejected);
        }
    }
    table.finish(5'000);
}

TEST_CASE("truth table: kernel-module-supports-gpu, every GPU and flavour") {
    TruthTable table("kernel-module-supports-gpu");
    const auto& facts = table.facts();
    for (const auto& gpu : facts.rows("gpus")) {
        std::optional<Row> architecture;
        for (const auto& row : facts.rows("architectures")) {
            if (lists(row, "compute", gpu.text("compute"))) architecture = row;
        }
        REQUIRE(architecture);
        const auto open = gpu.has("open_kernel_module") ? gpu.text("open_kernel_module")
                                                        : architecture->text("open_kernel_module");
        for (const std::string flavour : {"open", "proprietary"}) {
            const bool refused = (open == "required" && flavour == "proprietary") ||
                                 (open == "unsupported" && flavour == "open");
            auto expected = refused ? Verdict::rejected : Verdict::accepted;
            const bool integrated = architecture->text("integrated") == "true";
            if (open.empty() && !integrated) expected = Verdict::unknown;
            if (!open.empty() && (doubtful(gpu) || doubtful(architecture))) expected = Verdict::unknown;
            const std::string name(gpu.text("name"));
            table.expect({{Field::gpu, name}, {Field::kernel_module, flavour}}, expected);
            // By hand: the first driver with open modules, and the first whose ones start every class of GPU.
            for (const std::string driver :
                 {"470.42.01", "515.43.03", "515.43.04", "545.23.05", "545.23.06"}) {
                auto with_driver = expected;
                if (expected == Verdict::accepted && flavour == "open" && !integrated) {
                    if (naive::whole(driver) < naive::whole("515.43.04"))
                        with_driver = Verdict::rejected;
                    else if (naive::whole(driver) < naive::whole("545.23.06") &&
                             gpu.text("class") != "datacenter")
                        with_driver = Verdict::degraded;
                }
                table.expect({{Field::gpu, name}, {Field::kernel_module, flavour}, {Field::driver, driver}},
                             with_driver);
            }
        }
    }
    table.finish(1'000);
}

TEST_CASE("truth table: gpu-matches-compute, every GPU with every capability") {
    TruthTable table("gpu-matches-compute");
    for (const auto& gpu : table.facts().rows("gpus")) {
        for (const auto& architecture : table.facts().rows("architectures")) {
            for (const auto compute : architecture.list("compute")) {
                auto expected = gpu.text("compute") == compute ? Verdict::accepted : Verdict::degraded;
                if (expected == Verdict::degraded && doubtful(gpu)) expected = Verdict::unknown;
                table.expect(
                    {{Field::gpu, std::string(gpu.text("name"))}, {Field::compute, std::string(compute)}},
                    expected);
            }
        }
    }
    table.finish(2'000);
}

TEST_CASE("truth table: known-defect, every release on every GPU") {
    TruthTable table("known-defect");
    const auto& facts = table.facts();
    for (const auto& release : facts.rows("cuda_releases")) {
        for (const auto& gpu : facts.rows("gpus")) {
            auto expected = Verdict::accepted;
            for (const auto& defect : facts.rows("known_defects")) {
                const auto cuda = naive::whole(release.text("cuda"));
                if (cuda < naive::whole(defect.text("first")) || cuda > naive::whole(defect.text("last")))
                    continue;
                if (defect.has("compute") && !lists(defect, "compute", gpu.text("compute"))) continue;
                expected = std::max(expected, doubtful(defect) ? Verdict::unknown : Verdict::degraded);
            }
            table.expect({{Field::cuda, std::string(release.text("cuda"))},
                          {Field::gpu, std::string(gpu.text("name"))}},
                         expected);
        }
    }
    table.finish(5'000);
}

TEST_CASE("truth table: vram-floor and mig-one-device, every GPU with every size and number") {
    TruthTable memory("vram-floor"), mig("mig-one-device");
    for (const auto& gpu : memory.facts().rows("gpus")) {
        const std::string name(gpu.text("name"));
        std::vector<int> sizes;
        for (const auto size : gpu.list("memory_gb")) {
            sizes.push_back(std::atoi(std::string(size).c_str()));
            // A size in the name is the size.
            if (name.find(fmt::format(" {}GB", size)) != name.npos) {
                sizes = {sizes.back()};
                break;
            }
        }
        for (const int wanted : {1, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 192, 288}) {
            auto expected = Verdict::unknown;
            if (!sizes.empty() && !doubtful(gpu)) {
                const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
                expected = wanted > *most    ? Verdict::rejected
                           : wanted > *least ? Verdict::degraded
                                             : Verdict::accepted;
            }
            memory.expect({{Field::gpu, name}, {Field::vram_gb, std::to_string(wanted)}}, expected);
        }
        const int most = std::atoi(std::string(gpu.text("mig_devices")).c_str());
        int others = 0, others_with_mig = 0;
        for (const auto& other : memory.facts().rows("gpus")) {
            if (other.text("name") == name || other.text("compute") != gpu.text("compute")) continue;
            ++others;
            if (other.has("mig_devices")) ++others_with_mig;
        }
        for (int devices = 1; devices < 9; ++devices) {
            auto expected = devices > most ? Verdict::rejected
                            : devices > 1  ? Verdict::degraded
                                           : Verdict::accepted;
            if (doubtful(gpu) || (most == 0 && others > 0 && others == others_with_mig))
                expected = Verdict::unknown;
            mig.expect({{Field::gpu, name}, {Field::mig, std::to_string(devices)}}, expected);
        }
    }
    memory.finish(1'000);
    mig.finish(500);
}

TEST_CASE("truth table: container-toolkit-vulnerable, every release of the toolkit") {
    TruthTable table("container-toolkit-vulnerable");
    const auto& facts = table.facts();
    for (int minor = 0; minor < 24; ++minor) {
        for (int patch = 0; patch < 10; ++patch) {
            const auto text = fmt::format("1.{}.{}", minor, patch);
            bool flawed = false, known = false;
            for (const auto& flaw : facts.rows("container_toolkit_flaws"))
                flawed = flawed || naive::whole(text) < naive::whole(flaw.text("fixed_in"));
            for (const auto& series : facts.rows("container_toolkits")) {
                known = known || (number(series.text("first")) <= 100 + minor &&
                                  100 + minor <= number(series.text("last")));
            }
            table.expect({{Field::toolkit, text}}, flawed  ? Verdict::degraded
                                                   : known ? Verdict::accepted
                                                           : Verdict::unknown);
        }
    }
    table.finish(240);
}

TEST_CASE("truth table: allocator-setting-known-to-torch, every setting with every torch") {
    TruthTable table("allocator-setting-known-to-torch");
    const auto& facts = table.facts();
    const auto within = [](const Row& setting, std::string_view torch) {
        return naive::whole(torch) >= naive::whole(setting.text("torch_first")) &&
               (!setting.has("torch_last") ||
                naive::whole(torch) <= naive::whole(setting.text("torch_last")));
    };
    for (const std::string variable : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
        const auto heeded = facts.row("setting-" + variable);
        REQUIRE(heeded);
        for (const auto& option : facts.rows("torch_settings")) {
            if (option.text("kind") != "option") continue;
            for (const auto& release : facts.rows("torch_releases")) {
                const auto torch = release.text("torch");
                auto expected = Verdict::accepted;
                if (!within(*heeded, torch)) {
                    expected = doubtful(heeded) ? Verdict::unknown : Verdict::degraded;
                } else if (!within(option, torch)) {
                    expected = doubtful(option) ? Verdict::unknown : Verdict::rejected;
                }
                const auto ask = [&](std::string_view value, Verdict verdict) {
                    table.expect(
                        {{Field::torch, fmt::format("{}+{}", torch, release.list("variants").back())},
                         {Field::env, fmt::format("{}={}:{}", variable, option.text("name"), value)}},
                        verdict);
                };
                if (!option.has("values")) {
                    ask("1", expected);
                    continue;
                }
                for (const auto value : option.list("values"))
                    ask(value, expected);
                ask("1", expected == Verdict::accepted ? Verdict::rejected : expected);
            }
        }
    }
    table.finish(1'000);
}
