// --override and --host: what becomes of a matrix, and what is said.
#include "commands/common.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "fakes/hosts.hpp"
#include "matrix/matrix_file.hpp"
#include "run/host/host.hpp"

using namespace cudamatrix;

namespace {

Matrix read(std::string_view text) {
    auto matrix = read_matrix_text(text, "m.yaml");
    REQUIRE(matrix);
    return *std::move(matrix);
}

probe::Host host_named(std::string_view name) {
    return probe::look_at(fakes::Host::named(name).machine());
}

std::string ids(const Matrix& matrix) {
    std::string out;
    for_each_cell(matrix, [&](const Cell& cell) {
        out += cell_id(matrix, cell) + "\n";
        return true;
    });
    return out;
}

// What was found and used, and the cells; or the failure.
std::string on(std::string_view name, std::string_view text) {
    const auto matrix = read(text);
    const auto changed = on_machine(matrix, host_named(name), Facts::embedded());
    if (!changed.ok()) {
        std::string out = fmt::format("exit {}\n", static_cast<int>(changed.failure().code));
        for (const auto& diagnostic : changed.failure().diagnostics)
            out += render(diagnostic, {});
        return out;
    }
    std::string out;
    for (const auto& line : changed->info.lines) {
        out += fmt::format("{}{}: {}\n", line.used ? "" : "not ", line.what,
                           line.value.empty() ? line.from : line.value);
    }
    for (const auto& note : changed->info.notes)
        out += "note: " + note + "\n";
    return out + ids(changed->matrix);
}

std::string refusal(std::string_view option) {
    const auto matrix = read("version: 1\naxes: {driver: [\"470\"]}\n");
    const auto changed = overridden(matrix, option);
    REQUIRE_FALSE(changed.ok());
    CHECK(changed.failure().code == ExitCode::bad_input);
    return render(changed.failure().diagnostics.front(), {});
}

constexpr std::string_view kMatrix =
    "version: 1\naxes: {driver: [\"470\", \"570\"], gpu: [V100, H100], cuda: [\"11.8.0\", \"12.4.1\"]}\nset: "
    "{os: debian12}\n";

}  // namespace

TEST_CASE("--override: what is refused, and how") {
    CHECK(refusal("driver") ==
          "cudamatrix: error: --override driver: expected FIELD=VALUE\n"
          "  fix: write for example --override driver=580\n");
    CHECK(refusal("=580") ==
          "cudamatrix: error: --override =580: expected FIELD=VALUE\n"
          "  fix: write for example --override driver=580\n");
    CHECK(refusal("drivr=580") ==
          "cudamatrix: error: --override drivr=580: unknown field \"drivr\"\n"
          "  fix: did you mean driver?\n");
    CHECK(refusal("colour=red").find("use one of: driver, gpu, compute") != std::string::npos);
    CHECK(refusal("driver=new") ==
          "--override driver=new: error: invalid driver \"new\": expected a version (550.54.15) or a branch "
          "(570)\n");
    CHECK(refusal("arch=amd64").find("fix: write x86_64") != std::string::npos);
    CHECK(refusal("driver=\x1b[31m").find('\x1b') == std::string::npos);
    CHECK(refusal("env=LD_PRELOAD=x").find("LD_PRELOAD decides which code runs") != std::string::npos);
}

TEST_CASE("--override: a list, a map, a field that the file does not say") {
    const auto matrix = read("version: 1\naxes: {driver: [\"470\", \"570\"]}\n");
    CHECK(ids(*overridden(matrix, "packages=timm=0.6.13,transformers=4.27.4")) ==
          "drv470-pkgtimm_0.6.13_transformers_4.27.4\ndrv570-pkgtimm_0.6.13_transformers_4.27.4\n");
    CHECK(ids(*overridden(matrix, "driver=580.65.06")) == "drv580.65.06\n");
}

TEST_CASE("--host: every GPU of the machine, and what else it has") {
    CHECK(on("several-gpus", kMatrix) ==
          "driver: 535.183.01\n"
          "gpu: 2 x A100 80GB, Tesla T4\n"
          "kernel_module: proprietary\n"
          "toolkit: 1.17.8\n"
          "arch: x86_64\n"
          "not os: ubuntu22.04\n"
          "not glibc: 2.36\n"
          "drv535.183.01-a10080gb-cu11.8.0-debian12-x86_64-kmproprietary-ctk1.17.8\n"
          "drv535.183.01-teslat4-cu11.8.0-debian12-x86_64-kmproprietary-ctk1.17.8\n"
          "drv535.183.01-a10080gb-cu12.4.1-debian12-x86_64-kmproprietary-ctk1.17.8\n"
          "drv535.183.01-teslat4-cu12.4.1-debian12-x86_64-kmproprietary-ctk1.17.8\n");
}

TEST_CASE("--host: a fleet pairs no driver of one machine with a GPU of another") {
    const std::string matrix = "version: 1\naxes: {torch: [2.6.0+cu124]}\n";
    const auto named = [](const char* name) {
        return probe::NamedHost{std::string(name) + ".json", host_named(name)};
    };
    const auto said = [&](const std::vector<probe::NamedHost>& hosts) {
        const auto changed = on_machines(read(matrix), hosts, Facts::embedded());
        if (!changed.ok()) return render(changed.failure().diagnostics.front(), {});
        auto out = changed->info.who + "\n";
        for (const auto& line : changed->info.lines)
            out += fmt::format("{}: {}\n", line.what, line.value.empty() ? line.from : line.value);
        for (const auto& note : changed->info.notes)
            out += "note: " + note + "\n";
        return out + ids(changed->matrix);
    };
    CHECK(
        said({named("several-gpus"), named("mig-on"), named("nothing")}) ==
        "2 machines\n"
        "driver: 535.183.01 (several-gpus.json), 550.54.15 (mig-on.json)\n"
        "gpu: 2 x A100 80GB (several-gpus.json), Tesla T4 (several-gpus.json), H100 SXM with MIG on "
        "(mig-on.json)\n"
        "kernel_module: mig-on.json: /proc/driver/nvidia/version cannot be read: no driver is loaded, or it "
        "does not show itself here\n"
        "toolkit: mig-on.json: nvidia-ctk is not on PATH; nvidia-container-cli is not on PATH\n"
        "arch: x86_64 (several-gpus.json, mig-on.json)\n"
        "os: ubuntu22.04 (several-gpus.json, mig-on.json)\n"
        "glibc: 2.36 (several-gpus.json, mig-on.json)\n"
        "note: nothing.json is left out: it shows neither a driver nor a GPU\n"
        "note: MIG mode is on for some GPUs only: it is not judged\n"
        "drv535.183.01-a10080gb-torch2.6.0_cu124-ubuntu22.04-x86_64-glibc2.36\n"
        "drv535.183.01-teslat4-torch2.6.0_cu124-ubuntu22.04-x86_64-glibc2.36\n"
        "drv550.54.15-h100sxm-torch2.6.0_cu124-ubuntu22.04-x86_64-glibc2.36\n");
    const auto twice = said({named("several-gpus"), named("several-gpus")});
    CHECK(twice.substr(twice.find("drv")) ==
          "drv535.183.01-a10080gb-torch2.6.0_cu124-ubuntu22.04-x86_64-glibc2.36-kmproprietary-ctk1.17.8\n"
          "drv535.183.01-teslat4-torch2.6.0_cu124-ubuntu22.04-x86_64-glibc2.36-kmproprietary-ctk1.17.8\n");
    CHECK(
        said({named("nothing"), named("garbage")})
            .starts_with("cudamatrix: error: --host: none of 2 machines shows a driver or a GPU, so there is "
                         "nothing to judge against\n"));
    CHECK(said({named("nothing")})
              .starts_with("cudamatrix: error: --host: nothing.json shows neither a driver nor a GPU"));
}

TEST_CASE("--host: without a driver and a GPU there is nothing to judge against") {
    CHECK(on("nothing", kMatrix) ==
          "exit 3\n"
          "cudamatrix: error: --host: this machine shows neither a driver nor a GPU, so there is nothing to "
          "judge against\n"
          "  note: kernel_module: /proc/driver/nvidia/version cannot be read: no driver is loaded, or it "
          "does not show "
          "itself here\n"
          "  note: gpu: nvidia-smi: it is not on PATH\n"
          "  note: driver: nvidia-smi: it is not on PATH\n"
          "  note: toolkit: nvidia-ctk is not on PATH; nvidia-container-cli is not on PATH\n"
          "  fix: run it where the driver is loaded, or say what the machine has: --override driver=... "
          "--override "
          "gpu=...\n");
    CHECK(on("driver-hangs", kMatrix).starts_with("exit 3\n"));
    CHECK(on("garbage", kMatrix).starts_with("exit 3\n"));
    CHECK(on("flood", kMatrix).starts_with("exit 3\n"));
}

TEST_CASE("--host: what is not found keeps the values of the file") {
    CHECK(on("no-devices", kMatrix) ==
          "driver: 550.54.15\n"
          "not gpu: nvidia-smi: exit code 6: No devices were found\n"
          "kernel_module: proprietary\n"
          "not toolkit: nvidia-ctk is not on PATH; nvidia-container-cli is not on PATH\n"
          "arch: x86_64\n"
          "not os: debian12\n"
          "not glibc: 2.36\n"
          "drv550.54.15-v100-cu11.8.0-debian12-x86_64-kmproprietary\n"
          "drv550.54.15-v100-cu12.4.1-debian12-x86_64-kmproprietary\n"
          "drv550.54.15-h100-cu11.8.0-debian12-x86_64-kmproprietary\n"
          "drv550.54.15-h100-cu12.4.1-debian12-x86_64-kmproprietary\n");
    CHECK(on("library-mismatch", kMatrix).find("gpu: GeForce RTX 4090\n") != std::string::npos);
}

TEST_CASE("--host: an unknown GPU is judged by its compute capability, an old tool's by the facts") {
    CHECK(on("unknown-gpu", "version: 1\naxes: {gpu: [T4], cuda: [\"12.4.1\"]}\n") ==
          "driver: 590.48.01\n"
          "gpu: NVIDIA Frobnicator 9000 (no fact knows it)\n"
          "compute: 12.1\n"
          "kernel_module: open\n"
          "not toolkit: nvidia-ctk is not on PATH; nvidia-container-cli is not on PATH\n"
          "arch: x86_64\n"
          "os: debian12\n"
          "glibc: 2.36\n"
          "drv590.48.01-nvidiafrobnicator9000-cc12.1-cu12.4.1-debian12-x86_64-glibc2.36-kmopen\n");
    const auto old = on("old-driver",
                        "version: 1\naxes: {compute: [\"8.0\"], host_class: geforce}\nset: {os: debian12}\n");
    CHECK(old.find("compute: 7.5\n") != std::string::npos);
    CHECK(old.find("drv470.161.03-teslat4-cc7.5-debian12-x86_64-kmproprietary\n") != std::string::npos);
}

TEST_CASE("--host: MIG mode is one device, unless it is on for some GPUs only or the file says it") {
    CHECK(on("mig-on", kMatrix).find("mig: 1\n") != std::string::npos);
    CHECK(on("mig-on", "version: 1\nset: {mig: 2, os: debian12}\n").find("\nmig: ") == std::string::npos);
    CHECK(on("mig-on-one-of-two", kMatrix)
              .find("note: MIG mode is on for some GPUs only: it is not judged\n") != std::string::npos);
}

TEST_CASE("--host: excludes that leave no cell are told of") {
    CHECK(on("mig-on",
             "version: 1\naxes: {gpu: [T4]}\nexclude: [{driver: \"550\"}]\nset: {driver: \"580\", os: "
             "debian12}\n")
              .find("note: no cell of the matrix is left") != std::string::npos);
}
