// Packages whose wheels for a system or a processor are built without CUDA, while others of theirs use it.
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

bool is_about(const Row& row, const Package& package, const Machine& machine) {
    return describes(row, package.name, *package.version) && lookup::is_about_system(row, machine.system) &&
           contains(row.list("arches"), machine.arch);
}

void judge_package(Ask& ask, const Package& package, const Machine& machine, const Row& row) {
    ask.question({Field::packages, machine.field()},
                 fmt::format("whether {} uses the GPU on {}", package.text, machine.text), package.name);
    if (!is_about(row, package, machine)) {
        ask.affirm("{} is not known to be built without CUDA on {}", package.text, machine.text);
        return ask.record_pass(row);
    }
    auto answer = ask.degrade("{} is built without CUDA on {}: {}", package.text, machine.text,
                              row.text("consequence"));
    answer.because(row.ref());
    if (machine.os) answer.because(machine.os->ref());
    answer.accepted_release(package.name);
    if (machine.is_glibc()) return;
    answer.accepted_other(Field::os);
}

void judge_package_uses_gpu(Ask& ask) {
    const auto machine = machine_of(ask);
    for (const auto& package : packages_of(ask)) {
        if (!package.version) continue;
        for (const auto& row : ask.facts.rows("package_cpu_only")) {
            if (row.text("package") == package.name) judge_package(ask, package, machine, row);
        }
    }
}

}  // namespace

Rule package_uses_gpu() {
    return {
        .id = "package-uses-gpu",
        .stage = Stage::runtime,
        .summary = "Packages that can use a GPU have wheels built with CUDA for the machine.",
        .why =
            "The wheels of one release differ by system and processor, and those for Windows or aarch64 may "
            "be built without CUDA. pip installs them without a word, and everything runs on the CPU.",
        .fails = "os: windows, gpu: RTX 3080, packages: {tensorflow: 2.11.0}",
        .passes = "os: windows, gpu: RTX 3080, packages: {tensorflow: 2.10.1}",
        .reads = {Field::packages, Field::os, Field::arch, Field::gpu, Field::compute, Field::cuda,
                  Field::family, Field::flavour, Field::image, Field::python},
        .needs = {{Field::packages}, {Field::gpu, Field::compute, Field::cuda}},
        .judge = judge_package_uses_gpu};
}

}  // namespace cudamatrix::rules
