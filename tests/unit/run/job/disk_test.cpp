#include "run/job/folder.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "base/file.hpp"
#include "base/text.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

Image image(const std::string& suite, const std::string& cuda, const std::string& source,
            const std::string& torch) {
    Image one;
    one.suite = suite;
    one.flavour = "base";
    one.cuda = cuda;
    one.suite_cuda = cuda;
    one.cuda_from = source;
    one.torch = torch;
    return one;
}

}  // namespace

TEST_CASE("disk: the quickstart's images stay below 40 GB, and more content needs more") {
    const auto archive = image("bookworm", "11.8.0", "archive", "");
    const auto wheels = image("bookworm", "13.4.3", "wheels", "");
    const auto torch = image("bookworm", "", "", "2.6.0");
    const auto torch_less = image("bookworm", "", "", "");
    CHECK(engine_bytes_needed({}) == 0);
    CHECK(engine_bytes_needed({&archive}) < engine_bytes_needed({&archive, &wheels}));
    CHECK(engine_bytes_needed({&archive}) < engine_bytes_needed({&torch}));
    CHECK(engine_bytes_needed({&archive, &wheels, &torch}) < 40'000'000'000u);
    auto devel = archive;
    devel.flavour = "devel";
    CHECK(engine_bytes_needed({&devel}) > engine_bytes_needed({&archive}));
    for (auto full : {archive, wheels}) {
        const auto thin = engine_bytes_needed({&full});
        full.cuda_libraries = {"libraries"};
        CHECK(engine_bytes_needed({&full}) > thin + 2'400'000'000u);
    }
    auto beside = torch;
    beside.suite_cuda = "11.8.0";
    beside.cuda_from = "archive";
    CHECK(engine_bytes_needed({&beside}) - engine_bytes_needed({&torch}) ==
          engine_bytes_needed({&archive}) - engine_bytes_needed({&torch_less}));
    beside.flavour = "devel";  // which ships no toolkit either
    CHECK(engine_bytes_needed({&beside}) - engine_bytes_needed({&torch}) ==
          engine_bytes_needed({&archive}) - engine_bytes_needed({&torch_less}));
}

TEST_CASE("disk: a registry's base needs no tar, and is counted once with what it brings") {
    auto cuda = image("", "12.4.1", "base", "");
    cuda.base_reference = "docker.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04";
    const auto alone = engine_bytes_needed({&cuda});
    CHECK(output_bytes_needed({&cuda}) == 0);
    CHECK(engine_bytes_needed({&cuda, &cuda}) - alone < 500'000'000u);
    auto compiled = cuda;
    compiled.devel_reference = "docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04";
    CHECK(engine_bytes_needed({&compiled}) > alone + 5'000'000'000u);
    auto torch = image("", "", "", "2.6.0");
    torch.base_reference = "docker.io/pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime";
    torch.torch_from_base = true;
    CHECK(engine_bytes_needed({&torch, &torch}) < 12'000'000'000u);
    auto cpu = image("", "", "", "2.6.0");
    cpu.base_reference = "docker.io/library/python:3.11-slim-bookworm";
    cpu.torch_variant = "cpu";
    CHECK(engine_bytes_needed({&cpu}) < 4'000'000'000u);
}

TEST_CASE("disk: a suite is counted once however many images stand on it") {
    const auto one = image("bookworm", "", "", "");
    const auto two = image("trixie", "", "", "");
    CHECK(output_bytes_needed({&one, &one}) == output_bytes_needed({&one}));
    CHECK(output_bytes_needed({&one, &two}) == 2 * output_bytes_needed({&one}));
    auto arm = one;
    arm.arch = "aarch64";
    CHECK(output_bytes_needed({&one, &arm}) == 2 * output_bytes_needed({&one}));
}

TEST_CASE("disk: enough room is fine, also below a folder that does not exist yet") {
    CHECK(check_disk({{"/tmp", 1}}).ok());
    CHECK(check_disk({{"/tmp/not/there/yet", 1}}).ok());
    CHECK(check_disk({}).ok());
    CHECK(check_disk({{"/tmp", 0}}).ok());
}

TEST_CASE("disk: too little names the figure that is needed and the one that was found, with exit code 3") {
    const auto status = check_disk({{"/tmp", 900'000'000'000'000'000u}});
    REQUIRE_FALSE(status.ok());
    CHECK(status.failure().code == ExitCode::environment);
    const auto& message = status.failure().diagnostics.front().message;
    CHECK(message.find("not enough disk space at /tmp: " + text::human_bytes(900'000'000'000'000'000u) +
                       " needed, ") == 0);
    CHECK(message.find(" free") != std::string::npos);
    CHECK_FALSE(status.failure().diagnostics.front().fix.empty());
}

TEST_CASE("disk: demands on the same file system are added up") {
    const auto free = file::free_bytes("/tmp");
    REQUIRE(free.ok());
    const auto most = *free / 10 * 6;
    CHECK(check_disk({{"/tmp", most}}).ok());
    CHECK_FALSE(check_disk({{"/tmp", most}, {"/tmp/below", most}}).ok());
}
