// What build, test and run do behind their plan, as one graph of steps:
// bases -> shared stages -> images -> proofs -> tests.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/rehearsal.hpp"
#include "report/sbom.hpp"
#include "run/job/job.hpp"
#include "run/job/journal.hpp"
#include "run/job/schedule.hpp"
#include "run/job/shared_stages.hpp"

namespace cudamatrix::job {

inline constexpr std::string_view kRevisionLabel = "org.opencontainers.image.revision";

enum class StepKind { base, stage, image, proof, test };
[[nodiscard]] std::string_view to_string(StepKind kind);

/// What came of a step: whether it succeeded, what is told of it, and the end of its log where it failed.
struct StepResult {
    bool good = false;
    std::string told;
    std::vector<std::string> tail = {};
};

/// Takes what a step is at, a line each.
using Tell = std::function<void(std::string_view line)>;

struct Step {
    StepKind kind = StepKind::base;
    std::string of;                  ///< what it makes: a base, Image::id, CellResult::id
    std::vector<std::size_t> after;  ///< steps that were added before
    std::size_t pool = 0;            ///< Work::kBuilds, kTests, or kGpu + position in Job::gpus
    std::function<StepResult(const Tell& tell)> work;
    /// What `work` will start, as far as that is known before; nothing: it will start nothing.
    std::function<std::optional<Command>()> command;
};

/// What the engine holds by some name. Current: it was made from exactly what was rendered.
struct Held {
    engine::ImageInfo info;  ///< empty: nothing
    bool is_current = false;
};
[[nodiscard]] Result<Held> held_by_engine(const Job& job, const std::string& reference,
                                          const std::string& inputs);

/// An image and its proof.
struct Present {
    bool looked_at = false;  ///< since the command began
    Held runtime;
    Held proof;

    [[nodiscard]] bool is_current() const { return runtime.is_current && proof.is_current; }
};

/// Writes what the engine says of a current image into its result.
void record(const Present& present, ImageResult& result);

class Work {
  public:
    static constexpr std::size_t kBuilds = 0;  ///< pools
    static constexpr std::size_t kTests = 1;
    static constexpr std::size_t kGpu = 2;

    explicit Work(Job& job, Journal journal);

    std::size_t add(Step step);

    /// Ask the engine about image `index` of the plan: both, or what was just built.
    [[nodiscard]] Status look_at(std::size_t index);
    [[nodiscard]] Status look_at_image(std::size_t index);
    [[nodiscard]] Status look_at_proof(std::size_t index);
    [[nodiscard]] const Present& present(std::size_t index) const { return present_[index]; }

    /// Ends the whole: what was met would hit every further step as well. Always a failed step.
    StepResult stop(const Failure& failure);

    /// Does all steps. A step that fails is no Failure; what stop() was told is.
    [[nodiscard]] Status run();

    /// The step of the proof of image `index`; nothing where this command does not build it.
    std::map<std::size_t, std::size_t> proof_steps;

    Job& job;
    Journal journal;
    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

  private:
    [[nodiscard]] std::vector<std::string> labels() const;
    [[nodiscard]] bool stopped();
    bool do_step(std::size_t index, std::string_view label);
    [[nodiscard]] double expected(const Step& step) const;

    std::vector<Step> steps_;
    std::vector<Present> present_;  ///< by image of the plan; each is written by one step only
    std::mutex mutex_;
    std::optional<Failure> failure_;
};

/// Adds what builds every chosen image of the plan that is not current, and its proof. Asks first for what
/// would keep all of them from being built: no network, no disk.
class BuildSteps {
  public:
    explicit BuildSteps(Work& work) : work_(work), job_(work.job) {}
    [[nodiscard]] Status add();

    /// Behind the run: contexts of images that needed no build, and what the cells of each image are told.
    [[nodiscard]] Status settle();

  private:
    using Target = BuildTarget;  // what one call of the engine builds

    [[nodiscard]] Status find_work();
    [[nodiscard]] Status check() const;
    void find_revision();
    void not_run(std::size_t index, const Failure& why);
    void add_base(const Image& image);
    void add_shared_stages();
    void add_image(std::size_t index);
    [[nodiscard]] std::vector<std::size_t> base_of(std::size_t index) const;
    [[nodiscard]] std::vector<Target> targets_of(std::size_t index) const;  ///< that are not current
    StepResult make_base(const Image& image, const Tell& tell);
    StepResult build(Target target, const Tell& tell);
    StepResult build_stage(const SharedStage& stage, const Tell& tell);
    StepResult fail(ImageResult& result, const Failure& failure) const;
    [[nodiscard]] std::filesystem::path base_path(std::size_t index) const;
    [[nodiscard]] Status link_reused() const;
    [[nodiscard]] engine::BuildRequest request_for(Target target) const;
    [[nodiscard]] engine::BuildRequest request_for(const SharedStage& stage) const;

    Work& work_;
    Job& job_;
    std::vector<std::size_t> images_;                           ///< to be built, or their proof
    std::vector<Target> targets_;                               ///< what shared_stages is asked about
    std::map<Target, std::vector<std::size_t>> stages_before_;  ///< steps
    std::map<std::string, std::size_t> base_steps_;             ///< by Image::base_name
    std::map<std::string, BootstrapTar> bases_;                 ///< by the same; each is written by its step
    std::map<std::size_t, std::mutex> contexts_;  ///< by image: one stage at a time is made in its context
    std::string revision_;                        ///< of the matrix file and what it names; empty: of none
};

/// Adds what runs the suite, inside the cell's image, for every planned cell. A result of an earlier run
/// counts where image, arguments and tool are the same and it passed. A red cell is no Failure; an engine
/// that no longer answers is.
class TestSteps {
  public:
    explicit TestSteps(Work& work) : work_(work), job_(work.job) {}
    [[nodiscard]] Status add();

    /// Behind the run: why cells were not reached.
    void settle();

  private:
    struct Attempt;
    [[nodiscard]] Attempt attempt_for(CellResult& cell, std::size_t index);
    [[nodiscard]] std::string key_of(const Attempt& attempt) const;
    [[nodiscard]] engine::RunRequest request_for(const Attempt& attempt) const;
    bool take_earlier(const Attempt& attempt) const;
    StepResult prove(const Attempt& attempt, const Tell& tell);
    void add_step(const Attempt& attempt, std::optional<std::size_t> after);

    Work& work_;
    Job& job_;
    std::map<unsigned, std::size_t> tests_on_;  ///< by Gpu::index
};

/// What a command goes through.
struct Goals {
    bool build = false;
    bool test = false;
};

/// Does it, and writes what came of it into the report: images, and for their cells proof, outcome, tests and
/// log. A failed build and a red cell are no Failure. An interrupt leaves what was not reached without a
/// result.
[[nodiscard]] Status carry_out(Job& job, Goals goals);

/// Writes OUT/sbom/ID.spdx.json and ID.cdx.json of every chosen image that is built, from what it says that
/// it holds and what the lock pins of that; `created`: a time of RFC 3339. What keeps one image from being
/// written is told in the report.
[[nodiscard]] Result<report::SbomReport> write_sboms(Job& job, std::string_view created);

/// The steps that carry_out would do now, in their order; starts none of them and writes nothing.
[[nodiscard]] Result<std::vector<report::Rehearsed>> rehearse(Job& job, Goals goals);

}  // namespace cudamatrix::job
