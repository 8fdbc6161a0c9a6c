// libFuzzer: every reader of JSON and lines from elsewhere on the same text: locks, runs, machines,
// registries, indexes, the suite. What is read can be written, and is then the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "registry/oci.hpp"
#include "registry/wheel_index.hpp"
#include "render/lock/lock_file.hpp"
#include "report/run_document.hpp"
#include "report/run_reports.hpp"
#include "run/collect/suite_log.hpp"
#include "run/host/host_file.hpp"
#include "run/host/nvidia_smi.hpp"
#include "run/job/suite_output.hpp"

namespace {

using namespace cudamatrix;

void require(bool holds) {
    if (!holds) std::abort();
}

template <class T>
bool read(const Result<T>& result) {
    if (result.ok()) return true;
    require(!result.failure().diagnostics.empty());
    for (const auto& mistake : result.failure().diagnostics)
        require(!mistake.message.empty() && !text::invalid_utf8(render(mistake, {})));
    return false;
}

void lock(std::string_view text) {
    const auto lock = parse_lock(text, "cudamatrix.lock");
    if (!read(lock)) return;
    const auto written = lock_text(*lock);
    const auto again = parse_lock(written, "cudamatrix.lock");
    require(read(again) && lock_text(*again) == written);
}

void run(std::string_view text) {
    const auto run = report::read_run_json(text, "run.json");
    if (!read(run)) return;
    const auto written = report::run_json(*run);
    const auto again = report::read_run_json(written, "run.json");
    require(read(again) && report::run_json(*again) == written);
}

void host(std::string_view text) {
    const auto host = probe::parse_host_report(text, "host.json");
    if (!read(host)) return;
    const auto written = to_text(probe::host_json(*host));
    const auto again = probe::parse_host_report(R"({"lines": [], "host": )" + written + "}", "host.json");
    require(read(again) && to_text(probe::host_json(*again)) == written);
}

void registry(std::string_view text) {
    if (const auto manifest = parse_manifest(text, "sha256:0", "image"); read(manifest))
        static_cast<void>(read(image_in_index(*manifest, "image", "amd64")));
    static_cast<void>(read(parse_image_config(text, "image")));
    static_cast<void>(parse_challenges(text));
    for (const std::string_view type : {"text/html", "application/vnd.pypi.simple.v1+json"}) {
        const auto files = parse_project_page(text, type, "https://index.example.org/simple/torch/");
        if (!read(files)) continue;
        for (const auto& file : *files) {
            require(!file.name.empty() && !file.url.empty());
            static_cast<void>(parse_wheel_name(file.name));
            static_cast<void>(sdist_version(file.name, "torch"));
        }
    }
}

void suite(std::string_view text) {
    job::SuiteReader reader({"r1", "c1", {"env.vars"}});
    for (const auto& line : text::split(text, '\n'))
        reader.take(line);
    const auto planned = reader.planned();
    const auto output = std::move(reader).finish(0);
    require(output.tests.size() <= planned || !output.problems.empty());
    for (const auto& problem : output.problems)
        require(text::printable(problem) == problem);
    CellResult cell;
    job::conclude(output, true, cell);
    if (!output.problems.empty())
        require(cell.outcome != CellOutcome::passed && cell.outcome != CellOutcome::passed_without_gpu);
    for (const auto& attempt : collect::read_suite_log(text).attempts)
        require(!attempt.lines.empty());
    for (const auto& gpu : probe::parse_gpus(text))
        require(!gpu.name.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    lock(text);
    run(text);
    host(text);
    registry(text);
    suite(text);
    return 0;
}
