#include "run/job/suite_run.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "render/templates/embedded.hpp"
#include "run/job/cell_args.hpp"

namespace cudamatrix::job {
namespace {

constexpr int kEngineFailed = 125;  // from here on an exit code is of docker run, not of what ran in it

Status save_log(const std::filesystem::path& out, const Outcome& outcome, CellResult& cell) {
    cell.log = "logs/" + cell.id + ".log";
    const auto path = out / cell.log;
    CM_TRY(file::make_directories(path.parent_path()));
    const auto content = fmt::format("# ended: {}\n# standard output\n{}\n# standard error\n{}\n",
                                     outcome.describe(), outcome.out, outcome.err);
    CM_TRY(file::write(path, content));
    return Done{};
}

// How the process ended explains missing lines better than their absence does.
void judge_end(const Outcome& outcome, const SuiteOutput& output, CellResult& cell) {
    if (outcome.how != Ended::exited) {
        cell.outcome = CellOutcome::errored;
        cell.reason = "the suite: " + outcome.describe();
    } else if (outcome.exit_code >= kEngineFailed && output.tests.empty()) {
        cell.outcome = CellOutcome::errored;
        const auto said = text::printable(text::trim(outcome.err)).substr(0, 300);
        cell.reason = fmt::format("the container did not start: {}: {}", outcome.describe(), said);
    }
}

}  // namespace

Status run_suite(const SuiteCall& call, CellResult& cell) {
    SuiteReader reader(call.expectation);
    CM_TRY_ASSIGN(const auto outcome, call.start([&reader](std::string_view line, bool is_stderr) {
        if (!is_stderr) reader.take(line);
    }));
    CM_TRY(save_log(call.out, outcome, cell));
    if (outcome.how == Ended::cancelled) {
        cell.reason = "interrupted";
        return Done{};
    }
    const auto exit_code = outcome.how == Ended::exited ? std::optional(outcome.exit_code) : std::nullopt;
    const auto output = std::move(reader).finish(exit_code);
    const auto before = cell.proof;
    conclude(output, call.gpu, cell);
    judge_end(outcome, output, cell);
    if (cell.outcome == CellOutcome::failed || cell.outcome == CellOutcome::errored) cell.proof = before;
    if (cell.outcome == CellOutcome::passed_static) cell.reason = call.why_no_gpu;
    return Done{};
}

std::set<std::string> required_tests(const Image& image) {
    for (const auto& file : embedded_suite()) {
        if (file.path != "kernels/registry.def") continue;
        auto ids = registered_tests(file.content);
        // What can never say anything in this image may be left out of a plan, nothing else.
        if (image.torch.empty()) {
            std::erase_if(ids, [](const std::string& id) { return id.substr(0, 6) == "torch."; });
        }
        return ids;
    }
    return {};
}

void compare_with_rules(const Image& image, std::string_view compute, CellResult& cell) {
    if (compute.empty()) return;
    for (const auto& test : cell.tests) {
        const bool suite = test.id == "static.fatbin";  // torch.arch tells the road of the wheel
        if ((!suite && test.id != "torch.arch") || test.road.empty()) continue;
        std::string expected;
        const bool own =
            suite && std::find(image.compute.begin(), image.compute.end(), compute) != image.compute.end();
        if (test.road.substr(0, 4) == "none") {
            expected = "code that runs on it";
        } else if (own && !image.cuda.empty() && test.road != fmt::format("sass {}", compute)) {
            expected = fmt::format("sass {}", compute);
        }
        if (expected.empty()) continue;
        cell.findings.push_back(
            fmt::format("error: the rules expect {} for compute capability {}, the image has: {} "
                        "[image-agrees-with-rules, at runtime]",
                        expected, compute, test.road));
        if (cell.outcome == CellOutcome::passed || cell.outcome == CellOutcome::passed_static) {
            cell.outcome = CellOutcome::failed;
            cell.proof = Proof::built;
        }
        cell.reason = fmt::format("rules and image disagree: expected {}, found {}", expected, test.road);
    }
}

}  // namespace cudamatrix::job
