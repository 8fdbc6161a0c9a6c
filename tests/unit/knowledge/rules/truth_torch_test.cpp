// Truth tables of what goes with a torch: the libraries of its wheel, the packages that need a newer one, the
// triton of other systems; and of host compilers and toolkit wheels that fail although pip or nvcc takes
// them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
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

using Parts = std::array<int, 3>;

// The three parts of a version, what is not written being `rest`.
Parts parts_of(std::string_view text, int rest) {
    Parts out{rest, rest, rest};
    const auto written = text::split(text, '.');
    for (std::size_t i = 0; i < written.size() && i < out.size(); ++i)
        out[i] = std::atoi(written[i].c_str());
    return out;
}

Parts lowest(std::string_view text) {
    return parts_of(text, 0);
}
Parts highest(std::string_view text) {
    return parts_of(text, 9'999);
}

bool serves(const Row& row, std::string_view sass, int device) {
    for (const auto code : row.list(sass)) {
        const bool exact = code.ends_with('a');  // of one capability only
        if (exact ? naive::compute(code) == device : naive::runs(naive::compute(code), device)) return true;
    }
    for (const auto code : row.list("ptx")) {
        if (naive::compute(code) <= device) return true;
    }
    return false;
}

// ">=4.29,<4.33" and "==0.18.0" by hand.
bool within(std::string_view versions, std::string_view version) {
    for (const auto& clause : text::split(versions, ',')) {
        if (clause.starts_with(">=") && lowest(version) < lowest(clause.substr(2))) return false;
        if (clause.starts_with("<") && lowest(version) >= lowest(clause.substr(1))) return false;
        if (clause.starts_with("==") && lowest(version) != lowest(clause.substr(2))) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("truth table: torch-libraries-have-code, every wheel on every GPU of desktops and servers") {
    TruthTable table("torch-libraries-have-code");
    const auto& facts = table.facts();
    std::size_t opened = 0;
    for (const auto& wheel : facts.rows("torch_wheels")) {
        if (wheel.text("arch") != "x86_64") continue;
        std::vector<Row> libraries;
        for (const auto& row : facts.rows("torch_libraries")) {
            if (row.text("torch") == wheel.text("torch") && row.text("variant") == wheel.text("variant") &&
                row.text("arch") == wheel.text("arch"))
                libraries.push_back(row);
        }
        opened += libraries.empty() ? 0 : 1;
        for (const auto device : naive::kDevices) {
            auto expected = Verdict::accepted;
            for (const auto& library : libraries) {
                if (serves(wheel, "compute", device) && !serves(library, "sass", device))
                    expected = Verdict::degraded;
            }
            table.expect({{Field::torch, fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant"))},
                          {Field::compute, naive::compute_text(device)}},
                         expected);
        }
    }
    table.finish(2'000);
    CHECK(opened > 10);
}

TEST_CASE("truth table: package-supports-torch, every release of a package with a floor and every torch") {
    TruthTable table("package-supports-torch");
    const auto& facts = table.facts();
    for (const auto& package : facts.rows("package_releases")) {
        std::vector<Row> floors;
        for (const auto& floor : facts.rows("package_torch_floors")) {
            if (floor.text("package") == package.text("package") &&
                within(floor.text("versions"), package.text("version")))
                floors.push_back(floor);
        }
        if (floors.empty()) continue;
        for (const auto& release : facts.rows("torch_releases")) {
            auto expected = Verdict::accepted;
            for (const auto& floor : floors) {
                if (floor.has("torch_versions") &&
                    !within(floor.text("torch_versions"), release.text("torch")))
                    continue;
                const auto torch = lowest(release.text("torch"));
                const bool newer = floor.has("torch_below") && torch >= lowest(floor.text("torch_below"));
                if (torch >= lowest(floor.text("torch_min")) && !newer) continue;
                const bool fails = floor.text("severity") == "error";
                expected = std::max(expected, fails ? Verdict::rejected : Verdict::degraded);
                if (doubtful(floor)) expected = Verdict::unknown;
            }
            table.expect(
                {{Field::torch, std::string(release.text("torch"))},
                 {Field::packages, fmt::format("{}={}", package.text("package"), package.text("version"))}},
                expected);
        }
    }
    table.finish(2'000);
}

TEST_CASE("truth table: triton-comes-with-torch, every release and variant on every system") {
    TruthTable table("triton-comes-with-torch");
    const auto& facts = table.facts();
    for (const auto& release : facts.rows("torch_releases")) {
        std::optional<Row> compile;
        for (const auto& row : facts.rows("torch_compile")) {
            if (row.text("torch") == release.text("torch")) compile = row;
        }
        for (const auto variant : release.list("variants")) {
            for (const auto& os : facts.rows("operating_systems")) {
                for (const bool named : {false, true}) {
                    const bool asked = compile && variant != "cpu" && os.text("wheels") == "windows";
                    const bool refuses = asked && compile->text("windows") == "false";
                    auto expected = asked && (refuses || !named) ? Verdict::degraded : Verdict::accepted;
                    if (expected == Verdict::degraded && (doubtful(compile) || doubtful(os)))
                        expected = Verdict::unknown;
                    Words words{{Field::torch, fmt::format("{}+{}", release.text("torch"), variant)},
                                {Field::os, std::string(os.text("os"))}};
                    if (named) words.emplace_back(Field::packages, "triton-windows=3.2.0");
                    table.expect(words, expected);
                }
            }
        }
    }
    table.finish(9'000);
}

TEST_CASE("truth table: compiler-known-broken, every release with every gcc, to the patch level") {
    TruthTable table("compiler-known-broken");
    const auto& facts = table.facts();
    std::vector<std::string> versions;
    for (int major = 9; major < 16; ++major) {
        versions.push_back(fmt::format("{}", major));
        for (int minor = 1; minor < 6; ++minor) {
            versions.push_back(fmt::format("{}.{}", major, minor));
            versions.push_back(fmt::format("{}.{}.0", major, minor));
        }
    }
    for (const auto& release : facts.rows("cuda_releases")) {
        const auto cuda = lowest(release.text("cuda"));
        for (const std::string arch : {"x86_64", "aarch64"}) {
            for (const auto& version : versions) {
                for (const std::string name : {"gcc", "clang"}) {
                    auto expected = Verdict::accepted;
                    for (const auto& defect : facts.rows("compiler_defects")) {
                        if (defect.text("compiler") != name ||
                            (defect.has("arch") && defect.text("arch") != arch))
                            continue;
                        if (cuda < lowest(defect.text("cuda_first")) ||
                            cuda > highest(defect.text("cuda_last")))
                            continue;
                        const auto first = lowest(defect.text("first")), last = highest(defect.text("last"));
                        if (highest(version) < first || lowest(version) > last) continue;
                        const bool all = lowest(version) >= first && highest(version) <= last;
                        const bool fails = defect.text("effect") == "fails";
                        if (!all && !fails) continue;
                        auto here = all && fails ? Verdict::rejected : Verdict::degraded;
                        if (doubtful(defect)) here = Verdict::unknown;
                        expected = std::max(expected, here);
                    }
                    table.expect({{Field::cuda, std::string(release.text("cuda"))},
                                  {Field::arch, arch},
                                  {Field::compiler, fmt::format("{}-{}", name, version)}},
                                 expected);
                }
            }
        }
    }
    table.finish(15'000);
}

TEST_CASE("truth table: toolkit-wheels-one-release, every nvcc with every nvvm and crt") {
    TruthTable table("toolkit-wheels-one-release");
    std::vector<std::string> builds;
    for (const auto& row : table.facts().rows("package_releases")) {
        if (row.text("package") == "nvidia-cuda-nvcc") builds.emplace_back(row.text("version"));
    }
    REQUIRE(builds.size() > 5);
    const auto newest =
        *std::max_element(builds.begin(), builds.end(),
                          [](const std::string& a, const std::string& b) { return lowest(a) < lowest(b); });
    auto others = builds;
    others.emplace_back();  // left to pip, which takes the newest
    for (const auto& nvcc : builds) {
        for (const auto& nvvm : others) {
            for (const auto& crt : others) {
                std::string packages = "nvidia-cuda-nvcc=" + nvcc;
                if (!nvvm.empty()) packages += ",nvidia-nvvm=" + nvvm;
                if (!crt.empty()) packages += ",nvidia-cuda-crt=" + crt;
                const bool open = (nvvm.empty() || crt.empty()) && nvcc != newest;
                const bool mixed = (!nvvm.empty() && nvvm != nvcc) || (!crt.empty() && crt != nvcc);
                table.expect({{Field::packages, packages}}, mixed  ? Verdict::rejected
                                                            : open ? Verdict::degraded
                                                                   : Verdict::accepted);
            }
        }
    }
    table.finish(1'000);
}
