// What tests of the main job share: everything but the engine is real.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fakes/fake_docker.hpp"
#include "matrix/matrix_file.hpp"
#include "render/lock/lock_file.hpp"
#include "run/job/session.hpp"
#include "temp_folder.hpp"

namespace cudamatrix::session_world {

namespace fs = std::filesystem;

inline constexpr const char* kTwoCells = R"(version: 1
name: two
axes:
  driver: ["550.54.15"]
  gpu: [T4, H100]
  cuda: ["11.8.0"]
  os: debian12
)";

inline constexpr const char* kTwoImages = R"(version: 1
name: two
axes:
  driver: ["550.54.15"]
  gpu: [T4, H100]
  cuda: ["11.8.0"]
  os: debian12
images:
  - {name: a, env: {MODE: a}}
  - {name: b, env: {MODE: b}}
)";
// A world of its own: a matrix file, a fake docker, a fake mmdebstrap, and what they were asked.
class World {
  public:
    explicit World(const std::string& matrix_text = kTwoCells) {
        std::ofstream(folder() / "matrix.yaml") << matrix_text;
        fake.script("mmdebstrap", "for last; do :; done\nprintf 'a distribution' > \"$last\"");
        answer("base.txt", "apt=2.6.2\nlibc6=2.36-9\n");
        answer("apt-devel.txt", "Inst g++-11 (11.3.0-12 Debian:12.1/stable [amd64])\n");
        answer("apt-runtime.txt", "Inst libcudart11.0 (11.8.89~11.8.0-5 Debian:12.1/stable [amd64])\n");
        std::string toolkit;
        for (const auto* name : {"nvidia-cuda-toolkit", "nvidia-cuda-dev", "libcudart11.0", "libnvvm4",
                                 "libcu++-dev", "libcub-dev", "libthrust-dev"}) {
            toolkit += fmt::format("'http://x/{0}_1.0_amd64.deb' {0}_1.0_amd64.deb 5 SHA256:{1}\n", name,
                                   std::string(64, 'a'));
        }
        answer("apt-toolkit.txt", toolkit);
        settings.out = folder() / "out";
        settings.engine = "docker";
        settings.run_id = "r1";
        settings.today = settings.judged_on = "2026-11-21";
        settings.disk_bytes = 1;
        settings.screen.line = [this](std::string_view line) { progress += std::string(line) + "\n"; };
    }

    [[nodiscard]] fs::path folder() const { return fake.root(); }
    [[nodiscard]] fs::path lock_file() const { return folder() / "cudamatrix.lock"; }

    void answer(const std::string& name, const std::string& content) const {
        std::ofstream(fake.state() / "export" / name) << content;
    }

    template <class Job>
    auto with_input(const Job& job) {
        settings.environment = fake.environment;
        auto matrix = read_matrix_file(folder() / "matrix.yaml");
        REQUIRE(matrix.ok());
        matrix->build.network = network;
        if (!base_from.empty()) matrix->build.base_from = base_from;
        if (!snapshot.empty()) matrix->build.snapshot = snapshot;
        auto facts = Facts::embedded();
        const auto read = read_lock(lock_file());
        REQUIRE(read.ok());
        if (*read) facts = with_configurations(facts, **read);
        const auto judgement = judge(*matrix, facts, {settings.judged_on});
        REQUIRE(judgement.ok());
        return job(RunInput{*matrix, facts, *judgement, *read}, settings);
    }
    Result<RunReport> run() { return with_input(run_all); }
    Result<RunReport> build() { return with_input(build_images); }
    Result<RunReport> test() { return with_input(test_images); }
    Result<RunReport> render() { return with_input(render_images); }
    Result<std::vector<std::string>> lock(bool update = false, std::vector<std::string> what = {}) {
        const LockChoice choice{update, std::move(what)};
        auto report = with_input(
            [&](const RunInput& input, const RunSettings& with) { return make_lock(input, with, choice); });
        if (!report.ok()) return std::move(report).failure();
        if (report->code != ExitCode::success) return Failure{report->code, report->findings};
        return std::move(report->changes);
    }
    RunReport ran() {
        auto report = run();
        if (!report.ok()) FAIL(render_failure(report.failure()));
        return std::move(*report);
    }
    static std::string render_failure(const Failure& failure) {
        std::string all;
        for (const auto& diagnostic : failure.diagnostics)
            all += ::cudamatrix::render(diagnostic, {});
        return all;
    }

    fakes::FakeDocker fake;
    RunSettings settings;
    std::string network = "default";
    std::string base_from = "bootstrap";  ///< no test asks a registry by the way; empty: as the file says
    std::string snapshot = "none";        ///< ... nor a service of snapshots
    std::string progress;
};

inline std::string only_message(const Failure& failure) {
    REQUIRE(failure.diagnostics.size() == 1);
    return failure.diagnostics.front().message;
}

/// The only message of what must fail with `code`.
template <class T>
std::string refusal(const Result<T>& result, ExitCode code) {
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == code);
    return only_message(result.failure());
}

inline constexpr auto& content_of = test::bytes_of;

// Files that a write left half done.
inline std::size_t torn_files(const fs::path& folder) {
    std::size_t torn = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const auto name = entry.path().filename().string();
        if (name.find("partial-") == 0 ||
            (name.size() > 7 && name[name.size() - 7] == '.' &&
             name.substr(name.size() - 7).find_first_of("-_") == std::string::npos &&
             entry.path().extension().string().size() == 7)) {
            ++torn;
        }
    }
    return torn;
}

}  // namespace cudamatrix::session_world
