// What the commands that work with images share: their options, and the main job's input made of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/common.hpp"
#include "commands/github_files.hpp"
#include "run/job/session.hpp"

namespace cudamatrix {

/// Which images and cells are attempted.
struct ChoiceOptions {
    static constexpr unsigned kMostImages = 100'000;

    std::vector<std::string> only;
    std::vector<std::string> cells;
    std::string where;
    bool failed = false;
    unsigned max_images = 0;  ///< 0: any number

    void add(const Arguments& app);
    [[nodiscard]] bool is_given() const;
    /// As it can be typed again.
    [[nodiscard]] std::vector<std::string> words() const;
};

/// Input failures: values that are none of their field, fields that there are not.
[[nodiscard]] Result<Choice> choice_of(const ChoiceOptions& options, const Facts& facts, const World& world);

/// Which engine a command works with.
struct EngineOptions {
    std::string name = "auto";
    std::string host;     ///< --engine-host URL
    std::string builder;  ///< --builder NAME

    void add(const Arguments& app);
    /// With a builder of its own for what any can build.
    void add_builder(const Arguments& app);
};

/// Options of every command that works with images.
struct ImageOptions {
    MatrixOptions input;
    std::string out;  ///< --out DIR; empty: cudamatrix-out/NAME
    std::string format;
    EngineOptions engine;
    std::string network;
    std::string ca_bundle;
    std::string netrc;
    std::string templates;
    std::string suite;
    std::string level = "quick";
    unsigned soak_minutes = 10;
    unsigned jobs = 1;
    unsigned retries = 2;
    unsigned build_minutes = 0;  ///< 0: the default
    unsigned test_minutes = 0;
    bool fail_fast = false;
    bool dry_run = false;
    ChoiceOptions choice;
    bool require_gpu = false;
    bool accept_static = false;
    bool strict = false;
    bool locked = false;
    StepSummary step_summary;

    void add_output(const Arguments& app);
    /// What takes the place of build: in the matrix file; part of what is rendered.
    void add_build(const Arguments& app);
    /// With add_build.
    void add_engine(const Arguments& app);
    /// How the steps of build, test and run are gone through.
    void add_schedule(const Arguments& app);
    /// What passing without a GPU counts as.
    void add_gpu_demand(const Arguments& app);
    /// How much of the suite is run.
    void add_level(const Arguments& app);
};

/// What passing without a GPU counts as, and what skipped cells do.
void add_gpu_demand(const Arguments& app, bool& require_gpu, bool& accept_static);
void add_strict(const Arguments& app, bool& strict);

/// `load` for commands that work with images: options over the matrix file's build settings, warnings to
/// stderr.
[[nodiscard]] Result<std::unique_ptr<Loaded>> load_for_images(const ImageOptions& options,
                                                              const World& world);

/// What the main job looks at; outlived by `loaded`.
[[nodiscard]] RunInput run_input(const Loaded& loaded);
/// The settings of the main job: options over matrix file; progress lines go to stderr. Fails as choice_of
/// does.
[[nodiscard]] Result<RunSettings> run_settings(const ImageOptions& options, const Loaded& loaded,
                                               const World& world);

}  // namespace cudamatrix
