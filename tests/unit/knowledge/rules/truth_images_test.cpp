// Truth tables of what images bring: the CUDA and the nvcc that a tag names, a managed python, a C compiler,
// and what the variables of a container let in.
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
    std::string text, cuda, os;
    bool devel = false;
};

// Every tag of nvidia/cuda that the rows name.
std::vector<Tag> cuda_tags(const Facts& facts) {
    std::vector<Tag> out;
    for (const auto& row : facts.rows("cuda_images")) {
        for (const auto os : row.list("os")) {
            for (const auto flavour : row.list("flavours")) {
                out.push_back({fmt::format("nvidia/cuda:{}-{}-{}", row.text("cuda"), flavour, os),
                               std::string(row.text("cuda")), std::string(os), flavour.ends_with("devel")});
            }
        }
    }
    return out;
}

struct PytorchImage {
    std::string text, torch, cuda, flavour;
    Row row;
};

std::vector<PytorchImage> pytorch_images(const Facts& facts) {
    std::vector<PytorchImage> out;
    for (const auto& row : facts.rows("pytorch_images")) {
        for (const auto cuda : row.list("cuda")) {
            for (const std::string flavour : {"runtime", "devel"}) {
                const std::string torch(row.text("torch")), minor(cuda);
                out.push_back({fmt::format("pytorch/pytorch:{}-cuda{}-cudnn{}-{}", torch, minor,
                                           row.text("cudnn"), flavour),
                               torch, minor, flavour, row});
            }
        }
    }
    return out;
}

std::optional<Row> toolkit_of(const Facts& facts, std::string_view cuda) {
    for (const auto& toolkit : facts.rows("cuda_toolkits")) {
        if (number(toolkit.text("cuda")) == number(cuda)) return toolkit;
    }
    return std::nullopt;
}

// Whether nvcc of the toolkit makes code for a GPU of desktops or servers: its own, that of an earlier minor.
Verdict compiles(const Row& toolkit, int device) {
    bool near = false;
    for (const auto target : toolkit.list("targets")) {
        if (target == naive::compute_text(device))
            return doubtful(toolkit) ? Verdict::unknown : Verdict::accepted;
        if (target.find_first_of("af") == target.npos)
            near = near || naive::runs(naive::compute(target), device);
    }
    if (doubtful(toolkit)) return Verdict::unknown;
    return near ? Verdict::degraded : Verdict::rejected;
}

// The oldest driver of a major of CUDA, from what is generally known.
long long least_driver(std::string_view cuda) {
    switch (number(cuda) / 100) {
        case 11:
            return naive::whole("450.80.02");
        case 12:
            return naive::whole("525.60.13");
        case 13:
            return naive::whole("580.65.06");
        default:
            return 0;
    }
}

}  // namespace

TEST_CASE("truth table: image-content-builds, every image on every GPU of desktops and servers") {
    TruthTable table("image-content-builds");
    const auto& facts = table.facts();
    std::vector<Tag> tags = cuda_tags(facts);
    for (const auto& image : pytorch_images(facts))
        tags.push_back({image.text, image.cuda, "", image.flavour == "devel"});
    for (const auto& tag : tags) {
        const auto toolkit = toolkit_of(facts, tag.cuda);
        REQUIRE(toolkit);
        for (const auto device : naive::kDevices) {
            const Words words{{Field::image, tag.text}, {Field::compute, naive::compute_text(device)}};
            table.expect(words, tag.devel ? compiles(*toolkit, device) : Verdict::accepted);
            auto named = words;
            named.emplace_back(Field::cuda, tag.cuda);
            table.expect(named, Verdict::accepted);  // then the cell's CUDA is judged
        }
    }
    table.finish(20'000);
}

TEST_CASE("truth table: image-content-runs, every image of nvidia/cuda on every branch") {
    TruthTable table("image-content-runs");
    const auto& facts = table.facts();
    for (const auto& tag : cuda_tags(facts)) {
        if (!tag.devel || number(tag.cuda) < 1101) continue;  // CUDA 11.0 has a minimum of its own
        for (const auto& branch : facts.rows("driver_branches")) {
            if (!branch.has("cuda") || !branch.has("newest") || doubtful(branch)) continue;
            auto expected = Verdict::accepted;
            if (naive::whole(branch.text("newest")) < least_driver(tag.cuda))
                expected = Verdict::rejected;
            else if (number(branch.text("cuda")) < number(tag.cuda))
                expected = Verdict::degraded;
            table.expect({{Field::image, tag.text}, {Field::driver, std::string(branch.text("newest"))}},
                         expected);
        }
    }
    table.finish(5'000);
}

TEST_CASE("truth table: image-content-runs, every image of pytorch/pytorch on every GPU") {
    TruthTable table("image-content-runs");
    const auto& facts = table.facts();
    for (const auto& image : pytorch_images(facts)) {
        std::optional<Row> wheel;
        const auto variant = "cu" + text::replace_all(image.cuda, ".", "");
        for (const auto& row : facts.rows("torch_wheels")) {
            if (row.text("torch") == image.torch && row.text("variant") == variant &&
                row.text("arch") == "x86_64")
                wheel = row;
        }
        if (!wheel || !wheel->has("compute") || !wheel->has("ptx")) continue;
        for (const auto device : naive::kDevices) {
            auto expected = Verdict::rejected;
            for (const auto ptx : wheel->list("ptx")) {
                if (naive::compute(ptx) <= device) expected = Verdict::degraded;
            }
            for (const auto sass : wheel->list("compute")) {
                if (naive::runs(naive::compute(sass), device)) expected = Verdict::accepted;
            }
            if (doubtful(wheel)) expected = Verdict::unknown;
            table.expect({{Field::image, image.text}, {Field::compute, naive::compute_text(device)}},
                         expected);
        }
    }
    table.finish(500);
}

TEST_CASE("truth table: pip-installs-into-image, every image with torch, packages and the switch") {
    TruthTable table("pip-installs-into-image");
    const auto& facts = table.facts();
    struct Case {
        std::string image;
        bool managed, brings_torch;
    };
    std::vector<Case> cases;
    for (const auto& tag : cuda_tags(facts)) {
        bool managed = false;
        for (const auto& os : facts.rows("operating_systems"))
            managed = managed || (os.text("os") == tag.os && os.text("externally_managed") == "true");
        cases.push_back({tag.text, managed, false});
    }
    for (const auto& image : pytorch_images(facts))
        cases.push_back({image.text, image.row.text("externally_managed") == "true", true});
    for (const auto& each : cases) {
        for (int what = 1; what < 16; ++what) {
            const bool torch = what % 2 != 0, packages = what / 2 % 2 != 0, on = what / 4 % 2 != 0,
                       pinned = what / 8 != 0;
            if (!torch && !packages) continue;
            Words words{{Field::image, each.image + (pinned ? "@sha256:" + std::string(64, 'a') : "")}};
            if (torch) words.emplace_back(Field::torch, "2.6.0+cu124");
            if (packages) words.emplace_back(Field::packages, "timm=1.0.9");
            if (on) words.emplace_back(Field::env, "PIP_BREAK_SYSTEM_PACKAGES=1");
            const bool installs = packages || !each.brings_torch;
            table.expect(words,
                         each.managed && installs && !on && !pinned ? Verdict::degraded : Verdict::accepted);
        }
    }
    table.finish(10'000);
}

TEST_CASE("truth table: torch-compile-has-c-compiler, every image with every default torch") {
    TruthTable table("torch-compile-has-c-compiler");
    const auto& facts = table.facts();
    const auto has_compile = [&](std::string_view torch) {
        const auto rows = facts.rows("torch_compile");
        return std::any_of(rows.begin(), rows.end(),
                           [&](const Row& row) { return row.text("torch") == torch; });
    };
    for (const auto& tag : cuda_tags(facts)) {
        if (tag.os != "ubuntu22.04") continue;  // the distribution has no part in it
        for (const auto& release : facts.rows("torch_releases")) {
            for (const auto variant : release.list("variants")) {
                const bool compiles = variant != "cpu" && has_compile(release.text("torch"));
                table.expect({{Field::image, tag.text},
                              {Field::torch, fmt::format("{}+{}", release.text("torch"), variant)}},
                             compiles && !tag.devel ? Verdict::degraded : Verdict::accepted);
            }
        }
    }
    for (const auto& image : pytorch_images(facts)) {
        const bool old = naive::whole(image.torch) < naive::whole("2.10.0");
        table.expect({{Field::image, image.text}},
                     old && image.flavour == "runtime" && has_compile(image.torch) ? Verdict::degraded
                                                                                   : Verdict::accepted);
    }
    table.finish(20'000);
}

TEST_CASE("truth table: driver-capabilities, lists of capabilities, devices and container toolkits") {
    TruthTable table("driver-capabilities");
    const std::vector<std::string> words{"compute", "utility", "video", "graphics", "all"};
    for (std::size_t set = 1; set < 1u << words.size(); ++set) {
        std::string given;
        bool enough = false;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if ((set >> i & 1u) == 0) continue;
            given += (given.empty() ? "" : ",") + words[i];
            enough = enough || words[i] == "compute" || words[i] == "all";
        }
        for (const std::string devices : {"", "all", "0", "0,1", "none", "void"}) {
            // From 1.18.0 on the nvidia runtime makes its own description and does not heed the variable.
            for (const std::string toolkit : {"", "1.13.5", "1.17.8", "1.18.0"}) {
                auto expected =
                    devices == "none" || devices == "void" ? Verdict::degraded : Verdict::accepted;
                if (!enough) expected = toolkit == "1.18.0" ? Verdict::degraded : Verdict::rejected;
                Words cell{{Field::env, "NVIDIA_DRIVER_CAPABILITIES=" + given +
                                            (devices.empty() ? "" : ",NVIDIA_VISIBLE_DEVICES=" + devices)}};
                if (!toolkit.empty()) cell.emplace_back(Field::toolkit, toolkit);
                table.expect(cell, expected);
            }
        }
    }
    table.finish(700);
}
