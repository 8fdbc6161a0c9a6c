// emit: writes what other systems run, or compares with it (--check).
#include <optional>
#include <set>

#include "base/text.hpp"
#include "commands/image_options.hpp"
#include "emit/emitters.hpp"
#include "matrix/value.hpp"
#include "render/output/output_folder.hpp"
#include "report/formats.hpp"
#include "run/collect/collect.hpp"
#include "run/job/job.hpp"
#include "run/job/plan_id.hpp"
#include "run/job/shared_stages.hpp"

namespace cudamatrix {
namespace {

struct EmitOptions {
    std::string target;
    ImageOptions image;
    std::string folder;
    std::uint64_t split = 0;
    bool check = false;
    std::vector<std::string> missing;  ///< files and folders of results
};

emit::ClusterTest cluster_test(const RunInput& input, const RunSettings& settings, const job::Plan& plan,
                               const CellResult& result, const Cell& cell) {
    const auto& image = plan.images[plan.image_of.at(result.id)];
    const auto device = job::cell_device(input.facts, cell);
    const auto needs = job::needs_of(image, device);
    emit::ClusterTest test;
    test.gpu = image.holds_cuda();
    test.arguments = job::remote_test(input, plan, settings, result, test.gpu).arguments;
    test.compute = device.compute;
    if (const auto* driver = cell.get(Field::driver)) test.driver = driver_number(driver->text);
    test.memory_mib = needs.memory_mib;
    test.shm_mib = needs.shm_mib;
    return test;
}

// The cells that get an image; with `only` those of these ids (CellResult::id).
std::vector<emit::WantedCell> wanted_cells(const RunInput& input, const RunSettings& settings,
                                           const job::Plan& plan,
                                           const std::optional<std::set<std::string>>& only) {
    std::vector<emit::WantedCell> cells;
    for (const auto& result : plan.report.cells) {
        if (result.outcome != CellOutcome::planned || (only && !only->contains(result.id))) continue;
        const auto& cell = plan.judged.at(result.cell)->cell;
        cells.push_back({result.cell, &cell, plan.image_of.at(result.id),
                         cluster_test(input, settings, plan, result, cell)});
    }
    return cells;
}

// What no machine answered, by the results in these files and folders.
Result<std::optional<std::set<std::string>>> missing_cells(const RunInput& input, const RunSettings& settings,
                                                           const job::Plan& plan,
                                                           const std::vector<std::string>& results) {
    if (results.empty()) return std::optional<std::set<std::string>>();
    CM_TRY_ASSIGN(const auto collected, collect::collect(input, settings, plan, results));
    return std::optional(std::set<std::string>(collected.unanswered.begin(), collected.unanswered.end()));
}

// Jobs run with --locked: what is not pinned would fail there.
void tell_unpinned(const job::Plan& plan, const Matrix& matrix, const World& world) {
    const auto open = job::unpinned(plan);
    if (open.empty()) return;
    const auto note = Diagnostic::warning(
                          fmt::format("{} does not cover {}: the jobs, which run with --locked, will say so",
                                      job::lock_path(matrix).string(), text::count(open.size(), "image")))
                          .with_fix("cudamatrix lock " + matrix.path);
    tell(note, world);
}

// What was typed and decides what cells and images there are: every command of the pipeline gets it, too.
emit::Typed typed(const EmitOptions& options) {
    emit::Typed words;
    const auto& input = options.image.input;
    const auto add = [](std::vector<std::string>& into, const char* name, const std::string& value) {
        if (!value.empty()) into.insert(into.end(), {name, value});
    };
    add(words.judging, "--facts", input.facts);
    add(words.judging, "--on", input.on);
    for (const auto& value : input.overrides)
        add(words.judging, "--override", value);
    add(words.rendering, "--templates", options.image.templates);
    return words;
}

ExitCode compare(const emit::Input& input, const EmitOptions& options, std::vector<Drift> drift,
                 std::size_t files, const report::ToolInfo& tool, const World& world) {
    report::DriftReport report{input.matrix.name,
                               input.folder,
                               std::move(drift),
                               files,
                               {},
                               tool,
                               {world.colour_out, world.columns}};
    report.fix = emit::emit_words(input, options.target);
    for (const auto& results : options.missing)
        report.fix.insert(report.fix.end(), {"--missing", results});
    print(report::format_named(report::drift_formats(), options.image.format)->write(report));
    return report.drift.empty() ? ExitCode::success : ExitCode::findings;
}

Result<ExitCode> perform(const EmitOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load_for_images(options.image, world));
    CM_TRY_ASSIGN(const auto settings, run_settings(options.image, *loaded, world));
    const auto run = run_input(*loaded);
    CM_TRY_ASSIGN(const auto plan, job::make_plan(run, settings, "test"));
    CM_TRY_ASSIGN(const auto missing, missing_cells(run, settings, plan, options.missing));
    const auto& name = loaded->matrix.name;
    const auto folder = options.folder.empty()
                            ? fmt::format("{}/{}", settings.out.generic_string(), options.target)
                            : options.folder;
    const auto& emitter = *emit::emitter_named(options.target);
    const emit::Input input{
        loaded->matrix,
        loaded->facts,
        plan.images,
        plan.rendering.images,
        wanted_cells(run, settings, plan, missing),
        emitter.waits ? job::images_with_shared_stages(plan) : std::vector<std::vector<std::size_t>>(),
        settings.out.generic_string(),
        folder,
        options.split,
        missing.has_value(),
        typed(options)};
    const auto& format = *report::format_named(report::emit_formats(), options.image.format);
    const auto tool = tool_info(loaded->facts, loaded->today);
    if (missing && input.cells.empty()) {
        print(format.write({name, options.target, folder, {}, 0, 0, 0, 0, {}, tool}));
        return ExitCode::success;
    }
    if (plan.images.empty())
        return input_failure("no cell of the matrix gets an image: there is nothing to emit",
                             "cudamatrix check says why");
    CM_TRY_ASSIGN(const auto files, emit::write_all(emitter, input));
    const auto list = fmt::format("{}-{}-{}", kOwnedFile, name, options.target);
    if (options.check) {
        CM_TRY_ASSIGN(auto drift, compare_artifacts(folder, files, {}, list));
        return compare(input, options, std::move(drift), files.size(), tool, world);
    }
    tell_unpinned(plan, loaded->matrix, world);
    WriteOptions write;
    write.prune = true;
    write.list = list;
    CM_TRY_ASSIGN(const auto written, write_artifacts(folder, files, write));
    report::EmitReport report{name,
                              options.target,
                              folder,
                              {},
                              plan.images.size(),
                              emitter.has_tasks ? emit::tasks_of(input).size() : 0,
                              input.cells.size(),
                              written.changed,
                              std::string(emitter.next),
                              tool};
    for (const auto& file : files)
        report.files.push_back(file.path.generic_string());
    print(format.write(report));
    return ExitCode::success;
}

}  // namespace

Action add_emit(const Arguments& app) {
    auto options = std::make_shared<EmitOptions>();
    std::vector<std::string> targets;
    for (const auto& emitter : emit::all_emitters())
        targets.emplace_back(emitter.name);
    app.add_option("TARGET", options->target, "What it is for").required().one_of(targets);
    options->image.input.add(app);
    app.add_option("--out", options->folder,
                   "Folder of the emitted files (default: cudamatrix-out/NAME/TARGET)")
        .type_name("DIR");
    app.add_option("--split", options->split,
                   "At most so many tasks in one matrix, pipeline or upload (default: what the system takes)")
        .between(1, 100'000);
    app.add_option(
           "--missing", options->missing,
           "Only the cells that no machine answered, by the results in this file or folder (repeatable): "
           "see `collect`")
        .type_name("DIR|FILE");
    app.add_flag("--check", options->check,
                 "Write nothing; exit code 1, with a diff and the command that fixes it, if the files differ "
                 "from what the matrix gives");
    app.add_option("--templates", options->image.templates,
                   "Folder of templates and partials that replace ours by name, as for `render`")
        .type_name("DIR");
    add_format(app, options->image.format, report::names_of(report::emit_formats()));
    return [options](const World& world) { return perform(*options, world); };
}

}  // namespace cudamatrix
