// Many stacks at once: files name the same images and packages again and again.
#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <unordered_map>

#include "advise/audit/audit.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/solve/fixes.hpp"

namespace cudamatrix::audit {
namespace {

// Below that a thread costs more than it saves.
constexpr std::size_t kLeastForThread = 16;

// What an answer depends on, places left out.
std::string key_of(const Question& question) {
    const auto& matrix = *question.matrix;
    auto key =
        fmt::format("{}\n{}", static_cast<const void*>(question.facts), text::join(matrix.stages, ","));
    for (const auto& [field, value] : matrix.set)
        key += fmt::format("\n{}={}", info(field).name, value.text);
    for (const auto& waiver : matrix.waivers)
        key += fmt::format("\n{}: {}", waiver.rule, waiver.because);
    return key;
}

// The answer to an equal question, at the places of this one.
Judgement moved_to(const Matrix& matrix, const Judgement& known) {
    auto out = known;
    for_each_cell(matrix, [&](const Cell& cell) {
        out.cells[0].cell = cell;
        return false;
    });
    for (auto& group : out.findings) {
        if (group.finding.rule != kWaiverExpired) group.where = place_in(group.finding, out.cells[0].cell);
    }
    return out;
}

class Judging {
  public:
    Judging(std::span<const Question> questions, const std::string& today,
            const std::function<OnProgress()>& watch)
        : questions_(questions), today_(today), watch_(watch), first_(questions.size()) {
        std::unordered_map<std::string, std::size_t> known;
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const auto [found, is_new] = known.emplace(key_of(questions[i]), i);
            first_[i] = found->second;
            if (is_new) todo_.push_back(i);
            shared_.try_emplace(questions[i].facts, *questions[i].facts, today);
        }
        out_.judgements.resize(questions.size());
    }

    Result<Answers> run() {
        const auto threads = std::clamp<std::size_t>(todo_.size() / kLeastForThread, 1,
                                                     std::max(1u, std::thread::hardware_concurrency()));
        std::vector<std::optional<Failure>> failures(todo_.size());
        on_threads(threads, [&] {
            for (auto next = next_++; next < todo_.size(); next = next_++) {
                auto done = judge_one(todo_[next]);
                if (done.ok()) continue;
                failures[next] = std::move(done).failure();
                next_ = todo_.size();
            }
        });
        for (auto& failure : failures) {
            if (failure) return *std::move(failure);
        }
        for (std::size_t i = 0; i < questions_.size(); ++i) {
            if (first_[i] != i)
                out_.judgements[i] = moved_to(*questions_[i].matrix, out_.judgements[first_[i]]);
        }
        out_.complete = complete_;
        return std::move(out_);
    }

  private:
    Status judge_one(std::size_t index) {
        const auto& [matrix, facts] = questions_[index];
        JudgeOptions as_of;
        as_of.today = today_;
        as_of.on_progress = watch_();
        as_of.shared = &shared_.at(facts);
        CM_TRY_ASSIGN(auto judgement, judge_whole(*matrix, *facts, as_of));
        CM_TRY_ASSIGN(const auto tally,
                      solve::verify_fixes(*matrix, *facts, today_, judgement, as_of.on_progress));
        if (!tally.complete) complete_ = false;
        out_.judgements[index] = std::move(judgement);
        return Done{};
    }

    std::span<const Question> questions_;
    const std::string& today_;
    const std::function<OnProgress()>& watch_;
    std::vector<std::size_t> first_;  // by question: the first one that is equal
    std::vector<std::size_t> todo_;
    std::map<const Facts*, rules::SharedAnswers> shared_;
    std::atomic<std::size_t> next_ = 0;
    std::atomic<bool> complete_ = true;
    Answers out_;
};

}  // namespace

Result<Answers> judge_stacks(std::span<const Question> questions, const std::string& today,
                             const std::function<OnProgress()>& watch) {
    return Judging(questions, today, watch).run();
}

}  // namespace cudamatrix::audit
