#include "run/job/job.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "render/templates/template.hpp"
#include "run/job/suite_folder.hpp"
#include "run/job/suite_run.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

// Why the host cannot stand for a cell of this image; empty: it can.
std::string mismatch(const Image& image, const Version& nvcc) {
    if (!image.torch.empty()) return "engine host proves no torch: it would be this machine's own";
    const auto cuda = Version::parse(image.cuda);
    if (!cuda) return "engine host proves toolkits only";
    if (cuda->major_minor() == nvcc.major_minor()) return {};
    return fmt::format("engine host: the cell's CUDA is {}, this machine's nvcc is {}", image.cuda,
                       nvcc.text());
}

fs::path folder_of(const RunSettings& settings, const Image& image) {
    return settings.out / "host" / image.id;
}

Status build_one(Job& job, const Image& image) {
    const auto& settings = job.settings;
    const auto& engine = job.engine;
    CM_TRY_ASSIGN(const auto suite, suite_of(settings.suite));
    const auto folder = folder_of(settings, image);
    const auto stamp = folder / "inputs";
    const auto inputs =
        sha256(fmt::format("{}\n{}\n{}\n{}\n{}\n", suite_hash(suite), text::join(image.compute, ","),
                           image.ptx, engine.program, engine.version)) +
        "\n";
    const auto before = file::read(stamp, 1024);
    if (before.ok() && *before == inputs) {
        job.progress.say(fmt::format("{}: the suite is up to date, reused", image.id));
        return Done{};
    }
    job.progress.say(fmt::format("{}: building the suite with {}", image.id, engine.program));
    SuiteFolder made;
    made.out = folder;
    made.source = settings.out / "host" / "src";
    made.log = settings.out / "logs" / ("host-" + image.id + ".log");
    made.nvcc = engine.program;
    made.compute = image.compute;
    made.ptx = image.ptx;
    made.environment = settings.environment;
    made.limit = settings.build_limit;
    made.cancellation = settings.cancellation;
    CM_TRY(compile_suite(made, suite));
    CM_TRY(file::write(stamp, inputs));
    return Done{};
}

void mark(Plan& plan, std::size_t index, const Status& status) {
    for (auto& cell : plan.report.cells) {
        const auto found = plan.image_of.find(cell.id);
        if (found == plan.image_of.end() || found->second != index || cell.outcome != CellOutcome::planned)
            continue;
        if (status.ok()) {
            cell.proof = Proof::built;
        } else {
            cell.outcome = CellOutcome::errored;
            cell.reason = status.failure().diagnostics.front().message;
            cell.log = fmt::format("logs/host-{}.log", plan.images[index].id);
        }
    }
}

}  // namespace

void keep_host_cells(Job& job) {
    auto& plan = job.plan;
    const auto nvcc = Version::parse(job.engine.version);
    for (auto& cell : plan.report.cells) {
        const auto found = plan.image_of.find(cell.id);
        if (found == plan.image_of.end() || !nvcc) continue;
        auto why = mismatch(plan.images[found->second], *nvcc);
        cell.image.clear();
        if (why.empty() || cell.outcome != CellOutcome::planned) continue;
        cell.outcome = CellOutcome::skipped;
        cell.reason = std::move(why);
    }
    plan.report.images.clear();
}

Status build_on_host(Job& job) {
    auto& plan = job.plan;
    for (std::size_t i = 0; i < plan.images.size(); ++i) {
        const bool wanted = std::ranges::any_of(plan.report.cells, [&](const CellResult& cell) {
            const auto found = plan.image_of.find(cell.id);
            return cell.outcome == CellOutcome::planned && found != plan.image_of.end() && found->second == i;
        });
        if (!wanted) continue;
        auto status = build_one(job, plan.images[i]);
        if (!status.ok() && status.failure().code != ExitCode::findings) return status;
        mark(plan, i, status);
    }
    return Done{};
}

Status test_on_host(Job& job) {
    const auto& settings = job.settings;
    auto& plan = job.plan;
    for (auto& cell : plan.report.cells) {
        if (cell.outcome != CellOutcome::planned) continue;
        if (job.interrupted()) {
            cell.reason = "interrupted";
            continue;
        }
        const auto& image = plan.images[plan.image_of.find(cell.id)->second];
        const auto suite = folder_of(settings, image) / "bin" / "suite";
        if (!find_program(suite.string(), settings.environment)) {
            cell.outcome = CellOutcome::errored;
            cell.reason = "its suite is not built: cudamatrix build --engine host makes it";
            continue;
        }
        cell.proof = Proof::built;
        const auto& judged = *plan.judged.find(cell.cell)->second;
        const auto device = cell_device(job.input.facts, judged.cell);
        const auto gpu = choose_gpu(job.gpus, judged.cell, device);
        job.progress.say(fmt::format("[test] {} on this machine", cell.id));
        const auto start = job.progress.seconds();
        const SuiteCall call{
            {settings.run_id, cell.id, required_tests(image)},
            gpu.index.has_value(),
            gpu.why_not,
            settings.out,
            [&](const OnLine& on_line) {
                Command command;
                command.argv = {suite.string()};
                for (auto& argument : suite_arguments(image, cell.id, device, gpu.index.has_value())) {
                    command.argv.push_back(std::move(argument));
                }
                for (auto& argument : level_arguments(settings.level, settings.soak_minutes))
                    command.argv.push_back(std::move(argument));
                command.argv.insert(command.argv.end(), {"--run", settings.run_id});
                command.environment = settings.environment;
                if (gpu.index) command.environment["CUDA_VISIBLE_DEVICES"] = std::to_string(*gpu.index);
                command.time_limit = settings.test_limit;
                command.stop_on_flood = true;
                command.on_line = on_line;
                return cudamatrix::run(command, settings.cancellation);
            }};
        auto status = run_suite(call, cell);
        cell.seconds = job.progress.seconds() - start;
        if (!status.ok()) return status;
        if (cell.outcome == CellOutcome::planned) continue;
        compare_with_rules(image, device.compute, cell);
        job.progress.say(fmt::format("[test] {}: {}{}", cell.id, report::tests_text(cell),
                                     cell.reason.empty() ? "" : ": " + cell.reason));
    }
    return Done{};
}

}  // namespace cudamatrix::job
