#include "run/job/work.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cudamatrix::job {

std::string_view to_string(StepKind kind) {
    constexpr std::array<std::string_view, 5> words{"base", "stage", "build", "proof", "test"};
    return words[static_cast<std::size_t>(kind)];
}

Work::Work(Job& on, Journal of) : job(on), journal(std::move(of)), present_(on.plan.images.size()) {}

std::size_t Work::add(Step step) {
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
}

Result<Held> held_by_engine(const Job& job, const std::string& reference, const std::string& inputs) {
    CM_TRY_ASSIGN(auto info, engine::inspect(job.engine, reference, job.settings.cancellation));
    if (!info) return Held{};
    const auto label = info->labels.find(std::string(kInputsLabel));
    const bool is_current = label != info->labels.end() && label->second == inputs;
    return Held{std::move(*info), is_current};
}

Status Work::look_at_image(std::size_t index) {
    const auto& rendered = job.plan.rendering.images[index];
    CM_TRY_ASSIGN(present_[index].runtime, held_by_engine(job, rendered.reference, rendered.inputs));
    return Done{};
}

Status Work::look_at_proof(std::size_t index) {
    const auto& rendered = job.plan.rendering.images[index];
    CM_TRY_ASSIGN(present_[index].proof,
                  held_by_engine(job, rendered.proof_reference, rendered.proof_inputs));
    return Done{};
}

Status Work::look_at(std::size_t index) {
    CM_TRY(look_at_image(index));
    CM_TRY(look_at_proof(index));
    present_[index].looked_at = true;
    return Done{};
}

bool Work::stopped() {
    const std::lock_guard lock(mutex_);
    return failure_.has_value();
}

StepResult Work::stop(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    return {false, failure.diagnostics.empty() ? "interrupted" : failure.diagnostics.front().message};
}

// "[build 2/6] debian12-cu11.8.0"
std::vector<std::string> Work::labels() const {
    std::array<std::size_t, 5> all{}, number{};
    for (const auto& step : steps_)
        ++all[static_cast<std::size_t>(step.kind)];
    std::vector<std::string> out;
    for (const auto& step : steps_) {
        const auto kind = static_cast<std::size_t>(step.kind);
        out.push_back(fmt::format("[{} {}/{}] {}", to_string(step.kind), ++number[kind], all[kind], step.of));
    }
    return out;
}

bool Work::do_step(std::size_t index, std::string_view label) {
    if (stopped()) return false;
    const auto& step = steps_[index];
    auto& board = job.progress;
    const auto start = board.seconds();
    board.begin(index, label);
    auto result = step.work([&](std::string_view line) { board.detail(index, line); });
    const auto seconds = board.seconds() - start;
    board.end(index, result.good, fmt::format("{}: {}", label, result.told), result.tail);
    // What was proved has a line of its own.
    if (job.interrupted() || step.kind == StepKind::test) return result.good;
    const auto noted =
        journal.append(StepRecord{std::string(to_string(step.kind)), step.of, result.good, seconds});
    if (!noted.ok()) result = stop(noted.failure());
    return result.good;
}

// What it took last time, or what its kind takes on the average; negative: nobody knows.
double Work::expected(const Step& step) const {
    if (const auto* last = journal.last_step(to_string(step.kind), step.of); last != nullptr && last->good)
        return last->seconds;
    return journal.usual_seconds(to_string(step.kind));
}

Status Work::run() {
    std::vector<Node> nodes;
    std::vector<double> seconds;
    for (const auto& step : steps_) {
        nodes.push_back({step.after, step.pool});
        seconds.push_back(expected(step));
    }
    std::vector<unsigned> slots{job.settings.jobs, job.settings.jobs};
    slots.resize(kGpu + job.gpus.size(), 1);  // tests on one GPU never share it
    job.progress.expect(nodes, slots, std::move(seconds));
    const auto names = labels();
    // The ends of the steps stand in the report of what they made.
    static_cast<void>(run_steps(nodes, {slots, job.settings.keep_going, job.settings.cancellation},
                                [&](std::size_t index) { return do_step(index, names[index]); }));
    job.progress.expect({}, {}, {});
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    return Done{};
}

void record(const Present& present, ImageResult& result) {
    result.built = true;
    result.digest = present.runtime.info.id;
    result.runtime_bytes = present.runtime.info.bytes;
    result.proof_bytes = present.proof.info.bytes;
    const auto& labels = present.runtime.info.labels;
    if (const auto named = labels.find(std::string(kRevisionLabel)); named != labels.end())
        result.revision = text::printable(named->second);
}

namespace {

// The steps of both goals in one graph: a cell is tested as soon as its image is there.
struct Graph {
    Work work;
    BuildSteps build{work};
    TestSteps test{work};

    Graph(Job& job, Journal journal) : work(job, std::move(journal)) {}

    Status add(Goals goals) {
        if (goals.build) {
            CM_TRY(build.add());
        }
        return goals.test ? test.add() : Status(Done{});
    }
};

}  // namespace

Result<std::vector<report::Rehearsed>> rehearse(Job& job, Goals goals) {
    CM_TRY_ASSIGN(auto journal, Journal::open(job.settings.out / "journal.jsonl"));
    Graph graph(job, std::move(journal));
    CM_TRY(graph.add(goals));
    const auto& steps = graph.work.steps();
    std::vector<std::string> names;  // empty: the step will start nothing
    std::vector<report::Rehearsed> out;
    for (const auto& step : steps) {
        const auto command = step.command();
        names.push_back(command ? fmt::format("{} {}", to_string(step.kind), step.of) : "");
        if (!command) continue;
        report::Rehearsed each{std::string(to_string(step.kind)), step.of, {}, {}, {}};
        for (const auto before : step.after) {
            if (!names[before].empty()) each.after.push_back(names[before]);
        }
        each.argv = command->argv;
        for (const auto& [name, value] : command->environment) {
            const auto here = job.settings.environment.find(name);
            if (here == job.settings.environment.end() || here->second != value)
                each.environment.emplace_back(name, value);
        }
        out.push_back(std::move(each));
    }
    return out;
}

Status carry_out(Job& job, Goals goals) {
    CM_TRY_ASSIGN(auto journal, Journal::open(job.settings.out / "journal.jsonl"));
    Graph graph(job, std::move(journal));
    CM_TRY(graph.add(goals));
    auto done = graph.work.run();
    if (goals.build) {
        CM_TRY(graph.build.settle());
    }
    if (goals.test) graph.test.settle();
    return done;
}

}  // namespace cudamatrix::job
