// Truth tables of Python packages: demands on torch, wheels, GPUs, CUDA majors, numpy, and triton.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "truth_table.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;
using naive::doubtful;
using naive::lists;
using naive::number;

namespace {

std::string pin(const Row& release) {
    return fmt::format("{}={}", release.text("package"), release.text("version"));
}

// Whether a wheel of this tag serves python 3.`minor`: cp312, cp313t, cp39-abi3, cp315-abi3t, py3, py39.
bool serves(const std::string& tag, int minor, bool free_threaded) {
    const int from = std::atoi(tag.c_str() + 3);
    if (tag.starts_with("py")) return from <= minor;
    if (tag.find("-abi3") != std::string::npos) return from <= minor && tag.ends_with('t') == free_threaded;
    return from == minor && tag.ends_with('t') == free_threaded;
}

// Of a release on a machine: rows may list other tags for aarch64.
std::vector<std::string> tags(const Row& release, const std::string& arch) {
    const bool own = arch == "aarch64" && release.has("abi_aarch64");
    const auto list = release.list(own ? "abi_aarch64" : "abi");
    return {list.begin(), list.end()};
}

bool admits(std::string_view clauses, std::string_view version) {
    return pep440::Specifiers::parse(clauses)->admits(*pep440::Version::parse(version));
}

}  // namespace

TEST_CASE("truth table: package-has-wheel and package-supports-python, every release, machine and python") {
    TruthTable has("package-has-wheel"), python_table("package-supports-python");
    const auto& facts = has.facts();
    for (const auto& release : facts.rows("package_releases")) {
        if (release.text("package") == "torch") continue;  // a field of its own
        const bool source = release.text("sdist") == "true";
        const auto missing = doubtful(release) ? Verdict::unknown
                             : source          ? Verdict::degraded
                                               : Verdict::rejected;
        for (const std::string arch : {"x86_64", "aarch64"}) {
            const auto wheels = tags(release, arch);
            const Words words{{Field::packages, pin(release)}, {Field::arch, arch}};
            has.expect(words, release.has("abi") && wheels.empty() ? missing : Verdict::accepted);
            for (const auto& [python, minor, free_threaded] : {std::tuple("3.8", 8, false),
                                                               {"3.10", 10, false},
                                                               {"3.12", 12, false},
                                                               {"3.13", 13, false},
                                                               {"3.13t", 13, true},
                                                               {"3.14", 14, false}}) {
                const bool one =
                    std::any_of(wheels.begin(), wheels.end(),
                                [&, &minor = minor, &free_threaded = free_threaded](const auto& tag) {
                                    return serves(tag, minor, free_threaded);
                                });
                auto expected = wheels.empty() || one ? Verdict::accepted : missing;
                // A bare minor is its newest patch release.
                if (release.has("requires_python") &&
                    !admits(release.text("requires_python"), fmt::format("3.{}.99", minor)))
                    expected = doubtful(release) ? Verdict::unknown : Verdict::rejected;
                auto with_python = words;
                with_python.emplace_back(Field::python, python);
                python_table.expect(with_python, expected);
            }
        }
    }
    has.finish(5'000);
    python_table.finish(30'000);
}

TEST_CASE("truth table: package-has-wheel and package-supports-python, every release on other systems") {
    TruthTable has("package-has-wheel"), python_table("package-supports-python");
    const auto& facts = has.facts();
    for (const auto& release : facts.rows("package_releases")) {
        if (release.text("package") == "torch") continue;
        const auto missing = release.text("sdist") == "true" ? Verdict::degraded : Verdict::rejected;
        for (const auto& [os, system] :
             {std::pair("windows", "windows"), {"macos", "macos"}, {"alpine3.20", "musl"}}) {
            const Words words{{Field::packages, pin(release)}, {Field::os, os}};
            const bool there = lists(release, "platforms", system);
            // The source of vllm is for Linux, which the table package_sources says.
            if (release.text("package") != "vllm" || std::string_view(system) != "windows")
                has.expect(words, !release.has("abi") || there ? Verdict::accepted
                                  : doubtful(release)          ? Verdict::unknown
                                                               : missing);
            const auto own = fmt::format("abi_{}", system);
            const auto list = release.list(release.has(own) ? std::string_view(own) : "abi");
            for (const auto& [python, minor] : {std::pair("3.8", 8), {"3.11", 11}, {"3.13", 13}}) {
                const bool serves_it = std::any_of(
                    list.begin(), list.end(),
                    [&, &minor = minor](const auto tag) { return serves(std::string(tag), minor, false); });
                auto expected = !there || serves_it ? Verdict::accepted : missing;
                if (release.has("requires_python") &&
                    !admits(release.text("requires_python"), fmt::format("3.{}.99", minor)))
                    expected = Verdict::rejected;
                if (expected != Verdict::accepted && doubtful(release)) expected = Verdict::unknown;
                auto with_python = words;
                with_python.emplace_back(Field::python, python);
                python_table.expect(with_python, expected);
            }
        }
    }
    has.finish(8'000);
    python_table.finish(25'000);
}

TEST_CASE("truth table: packages-run-together, every release of each pair with every release of the other") {
    TruthTable table("packages-run-together");
    const auto& facts = table.facts();
    for (const auto& row : facts.rows("package_pairs")) {
        for (const auto& release : facts.rows("package_releases")) {
            if (release.text("package") != row.text("package")) continue;
            for (const auto& other : facts.rows("package_releases")) {
                if (other.text("package") != row.text("other")) continue;
                auto expected = Verdict::accepted;
                for (const auto& pair : facts.rows("package_pairs")) {
                    if (pair.text("package") != row.text("package") ||
                        pair.text("other") != row.text("other") ||
                        !admits(pair.text("versions"), release.text("version")) ||
                        !admits(pair.text("other_versions"), other.text("version")))
                        continue;
                    expected = std::max(expected, doubtful(pair)                     ? Verdict::unknown
                                                  : pair.text("severity") == "error" ? Verdict::rejected
                                                                                     : Verdict::degraded);
                }
                table.expect({{Field::packages, pin(release) + "," + pin(other)}}, expected);
            }
        }
    }
    table.finish(40'000);
}

TEST_CASE(
    "truth table: package-wheel-fits-image, every release with makers' wheels in every image of NVIDIA's") {
    TruthTable table("package-wheel-fits-image");
    const auto& facts = table.facts();
    for (const auto& wheels : facts.rows("package_makers_wheels")) {
        for (const auto& release : facts.rows("package_releases")) {
            if (release.text("package") != wheels.text("package") ||
                !admits(wheels.text("versions"), release.text("version")))
                continue;
            for (const auto& image : facts.rows("ngc_images")) {
                const auto python = image.text("python");
                const bool compiled = !python.empty() && !naive::lists(wheels, "pythons", python);
                const auto torch = image.text("torch");
                auto expected = Verdict::accepted;
                if (!compiled) {
                    if (torch.empty()) expected = Verdict::unknown;
                    for (const auto with : wheels.list("torch")) {
                        if (!torch.empty() && naive::number(with) == naive::number(torch))
                            expected = Verdict::unknown;
                    }
                }
                if (expected == Verdict::unknown && !torch.empty()) {
                    for (const auto& row : facts.rows("package_images")) {
                        if (row.text("package") == release.text("package") &&
                            admits(row.text("versions"), release.text("version")) &&
                            naive::lists(row, "images", image.text("tag")))
                            expected = row.text("works") == "true" ? Verdict::accepted : Verdict::rejected;
                    }
                }
                table.expect({{Field::image, fmt::format("nvcr.io/nvidia/pytorch:{}", image.text("tag"))},
                              {Field::packages, pin(release)}},
                             expected);
            }
        }
    }
    table.finish(5'000);
}

TEST_CASE(
    "truth table: packages-agree, every exact demand on torch with every build that is not the default") {
    TruthTable table("packages-agree");
    const auto& facts = table.facts();
    const std::set<std::string_view> sisters{"torchvision", "torchaudio", "torchtext", "torchdata"};
    constexpr std::string_view exactly = "torch ==";
    for (const auto& release : facts.rows("package_releases")) {
        if (sisters.contains(release.text("package"))) continue;
        for (const auto demand : release.list("requires")) {
            const auto wanted = demand.substr(std::min(exactly.size(), demand.size()));
            if (!demand.starts_with(exactly) || wanted.find_first_not_of("0123456789.") != wanted.npos)
                continue;
            for (const auto& wheel : facts.rows("torch_wheels")) {
                if (wheel.text("arch") != "x86_64" || wheel.text("default_index") == "true") continue;
                auto expected = naive::whole(wanted) == naive::whole(wheel.text("torch")) ? Verdict::accepted
                                                                                          : Verdict::rejected;
                if (expected == Verdict::rejected && doubtful(release)) expected = Verdict::unknown;
                table.expect(
                    {{Field::torch, fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant"))},
                     {Field::packages, pin(release)}},
                    expected);
            }
        }
    }
    table.finish(10'000);
}

TEST_CASE(
    "truth table: package-supports-gpu, every release of the packages with floors on every capability") {
    TruthTable table("package-supports-gpu");
    const auto& facts = table.facts();
    for (const auto& release : facts.rows("package_releases")) {
        std::vector<Row> floors;
        bool named = false;
        for (const auto& row : facts.rows("package_gpu_floors")) {
            if (row.text("package") != release.text("package")) continue;
            named = true;
            if (admits(row.text("versions"), release.text("version"))) floors.push_back(row);
        }
        if (!named) continue;
        for (const auto device : naive::kDevices) {
            auto expected = floors.empty() ? Verdict::unknown : Verdict::accepted;
            for (const auto& row : floors) {
                // Without a torch in the cell its CUDA is open.
                if (row.has("torch_cuda") || device >= naive::compute(row.text("compute_min"))) continue;
                expected = std::max(expected, doubtful(row)                     ? Verdict::unknown
                                              : row.text("severity") == "error" ? Verdict::rejected
                                                                                : Verdict::degraded);
            }
            table.expect({{Field::compute, naive::compute_text(device)}, {Field::packages, pin(release)}},
                         expected);
        }
    }
    table.finish(1'900);
}

TEST_CASE(
    "truth table: package-cuda-matches-torch, every release of the packages with one torch of each CUDA") {
    TruthTable table("package-cuda-matches-torch");
    const auto& facts = table.facts();
    const std::tuple<std::string, int, std::string> torches[] = {{"1.12.1+cu102", 10, "10.2"},
                                                                 {"2.6.0+cu118", 11, "11.8"},
                                                                 {"2.6.0+cu124", 12, "12.4"},
                                                                 {"2.11.0+cu130", 13, "13.0"},
                                                                 {"2.6.0+cpu", 0, ""}};
    for (const auto& release : facts.rows("package_releases")) {
        for (const auto& row : facts.rows("package_cuda")) {
            if (row.text("package") != release.text("package") ||
                !admits(row.text("versions"), release.text("version")))
                continue;
            const int major = std::atoi(std::string(row.text("cuda_major")).c_str());
            const auto minors = row.list("cuda_minors");
            const bool picks = row.has("cuda_minors");                // among libraries of its own
            const auto least = Version::parse(row.text("cuda_min"));  // compiled while it is installed
            REQUIRE(((!picks && !least) || row.text("needs_torch") == "true"));
            for (const auto& [torch, cuda, minor] : torches) {
                for (const auto& [image, image_major] :
                     {std::pair("", 0), {"11.8.0", 11}, {"12.4.1", 12}, {"13.0.2", 13}}) {
                    const bool needs_torch = row.text("needs_torch") == "true";
                    const bool nothing = cuda == 0 && (needs_torch || image_major == 0);
                    const bool of_torch =
                        least   ? cuda != 0 && *Version::parse(minor) >= *least
                        : picks ? std::find(minors.begin(), minors.end(), minor) != minors.end()
                        : row.has("cuda_majors") ? lists(row, "cuda_majors", std::to_string(cuda))
                                                 : cuda == major;
                    const bool there = nothing || of_torch || (!needs_torch && image_major == major);
                    auto expected = Verdict::accepted;
                    if (!there) {
                        // The image may have it where the cell does not name its CUDA.
                        const bool open = !needs_torch && image_major == 0;
                        expected = doubtful(row)                              ? Verdict::unknown
                                   : !open && row.text("severity") == "error" ? Verdict::rejected
                                                                              : Verdict::degraded;
                    }
                    Words words{{Field::torch, torch}, {Field::packages, pin(release)}};
                    if (image_major != 0) words.emplace_back(Field::cuda, image);
                    table.expect(words, expected);
                }
            }
        }
    }
    table.finish(1'900);
}

TEST_CASE("truth table: numpy-abi, every release of the packages with every numpy") {
    TruthTable table("numpy-abi");
    const auto& facts = table.facts();
    std::vector<std::string> numpies;
    for (const auto& release : facts.rows("package_releases")) {
        if (release.text("package") == "numpy") numpies.emplace_back(release.text("version"));
    }
    for (const auto& row : facts.rows("package_numpy_abi")) {
        for (const auto& release : facts.rows("package_releases")) {
            if (release.text("package") != row.text("package") || release.text("package") == "torch")
                continue;
            for (const auto& numpy : numpies) {
                auto expected = Verdict::accepted;
                for (const auto& other : facts.rows("package_numpy_abi")) {
                    if (other.text("package") != release.text("package") ||
                        !admits(other.text("versions"), release.text("version")) ||
                        !admits(other.text("numpy"), numpy))
                        continue;
                    expected = std::max(expected, doubtful(other)                     ? Verdict::unknown
                                                  : other.text("severity") == "error" ? Verdict::rejected
                                                                                      : Verdict::degraded);
                }
                table.expect({{Field::packages, pin(release) + ",numpy=" + numpy}}, expected);
            }
        }
    }
    table.finish(1'900);
}

TEST_CASE("truth table: triton-matches-torch, every torch with every triton") {
    TruthTable table("triton-matches-torch");
    const auto& facts = table.facts();
    for (const auto& torch : facts.rows("torch_compile")) {
        for (const auto& triton : facts.rows("triton_releases")) {
            auto expected = number(torch.text("triton")) == number(triton.text("triton")) ? Verdict::accepted
                                                                                          : Verdict::degraded;
            if (doubtful(torch)) expected = Verdict::unknown;
            table.expect({{Field::torch, std::string(torch.text("torch"))},
                          {Field::packages, fmt::format("triton={}", triton.text("triton"))}},
                         expected);
        }
    }
    table.finish(500);
}

TEST_CASE("truth table: triton-supports-gpu, every build of torch on every capability") {
    TruthTable table("triton-supports-gpu");
    const auto& facts = table.facts();
    for (const auto& wheel : facts.rows("torch_wheels")) {
        if (wheel.text("arch") != "x86_64" || wheel.text("variant") == "cpu") continue;
        const auto compile = facts.row(fmt::format("torch-compile-{}", wheel.text("torch")));
        const auto triton =
            compile ? facts.row(fmt::format("triton-{}", compile->text("triton"))) : std::nullopt;
        for (const auto device : naive::kDevices) {
            auto expected = Verdict::accepted;
            if (!compile && number(wheel.text("torch")) < 200) {
                // There is no torch.compile.
            } else if (!triton || doubtful(compile)) {
                expected = Verdict::unknown;
            } else if (device < naive::compute(compile->text("gpu_min"))) {
                expected = Verdict::degraded;
            } else if (doubtful(triton)) {
                expected = Verdict::unknown;
            } else if (!naive::lists(*triton, "targets", naive::compute_text(device))) {
                expected = Verdict::degraded;
            }
            table.expect({{Field::torch, fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant"))},
                          {Field::compute, naive::compute_text(device)}},
                         expected);
        }
    }
    table.finish(1'900);
}

TEST_CASE("truth table: triton-runs-on-driver, every triton on every branch with an old and two new GPUs") {
    TruthTable table("triton-runs-on-driver");
    const auto& facts = table.facts();
    for (const auto& triton : facts.rows("triton_releases")) {
        for (const auto& branch : facts.rows("driver_branches")) {
            if (!branch.has("cuda")) continue;
            for (const int device : {80, 100, 120}) {
                const bool second =
                    triton.has("blackwell_from") && device >= naive::compute(triton.text("blackwell_from"));
                const auto ptxas = triton.text(second ? "ptxas_blackwell" : "ptxas");
                auto expected = Verdict::accepted;
                if (!ptxas.empty()) {
                    const bool newer = number(ptxas) / 100 > number(branch.text("cuda")) / 100;
                    expected = doubtful(triton) || doubtful(branch) ? Verdict::unknown
                               : newer                              ? Verdict::degraded
                                                                    : Verdict::accepted;
                }
                table.expect({{Field::packages, fmt::format("triton={}", triton.text("triton"))},
                              {Field::driver, std::string(branch.text("branch"))},
                              {Field::compute, naive::compute_text(device)}},
                             expected);
            }
        }
    }
    table.finish(1'000);
}
